#!/usr/bin/env bash
# bootstrap.sh demo               builds idsprof, records a small loop with JAX, and ends with its report on it; where JAX cannot be
#                                 had, with its report on a trace that was recorded before
# bootstrap.sh test [fast|full]   builds and tests it; full is the default with IDS_CI=1, else fast
#
# Each works alone on a bare Debian or Ubuntu, as root or with sudo: it installs what is missing, and only that, so a second run needs no
# network. Without apt it says what is missing and how to install it, and goes on when nothing is. fast (2 minutes) is the suite in the
# release and in the sanitizer build; full adds live JAX and the peers, coverage, valgrind and the linters. With IDS_CI=1 a test that
# cannot run is a failure.
set -euo pipefail
cd "$(dirname "$0")"

demo_trace=testdata/cpu8_annotated
coverage_percent=85

# The table that CMake checks too: KIND NAME LEAST, then the packages of apt, dnf, brew and conda.
requirements() { # COLUMN (4: apt) [NAMES]: packages of all rows, or of those
    awk -v column="$1" -v names=" ${*:2} " '/^(program|module) / && (names == "  " || index(names, " " $2 " ")) && $column != "-" {
        gsub(",", "\n", $column); print $column }' cmake/requirements.txt
}
mapfile -t build_packages < <(requirements 4)
fast_packages=("${build_packages[@]}" check libsubunit-dev python3 sqlite3)
full_packages=("${fast_packages[@]}" ca-certificates python3-venv gcovr valgrind clang-tidy clang-format cppcheck mandoc shellcheck nodejs openmpi-bin chromium)

die() {
    echo "bootstrap.sh: $*" >&2
    exit 1
}

# --- what the commands are made of ---

# What of the table is not here, by looking for it, for systems without apt. Versions are CMake's to check.
missing_without_apt() {
    local kind name
    while read -r kind name _; do
        case $kind in
        program) [[ -n $(command -v "$name" || { [[ $name == cc ]] && command -v gcc clang; }) ]] || echo "$name" ;;
        module) pkg-config --exists "$name" 2>/dev/null || echo "$name" ;;
        esac
    done <cmake/requirements.txt
}

