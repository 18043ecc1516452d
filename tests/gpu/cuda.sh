#!/bin/bash
# cuda.sh [OUT [PART ...]]: collector B on a machine with an NVIDIA GPU: builds what it measures with, and runs cuda.py, all parts of it
# unless some are named. Exit 77: no GPU here.
# OUT (./gpu_results): recordings in the stub's form (cut them to a few launches before they go into testdata/) and cuda_results.json.
# Environment: IDS_BUILD_DIR, a build with lib/idsprof (build/release of this folder); IDS_GPU_PYTHON; CUDA_HOME.
set -u
export IDS_SOURCE_DIR=${IDS_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
export IDS_BUILD_DIR=${IDS_BUILD_DIR:-$IDS_SOURCE_DIR/build/release}
out=${1:-gpu_results}
home=${CUDA_HOME:-/usr/local/cuda}
if ! nvidia-smi -L >/dev/null 2>&1; then
    echo "no NVIDIA GPU here (nvidia-smi -L)"
    exit 77
fi
if [ ! -e "$IDS_BUILD_DIR/lib/idsprof/libidsprof_cuda.so" ]; then
    echo "no $IDS_BUILD_DIR/lib/idsprof/libidsprof_cuda.so: build first, or set IDS_BUILD_DIR"
    exit 2
fi
nvcc=$(command -v nvcc || echo "$home/bin/nvcc")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
# NVTX's headers find the tool by themselves, with dlopen.
"$nvcc" -O2 -o "$work/cuda_loop" "$IDS_SOURCE_DIR/tests/gpu/cuda_loop.cu" -ldl || exit 2
# Headers and library of CUPTI: of the toolkit, of its extras, or of a package of this Python.
python=${IDS_GPU_PYTHON:-python3}
site=$("$python" -c 'import site; print(site.getsitepackages()[0])' 2>/dev/null)
for cupti in "$home" "$home/extras/CUPTI" "$site/nvidia/cu13" "$site/nvidia/cuda_cupti"; do
    for lib in "$cupti/lib64" "$cupti/lib"; do
        for library in "$lib"/libcupti.so*; do
            [ -e "$cupti/include/cupti.h" ] && [ -e "$library" ] && break 3
        done
    done
done
gcc -D_GNU_SOURCE -shared -fPIC -o "$work/recorder.so" "$IDS_SOURCE_DIR/tests/gpu/cuda_recorder.c" -I "$cupti/include" \
    -I "$home/include" "$library" -Wl,-rpath,"$lib" || echo "no independent CUPTI client: its comparisons are left out"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
"$python" "$IDS_SOURCE_DIR/tests/gpu/cuda.py" "$work" "$out" "${@:2}"
