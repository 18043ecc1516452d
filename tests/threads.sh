#!/usr/bin/env bash
# Looks for data races: builds the program with ThreadSanitizer into build/threads, and has it read profiles on one thread
# and on many: those of the tests cli.jobs, cli.many_hosts and cli.partials_ahead, or those that are named. Fails where it
# sees a race, or where reports differ.
# usage: tests/threads.sh [profile...]
set -euo pipefail
cd "$(dirname "$0")/.."
cmake -S . -B build/threads -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_FLAGS='-fsanitize=thread -fno-omit-frame-pointer' -DCMAKE_EXE_LINKER_FLAGS=-fsanitize=thread >/dev/null
cmake --build build/threads --target idsprof gen_hosts -- --quiet
export TSAN_OPTIONS='exitcode=66 halt_on_error=1' IDSPROF=$PWD/build/threads/idsprof IDS_SOURCE_DIR=$PWD IDS_SANITIZE=1
export IDS_BUILD_DIR=$PWD/build/threads
if [ $# = 0 ]; then
    for test in jobs many_hosts partials_ahead; do
        bash tests/run_one.sh "tests/cli/test_$test.py"
        echo "the profiles of cli.$test: no race, and the same reports"
    done
    exit
fi
for profile; do
    one=$("$IDSPROF" report --no-cache --json --jobs 1 "$profile" | sha256sum)
    many=$("$IDSPROF" report --no-cache --json --jobs 8 "$profile" | sha256sum)
    [ "$one" = "$many" ] || { echo "$profile: eight threads report something else than one" >&2; exit 1; }
done
echo "$# profiles: no race, and the same reports"
