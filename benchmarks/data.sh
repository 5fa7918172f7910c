#!/usr/bin/env bash
# Compares pipelines of nax::data with PyTorch's DataLoader, tf.data and Grain: rows that are shuffled and batched, JPEGs that are
# decoded, resized and batched. Prints a table.
#
#   data.sh [--workers N] [--rounds N] [--cpu] [--count images] [--images FOLDER]
#
# The peers that the Python of NAX_PEERS_VENV has take part (torch, tensorflow, grain; numpy and pillow it needs); the build folder
# is build/benchmarks (or NAX_BENCHMARKS_BUILD).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ ${1:-} == -h || ${1:-} == --help ]]; then sed -n '/^# /s/^# //p' "${BASH_SOURCE[0]}" | head -n 7 && exit; fi
source "$root/scripts/packages.sh"
source "$root/benchmarks/support/packages.sh"
need_packages build
venv=${NAX_PEERS_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/nax/peers}
if ! "$venv/bin/python" -c 'import numpy, PIL' 2>/dev/null; then
  need_benchmark_packages python3-venv
  python3 -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check numpy pillow torch tensorflow-cpu grain
fi
build=$(build_benchmarks data_input)
exec "$venv/bin/python" "$root/benchmarks/peers/data_input.py" --program "$build/data_input" "$@"
