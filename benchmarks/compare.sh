#!/usr/bin/env bash
# Compares nax with its peers, side by side and in turns, checks that the results agree, and writes tables into out/compare.
#
#   compare.sh                 rows of nax, JAX, PyTorch, NumPy, Eigen and hand-written C++
#     --threads N              threads of every side, one core each (1)
#     --filter RE              only rows whose name matches
#     --rounds N --seconds S   how often every side has its turn, and how long (7, 0.1)
#     --isa avx2               all sides without AVX-512, as on most clients' processors
#   compare.sh mnist           epochs of training on MNIST, nax and JAX; the images from NAX_MNIST_DIR or where examples/run.sh
#                              keeps them
#     --threads 1,2 --devices 1,2,4 --hidden '512,512 1024,1024' --epochs N
#   compare.sh publish         the last tables into README.md and docs/performance.md
#     --out FOLDER             with each: where the tables are (out/compare)
#
# The status is 1 when results disagree, 0 whatever the ratios are. The peers live in a virtual environment in the user's cache
# (or NAX_PEERS_VENV), which the first run makes; the build folder is build/benchmarks (or NAX_BENCHMARKS_BUILD).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for argument in "$@"; do
  if [[ $argument == -h || $argument == --help ]]; then sed -n '/^# /s/^# //p; /^#$/s/.*//p' "${BASH_SOURCE[0]}" | head -n 17 && exit; fi
done
if [[ ${1:-} == publish ]]; then
  shift
  exec python3 "$root/benchmarks/peers/tables.py" --out "$root/out/compare" "$@"
fi
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

isa='' previous=''
for argument in "$@"; do
  if [[ $previous == --isa ]]; then isa=$argument; fi
  previous=$argument
done
if [[ $isa ]]; then  # haswell: what every processor with AVX2 has
  benchmark_options=(-DNAX_NATIVE=OFF -DCMAKE_CXX_FLAGS=-march=haswell)
  NAX_BENCHMARKS_BUILD=${NAX_BENCHMARKS_BUILD:-$root/build/benchmarks}_$isa
fi

program=compare.py targets=(nax_rows eigen_rows hand_rows)
if [[ ${1:-} == mnist ]]; then
  shift
  program=mnist.py targets=(mnist_training)
fi
build=$(build_benchmarks "${targets[@]}")
exec "$venv/bin/python" "$root/benchmarks/peers/$program" --build "$build" --out "$root/out/compare" "$@"
