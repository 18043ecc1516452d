#!/bin/bash
# The theoretical occupancy against the toolkit's calculator, of an installed toolkit or of the wheel nvidia-cuda-runtime
# (tests/requirements.txt).
set -eu
for include in "${CUDA_HOME:-}/include" /usr/local/cuda/include "${IDS_PYTHON%/bin/*}"/lib/python3*/site-packages/nvidia/*/include; do
    [ -e "$include/cuda_occupancy.h" ] && break
    include=
done
if [ -z "$include" ]; then
    echo "no cuda_occupancy.h here (of a CUDA toolkit, or of nvidia-cuda-runtime)"
    exit 77
fi
cc -std=gnu17 -O1 -w -I "$IDS_SOURCE_DIR" -isystem "$include" -o "$TMPDIR/peer" \
    "$IDS_SOURCE_DIR/tests/cuda/occupancy_peer.c" "$IDS_SOURCE_DIR/collectors/cuda/occupancy.c" \
    "$IDS_SOURCE_DIR/lib/occupancy/occupancy.c"
"$TMPDIR/peer"
