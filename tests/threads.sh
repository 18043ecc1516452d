#!/usr/bin/env bash
# Looks for data races: builds the program with ThreadSanitizer into build/threads, and has it read profiles on one thread
# and on many. Fails where it sees a race, or where the reports differ.
# usage: tests/threads.sh [profile...] (else those of testdata)
set -euo pipefail
cd "$(dirname "$0")/.."
cmake -S . -B build/threads -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_FLAGS='-fsanitize=thread -fno-omit-frame-pointer' -DCMAKE_EXE_LINKER_FLAGS=-fsanitize=thread >/dev/null
cmake --build build/threads --target idsprof -- --quiet
if [ $# = 0 ]; then
    mapfile -t profiles < <(find testdata -name '*.xplane.pb' | sort)
    set -- "${profiles[@]}"
fi
export TSAN_OPTIONS='exitcode=66 halt_on_error=1'
for profile; do
    one=$(build/threads/idsprof report --no-cache --json --jobs 1 "$profile" | sha256sum)
    many=$(build/threads/idsprof report --no-cache --json --jobs 8 "$profile" | sha256sum)
    [ "$one" = "$many" ] || { echo "$profile: eight threads report something else than one" >&2; exit 1; }
done
echo "$# profiles: no race, and the same reports"
