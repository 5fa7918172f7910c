#!/usr/bin/env bash
# bash benchmarks/compare.sh [mnist] [--threads N] [--filter RE] ...: nax next to JAX, PyTorch, NumPy, Eigen and hand-written
# C++; --help lists the options. The peers live in a virtual environment in the user's cache (or NAX_PEERS_VENV), which the
# first run makes; the build folder is build/benchmarks (or NAX_BENCHMARKS_BUILD). Status 1: results disagree.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages.sh"
source "$root/benchmarks/support/packages.sh"
need_packages build

venv=${NAX_PEERS_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/nax/peers}
if ! "$venv/bin/python" -c 'import jax, numpy, torch' 2>/dev/null; then
  need_benchmark_packages python3-venv
  echo "installing the peers into $venv" >&2
  python3 -m venv "$venv"
  pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check)
  "${pip[@]}" jax numpy
  # PyTorch for processors only, where that index can be reached: it is ten times smaller.
  "${pip[@]}" --retries 0 --index-url https://download.pytorch.org/whl/cpu torch 2>/dev/null || "${pip[@]}" torch
fi

program=compare.py targets=(nax_rows eigen_rows hand_rows)
if [[ ${1:-} == mnist ]]; then
  shift
  program=mnist.py targets=(mnist_training)
fi
build=$(build_benchmarks "${targets[@]}")
exec "$venv/bin/python" "$root/benchmarks/peers/$program" --build "$build" --out "$root/out/compare" "$@"
