#!/bin/bash
# The theoretical occupancy against the toolkit's calculator, where that is installed.
set -eu
for home in "${CUDA_HOME:-}" /usr/local/cuda; do
    [ -e "$home/include/cuda_occupancy.h" ] && break
    home=
done
if [ -z "$home" ]; then
    echo "no cuda_occupancy.h here (of a CUDA toolkit)"
    exit 78
fi
cc -std=gnu17 -O1 -w -I "$IDS_SOURCE_DIR" -isystem "$home/include" -o "$TMPDIR/peer" \
    "$IDS_SOURCE_DIR/tests/cuda/occupancy_peer.c" "$IDS_SOURCE_DIR/collectors/cuda/occupancy.c"
"$TMPDIR/peer"
