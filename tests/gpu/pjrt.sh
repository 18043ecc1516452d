#!/bin/bash
# pjrt.sh [OUT]: collector A on a machine with an NVIDIA GPU and jax on CUDA. Exit 77: something of that is not here.
# Environment: IDS_BUILD_DIR (build/release of this folder), IDS_GPU_PYTHON (python3).
set -u
export IDS_SOURCE_DIR=${IDS_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
export IDS_BUILD_DIR=${IDS_BUILD_DIR:-$IDS_SOURCE_DIR/build/release}
python=${IDS_GPU_PYTHON:-python3}
if ! nvidia-smi -L >/dev/null 2>&1; then
    echo "no NVIDIA GPU here (nvidia-smi -L)"
    exit 77
fi
if ! "$python" -c 'import jax, sys; sys.exit(jax.default_backend() != "gpu")' 2>/dev/null; then
    echo "$python has no jax that finds the GPU; IDS_GPU_PYTHON names another one"
    exit 77
fi
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
exec "$python" "$IDS_SOURCE_DIR/tests/gpu/pjrt.py" "$python" "${1:-gpu_results}"
