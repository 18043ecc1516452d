#!/bin/bash
# truth.sh [OUT]: is the first piece of advice true of programs on a GPU? JAX programs with one planted cause each, one after the other for they
# need the device for themselves (tests/truth), and PyTorch ones (torch_truth.py). Exit 77: something of that is not here.
# Environment: IDS_BUILD_DIR (build/release of this folder), IDS_GPU_PYTHON (python3).
set -u
export IDS_SOURCE_DIR=${IDS_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
export IDSPROF=${IDS_BUILD_DIR:-$IDS_SOURCE_DIR/build/release}/idsprof
out=${1:-gpu_results}
python=${IDS_GPU_PYTHON:-python3}
IDS_PYTHON=$(command -v "$python") || exit 77
export IDS_PYTHON
if ! nvidia-smi -L >/dev/null 2>&1; then
    echo "no NVIDIA GPU here (nvidia-smi -L)"
    exit 77
fi
status=0
"$python" "$IDS_SOURCE_DIR/tests/gpu/torch_truth.py" "$out/torch" || status=1
"$python" "$IDS_SOURCE_DIR/tests/truth/run.py" planted --once --sampled --platform cuda --keep "$out/planted" || status=1
exit $status
