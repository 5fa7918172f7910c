#!/usr/bin/env bash
# bash benchmarks/compile_time.sh [compiler]: seconds (the best of three) that including nax and compiling its example cost.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
compiler=${1:-${CXX:-c++}}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
flags=(-std=c++20 -march=native -I"$root/include" -isystem /usr/include/eigen3 -c -o "$scratch/out.o")
TIMEFORMAT=%R

measure() {  # measure <what> <flags>... <file>
  local what=$1 best
  shift
  best=$(for _ in 1 2 3; do { time "$compiler" "${flags[@]}" "$@" 1>&2; } 2>&1 | tail -n 1; done | sort -n | head -n 1)
  printf '%-40s %6.2f s\n' "$what" "$best"
}

echo '#include <Eigen/Core>' >"$scratch/eigen.cpp"
echo '#include <nax/nax.hpp>' >"$scratch/nax.cpp"
"$compiler" --version | sed -n 1p
measure "#include <Eigen/Core>" "$scratch/eigen.cpp"
measure "#include <nax/nax.hpp>" "$scratch/nax.cpp"
measure "examples/mnist_mlp.cpp -O3" -O3 "$root/examples/mnist_mlp.cpp"