need_without_apt() {
    local missing managers=([5]="dnf install" [6]="brew install" [7]="conda install -c conda-forge") column all
    mapfile -t missing < <(missing_without_apt)
    ((${#missing[@]})) || return 0
    {
        echo "bootstrap.sh: this system has no apt-get, and these are missing: ${missing[*]}"
        echo "To install them, one of"
        for column in "${!managers[@]}"; do
            all=$(requirements "$column" "${missing[@]}" | sort -u | tr '\n' ' ')
            echo "  ${managers[column]} ${all% }"
        done
        echo "then run bootstrap.sh again."
    } >&2
    exit 1
}

need() {
    local package missing=() sudo=()
    command -v apt-get >/dev/null || { need_without_apt && return; }
    for package; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    echo "installing: ${missing[*]}"
    if ((EUID != 0)); then
        command -v sudo >/dev/null || die "neither root nor sudo; please install: ${missing[*]}"
        sudo=(sudo)
    fi
    "${sudo[@]}" apt-get -qq update
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "${missing[@]}" >/dev/null
}

build() { # PRESET [TARGET]
    local quiet=()
    if has_presets; then
        cmake --preset "$1" >/dev/null # errors go to stderr
    else
        cmake -S . -B "build/$1" -G Ninja >/dev/null # the release build
    fi
    [[ $(printf '%s\n' 1.11 "$(ninja --version)" | sort -V | head -n 1) != 1.11 ]] || quiet=(-- --quiet)
    cmake --build "build/$1" -j "$(nproc)" ${2:+--target "$2"} "${quiet[@]}"
}

has_presets() { # ours are of CMake 3.21
    [[ $(printf '%s\n' 3.21 "$(cmake --version | awk '{ print $3; exit }')" | sort -V | head -n 1) == 3.21 ]]
}

suite() { # PRESET [ctest arguments]; ends with why tests were skipped
    local rc=0
    # Twice as many as there are cores: half of their time the fast ones wait for a program, a signal or a time limit.
    # What is not done by the end of the time fails, and the tests behind it do not begin.
    (cd "build/$1" && ctest --output-on-failure --no-tests=error -j "$((2 * $(nproc)))" --no-label-summary \
        --stop-time "$(printf '%(%T)T' "$end")" "${@:2}") || rc=$?
    awk '/^[0-9]+\/[0-9]+ Test: / { name = $3 }
         /^run_one.sh: skipped/ { print "skipped " name ": " why }
         { why = $0 }' "build/$1/Testing/Temporary/LastTest.log"
    return $rc
}

python_environment() { # .venv of tests/requirements*.txt, made again only when these change
    cat tests/requirements.txt tests/requirements-hta.txt | cmp -s - .venv/made-from && return
    # One chain, for in a condition `set -e` does not hold.
    python3 -m venv --clear .venv &&
        .venv/bin/pip install --quiet --requirement tests/requirements.txt &&
        .venv/bin/pip install --quiet --no-deps --requirement tests/requirements-hta.txt &&
        cat tests/requirements.txt tests/requirements-hta.txt >.venv/made-from
}

demo_python() { # the Python of .venv, else one with JAX alone (about 150 MB from PyPI); ret_python
    ret_python=.venv/bin/python
    [[ -x $ret_python ]] && return
    ret_python=build/demo/venv/bin/python
    [[ -x $ret_python ]] && "$ret_python" -c 'import jax' 2>/dev/null && return
    # In a subshell, for `need` ends what it runs in.
    (need python3 python3-venv ca-certificates) &&
        python3 -m venv --clear build/demo/venv &&
        grep -E '^(jax|jaxlib|numpy|scipy|ml-dtypes|opt-einsum)==' tests/requirements.txt >build/demo/requirements.txt &&
        "${ret_python%/python}/pip" install --quiet --retries 1 --timeout 20 --requirement build/demo/requirements.txt
}

live_suite() {
    if ! python_environment; then
        rm -rf .venv
        echo "no Python packages (offline?): tests that need them are skipped"
        [[ ${IDS_CI:-0} != 1 ]]
    fi
    # Those of label slow have run in the sanitizer build. What measures and compares times gets a core for itself.
    suite release -L full -LE slow -j "$(nproc)"
}

coverage() {
    build coverage
    find build/coverage -name '*.gcda' -delete # of an earlier run
    # Not the fault tests, nor cli.capture: gcov's own writing fails under their limits, and says so on stderr or ends the program. Nor
    # what is about collectors: these are not counted, and the programs that they are tested in would write counts at their end. Nor what
    # takes long and reaches nothing of its own.
    suite coverage -L fast -E '^(contract|fault|cuda)\.|^cli\.(capture|capture_pjrt|diff|growth|jobs|many_hosts|redact|schema)$|^same\.|^unit\.closure$|^golden\.(one_number|shared_facts)$'
    gcovr --root . --object-directory build/coverage --filter lib/ --filter formats/ --filter analyzers/ \
        --exclude build/ --sort-percentage --print-summary --fail-under-line "$coverage_percent"
}

valgrind_unit_tests() { # of the release build, because valgrind and ASan exclude each other; one process per core
    # Without test_pjrt: each of its tests needs a process of its own. The sanitizers run it.
    # shellcheck disable=SC2016 # the inner shell expands $1
    printf '%s\0' build/release/unit/test_* | grep -zv '/test_pjrt$' |
        CK_FORK=no IDS_VALGRIND=1 IDS_FEW=1 IDS_SOURCE_DIR=$PWD IDS_BUILD_DIR=$PWD/build/release xargs -0 -P "$(nproc)" -n 1 bash -c '
            valgrind --quiet --leak-check=full --error-exitcode=99 --suppressions=tests/unit/valgrind.supp "$1" >/dev/null &&
                echo "${1##*/}" || { echo "${1##*/}: FAILED"; false; }' valgrind_unit_tests
}

# How long all of it may take. Who waits for CI ends it after 90 minutes, and then nobody sees what was green until there.
end=$((EPOCHSECONDS + 80 * 60))

# Runs a part of the tests and notes how it went and how long it took; a failure does not keep the next part from running.
# In a subshell outside of any condition, because there alone `set -e` holds inside of functions.
stages=()
failed=0
stage() { # NAME COMMAND...
    local start=$SECONDS rc
    printf '\n== %s\n' "$1"
    if ((EPOCHSECONDS >= end)); then
        echo "not begun: the time for all parts is over"
        failed=1
        stages+=("$(printf '%-6s %4d s  %s' FAILED 0 "$1")")
        return
    fi
    set +e
    (
        set -e
        "${@:2}"
    )
    rc=$?
    set -e
    ((rc == 0)) || failed=1
    stages+=("$(printf '%-6s %4d s  %s' "$( ((rc == 0)) && echo ok || echo FAILED)" $((SECONDS - start)) "$1")")
}

# --- the commands ---

demo() {
    need "${build_packages[@]}"
    build release installed
    mkdir -p build/demo
    local ret_python
    if demo_python 2>build/demo/setup.log; then
        JAX_PLATFORMS=cpu build/release/idsprof capture --output build/demo --name demo --keep 1 --report -- \
            "$ret_python" tests/live/capture_loop.py 200 annotate scopes
    else
        echo "no JAX here (offline? see build/demo/setup.log): this is a trace that was recorded before"
        build/release/idsprof report "$demo_trace"
    fi
}

run_tests() { # fast|full; ends with a line for each part
    has_presets || die "the tests are built by presets, which need CMake 3.21 or newer; with an older one: cmake -S . -B build/release -G Ninja && ninja -C build/release && cd build/release && ctest -L fast"
    stage "build: release" build release
    stage "build: sanitizers" build dev
    ((failed)) || suites "$1"
    printf '\n'
    printf '%s\n' "${stages[@]}"
    return $failed
}

suites() { # fast|full
    stage "suite: release" suite release -L fast
    stage "suite: sanitizers" suite dev -L fast
    if [[ $1 == full ]]; then
        stage "lint" tests/lint.sh
        stage "coverage of lib, formats and analyzers" coverage
        stage "valgrind on unit tests" valgrind_unit_tests
        stage "hostile files and round trips: sanitizers" suite dev -L slow
        stage "live JAX and peers" live_suite
    fi
}

case ${1:-}${2:+ $2} in
demo) demo ;;
test) exec "./${0##*/}" test "$([[ ${IDS_CI:-0} == 1 ]] && echo full || echo fast)" ;;
"test fast")
    need "${fast_packages[@]}"
    run_tests fast
    ;;
"test full")
    need "${full_packages[@]}"
    run_tests full
    ;;
*) die "usage: bootstrap.sh demo | test [fast|full]" ;;
esac
