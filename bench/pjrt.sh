#!/bin/bash
# pjrt.sh: what collector A costs a call, over a plugin that does nothing: rounds of the plugin alone and of the plugin behind the
# interposer take turns in one process. Environment: IDS_BUILD_DIR (build/release of this folder).
set -eu
build=${IDS_BUILD_DIR:-$(cd "$(dirname "$0")/.." && pwd)/build/release}
run() {
    session=$(mktemp -d)
    mkdir "$session/.idsprof"
    echo "$1"
    IDSPROF_SESSION=$session IDSPROF_PLAN=$2 PJRT_DOUBLE=$3 IDSPROF_TPU_LIBRARY=$build/support/pjrt_double.so \
        "$build/support/pjrt_bench" "$build/support/pjrt_double.so" "$build/lib/idsprof/libidsprof_pjrt.so" 301 2000
    rm -r "$session"
}
run "outside of a window, steps counted" "start_step=1000000000;steps=5;run=R" hang
run "outside of a window, no steps wanted" "start_step=-1;steps=0;run=R;range=none" hang
run "in a window" "start_step=1000;steps=1000000000;run=R" run=0
