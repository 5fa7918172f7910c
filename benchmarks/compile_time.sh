#!/usr/bin/env bash
# bash benchmarks/compile_time.sh [compiler]: measures compile times headers-only and with nax::compiled: user seconds (the median
# of three runs) and the size of the machine code, as a Markdown table.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
compiler=${1:-${CXX:-c++}}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
flags=(-std=c++20 -march=native -I"$root/include" -isystem /usr/include/eigen3 -c -o "$scratch/out.o")
TIMEFORMAT=%U

seconds() {  # seconds <flags>... <file>: the median of three
  for _ in 1 2 3; do { time "$compiler" "${flags[@]}" "$@" 1>&2; } 2>&1 | tail -n 1; done | sort -n | sed -n 2p
}
size_of() { size "$scratch/out.o" | awk 'NR == 2 {printf "%d", $1 / 1024}'; }

row() {  # row <what> <flags>... <file>: both ways
  local what=$1 alone alone_size
  shift
  alone=$(seconds "$@")
  alone_size=$(size_of)
  printf '| %s | %s | %s | %s | %s |\n' "$what" "$alone" "$(seconds -DNAX_COMPILED "$@")" "$alone_size" "$(size_of)"
}

echo '#include <Eigen/Core>' >"$scratch/eigen.cpp"
echo '#include <nax/nax.hpp>' >"$scratch/nax.cpp"
printf '%s, %s\n\n' "$("$compiler" --version | sed -n 1p)" "$(date +%F)"
echo '| user seconds, KiB of code | headers only | `nax::compiled` | KiB, headers only | KiB, `nax::compiled` |'
echo '| --- | ---: | ---: | ---: | ---: |'
printf '| `#include <Eigen/Core>` alone, `-O0` | %s | | | |\n' "$(seconds "$scratch/eigen.cpp")"
row '`#include <nax/nax.hpp>` alone, `-O0`' "$scratch/nax.cpp"
row '[gradient.cpp](benchmarks/compile/gradient.cpp), five lines, `-O2`' -O2 "$root/benchmarks/compile/gradient.cpp"
row '[heat.cpp](benchmarks/compile/heat.cpp), forty lines, `-O2`' -O2 "$root/benchmarks/compile/heat.cpp"
row '[mnist_mlp.cpp](examples/mnist_mlp.cpp), `-O3`' -O3 "$root/examples/mnist_mlp.cpp"
