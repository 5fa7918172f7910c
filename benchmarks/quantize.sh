#!/usr/bin/env bash
# bash benchmarks/quantize.sh: milliseconds of one thread's time for networks in float and by 8-bit integers, of nax and of ONNX
# Runtime (quantize_dynamic), which runs what save_onnx wrote. The sides take turns. PYTHON names a Python that has onnxruntime
# and onnx; TURNS how often (9).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${NAX_BENCHMARKS_BUILD:-$root/build/release}
python=${PYTHON:-python3}
"$python" -c 'import onnxruntime.quantization' || { echo "$python has no onnxruntime" >&2; exit 1; }
[[ -e $build/build.ninja ]] || (cd "$root" && cmake --preset release -DNAX_BUILD_TESTS=OFF) >&2
cmake --build "$build" --target quantized >&2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
NAX_PROCESSOR_TIME=1 "$python" "$root/benchmarks/peers/quantize.py" "$build/benchmarks/quantized" "$scratch" "${TURNS:-9}"
