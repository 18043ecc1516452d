#!/usr/bin/env bash
# run_one.sh TEST [ARG...]: runs one test for ctest, in an environment of its own.
# A test gets: IDSPROF, IDS_SOURCE_DIR, IDS_BUILD_DIR, IDS_SANITIZE (0|1) from CMake, and from here IDS_SHARED (large real traces;
# may be absent), IDS_PYTHON (of .venv when it is there), and an empty TMPDIR that is removed afterwards, with the cache
# and the baselines in it.
# How much a test may work is limited in CPU time of each of its processes (IDS_CPU_LIMIT, from CMake); limits of the clock are there for hangs
# alone, and are those of an idle machine times IDS_TIME_FACTOR.
# Exit 77 after a line that says why means "cannot run here"; with IDS_CI=1 that is a failure. Exit 78 is for a job that runs only where it
# is asked for, or a check against something that need not be installed: it is skipped in CI too.
set -u
: "${IDS_SHARED:=$IDS_SOURCE_DIR/../shared}"
if [ -x "$IDS_SOURCE_DIR/.venv/bin/python" ]; then
    IDS_PYTHON=$IDS_SOURCE_DIR/.venv/bin/python
else
    IDS_PYTHON=python3
fi
# Sanitizers abort, for their default exit code 1 is an answer of idsprof.
ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1
UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1
LSAN_OPTIONS=exitcode=99
export IDS_SHARED IDS_PYTHON ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS

ulimit -S -t "${IDS_CPU_LIMIT:-1200}"
: "${IDS_TIME_FACTOR:=10}"
CK_TIMEOUT_MULTIPLIER=$IDS_TIME_FACTOR
export IDS_TIME_FACTOR CK_TIMEOUT_MULTIPLIER

TMPDIR=$(mktemp -d) || exit 1
export TMPDIR XDG_CACHE_HOME="$TMPDIR/cache" XDG_DATA_HOME="$TMPDIR/data" PYTHONDONTWRITEBYTECODE=1
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 1' HUP INT TERM

case $1 in
*.py) "$IDS_PYTHON" "$IDS_SOURCE_DIR/tests/support/run_scaled.py" "$@" ;;
*.sh) bash "$@" ;;
*) "$@" ;;
esac
status=$?

if [ $status -eq 78 ]; then
    echo "run_one.sh: skipped"
    status=77
elif [ $status -eq 77 ]; then
    echo "run_one.sh: skipped" # bootstrap.sh looks for this line and shows the one before it
    if [ "${IDS_CI:-0}" = 1 ]; then
        echo "run_one.sh: with IDS_CI=1 a test that cannot run is a failure"
        status=1
    fi
fi
exit $status
