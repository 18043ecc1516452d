#!/bin/bash
# run.sh [OUT]: all that can only be shown on a machine with a GPU, in one command. OUT (./gpu_results) gets the figures and small
# recordings; the end of the output is what belongs into RESULTS.md.
#   pjrt.sh   collector A: does it bring device planes from jax on CUDA, against jax.profiler, overhead, graphs on and off
#   cuda.sh   collector B: PyTorch and a plain CUDA program through CUPTI
#   truth.sh  programs with one planted cause each: is the first piece of advice true?
# Needs: a build (IDS_BUILD_DIR, build/release of this folder; without one it is made), python3 with jax on CUDA (IDS_GPU_PYTHON),
# for B PyTorch and nvcc. A part whose needs are not there is left out and said to be. IDS_GPU_PARTS names some of them alone.
set -u
IDS_SOURCE_DIR=$(cd "$(dirname "$0")/../.." && pwd)
export IDS_SOURCE_DIR
export IDS_BUILD_DIR=${IDS_BUILD_DIR:-$IDS_SOURCE_DIR/build/release}
out=${1:-gpu_results}
if ! nvidia-smi -L; then
    echo "no NVIDIA GPU here (nvidia-smi -L): nothing was run"
    exit 77
fi
if [ ! -x "$IDS_BUILD_DIR/idsprof" ]; then
    (cd "$IDS_SOURCE_DIR" && cmake --preset release && cmake --build --preset release) || exit 2
fi
mkdir -p "$out"
failed=0
for part in ${IDS_GPU_PARTS:-pjrt cuda truth}; do
    script=$IDS_SOURCE_DIR/tests/gpu/$part.sh
    [ -x "$script" ] || continue
    echo "== $part"
    "$script" "$out" 2>&1 | tee "$out/$part.log"
    case ${PIPESTATUS[0]} in
    0) echo "== $part: passed" ;;
    77) echo "== $part: left out" ;;
    *) echo "== $part: FAILED" && failed=1 ;;
    esac
done
exit $failed
