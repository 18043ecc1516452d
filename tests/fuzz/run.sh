#!/bin/bash
# run.sh TARGET MINUTES: fuzzes TARGET (fuzz_TARGET.c in this folder) for about so many CPU-minutes, or until 20 of them brought no new edge.
#
# Built with `cmake --preset fuzz && cmake --build --preset fuzz`. What was found is kept in a work folder (FUZZ_WORK, by default
# build/fuzz/kept/TARGET), where the next call goes on; at the end the smallest set of inputs with the same coverage goes to
# tests/fuzz/corpus/TARGET, and a line to tests/fuzz/LOG.md. It runs in slices, since libFuzzer does not say when it saw
# something new. A finding ends it with exit 1: the input lies in the work folder; once understood it goes to tests/fuzz/found/TARGET
# under a name that says what it was.
set -u
target=${1:?usage: run.sh TARGET MINUTES}
minutes=${2:?usage: run.sh TARGET MINUTES}
here=$(cd "$(dirname "$0")" && pwd)
build=${FUZZ_BUILD:-$here/../../build/fuzz}
fuzzer=$build/fuzz/fuzz_$target
work=${FUZZ_WORK:-$build/kept/$target}
corpus=$here/corpus/$target
quiet_goal=20
slice_seconds=120
[ -x "$fuzzer" ] || { echo "run.sh: build it first: cmake --preset fuzz && cmake --build --preset fuzz" >&2; exit 2; }

# A leak and a slow input are findings too. The quarantine of freed memory counts as memory used, so it is kept small.
export ASAN_OPTIONS=quarantine_size_mb=32:detect_leaks=1:detect_stack_use_after_return=1
limits=(-rss_limit_mb=512 -timeout=5 -max_len=65536)

mkdir -p "$work/new" "$work/findings" "$corpus"
python3 "$here/make_seeds.py" "$work/seeds" || exit 2
dict=$work/seeds/$target.dict

# The state of a build: what its edges are counted in.
state=$work/state
binary=$(sha256sum < "$fuzzer" | cut -c1-16)
edges=0 quiet=0 cpu_total=0 runs_total=0
if [ -f "$state" ] && [ "$(sed -n 1p "$state")" = "$binary" ]; then
    read -r edges quiet cpu_total runs_total < <(sed -n 2p "$state")
fi

cpu_of_children() { # centiseconds, of the slices so far
    awk '{print int(($16 + $17) * 100 / '"$(getconf CLK_TCK)"')}' "/proc/$$/stat"
}

spent=0
status=0
features=0
while [ $spent -lt $((minutes * 6000)) ] && [ "$quiet" -lt $((quiet_goal * 6000)) ]; do
    before=$(cpu_of_children)
    "$fuzzer" "${limits[@]}" "-dict=$dict" "-max_total_time=$slice_seconds" -print_final_stats=1 "-artifact_prefix=$work/findings/" \
        "$work/new" "$corpus" "$work/seeds/$target" > "$work/slice.log" 2>&1
    status=$?
    used=$(($(cpu_of_children) - before))
    spent=$((spent + used))
    cpu_total=$((cpu_total + used))
    runs_total=$((runs_total + $(awk '/number_of_executed_units/ {print $2}' "$work/slice.log" | tail -1)))
    seen=$(grep -ao 'cov: [0-9]*' "$work/slice.log" | tail -1 | cut -d' ' -f2)
    features=$(grep -ao 'ft: [0-9]*' "$work/slice.log" | tail -1 | cut -d' ' -f2)
    if [ "${seen:-0}" -gt "$edges" ]; then
        edges=$seen
        quiet=0
    else
        quiet=$((quiet + used))
    fi
    printf '%s\n%s %s %s %s\n' "$binary" "$edges" "$quiet" "$cpu_total" "$runs_total" > "$state"
    echo "$(date -u +%H:%M:%S) $target: $((cpu_total / 100)) CPU-s, $runs_total runs, $edges edges, $((quiet / 100)) CPU-s without a new one"
    [ $status -eq 0 ] || break
done
[ $status -ne 72 ] || status=0 # libFuzzer was interrupted (SIGINT, SIGTERM): no finding

findings=$(find "$work/findings" -type f | wc -l)
if [ $status -ne 0 ]; then
    grep -E 'ERROR|runtime error|fuzz_|SUMMARY' "$work/slice.log" | head -5
    echo "run.sh: a finding in $work/findings; replay: $fuzzer FILE" >&2
fi

# What is kept: in the work folder all that differs in how often an edge is taken, for the next call; in the repository the
# smallest inputs that take each edge.
merge() { # into FOLDER, with libFuzzer's option
    rm -rf "$1"
    mkdir -p "$1"
    "$fuzzer" "${limits[@]}" "$2" -merge=1 "$1" "$corpus" "$work/seeds/$target" "$work/new" > "$work/merge.log" 2>&1
}
if merge "$work/merged" -use_counters=1 && merge "$work/small" -use_counters=0; then
    rm -rf "$work/new" "$corpus"
    mv "$work/merged" "$work/new"
    cp -r "$work/small" "$corpus"
    [ ! -d "$here/found/$target" ] || cp "$here/found/$target"/* "$corpus" # what once stopped it is replayed for ever
else
    echo "run.sh: the merge failed; the corpus stays as it was ($work/merge.log)" >&2
fi
files=$(find "$corpus" -type f | wc -l)
bytes=$(find "$corpus" -type f -printf '%s\n' | awk '{s += $1} END {print s + 0}')
printf '| %s | %s | %d.%02d | %s | %s | %s | %d.%02d | %s files, %s kB | %s |\n' "$(date -u +%Y-%m-%d)" "$target" \
    $((spent / 6000)) $((spent % 6000 / 60)) "$runs_total" "$edges" "${features:-0}" $((quiet / 6000)) $((quiet % 6000 / 60)) "$files" $((bytes / 1000)) \
    "$([ "$findings" -eq 0 ] && echo none || echo "$findings, see above")" >> "$here/LOG.md"
exit $((status != 0))
