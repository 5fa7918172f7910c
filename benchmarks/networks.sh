#!/usr/bin/env bash
# bash benchmarks/networks.sh [NETWORK]...: milliseconds of one thread's time for steps of training and for inference, of nax, of
# PyTorch and of ONNX Runtime, which runs what save_onnx and torch.onnx wrote. All have one network's parameters and compare its
# losses or outputs first; then they take turns. PYTHON names a Python that has torch, onnxruntime and onnx; TURNS how often (9).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${NAX_BENCHMARKS_BUILD:-$root/build/release}
python=${PYTHON:-python3}
"$python" -c 'import torch, onnxruntime, onnx' || { echo "$python has no torch, onnxruntime and onnx" >&2; exit 1; }
[[ $# -gt 0 ]] || set -- resnet18_step unet_step gpt_step resnet18 gpt2_token
[[ -e $build/build.ninja ]] ||
  (cd "$root" && cmake --preset release -DNAX_BUILD_TESTS=OFF -DNAX_BUILD_BENCHMARKS=ON) >&2
cmake --build "$build" --target networks >&2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
core=$(taskset -cp $$ | sed 's/.*[:,-] *//')
NAX_PROCESSOR_TIME=1 taskset -c "$core" "$python" "$root/benchmarks/peers/networks.py" "$build/benchmarks/networks" "$scratch" "${TURNS:-9}" "$@"
