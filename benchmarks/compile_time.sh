#!/usr/bin/env bash
# bash benchmarks/compile_time.sh [compiler]: measures compile times headers-only and with nax::nax: user seconds
# (the median of three runs), KiB of machine code and MiB of memory, as a Markdown table.
# bash benchmarks/compile_time.sh --budget [compiler]: includes beside compile/budget.txt; fails above it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
budget=""
if [[ ${1:-} == --budget ]]; then budget=$root/benchmarks/compile/budget.txt && shift; fi
compiler=${1:-${CXX:-c++}}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
flags=(-std=c++20 -march=native -I"$root/include" -isystem /usr/include/eigen3 -c -o "$scratch/out.o")
TIMEFORMAT=%U

seconds() {  # seconds <flags>... <file>: the median of three
  for _ in 1 2 3; do { time "$compiler" "${flags[@]}" "$@" 1>&2; } 2>&1 | tail -n 1; done | sort -n | sed -n 2p
}
memory() {  # memory <flags>... <file>: the compiler's, at most
  /usr/bin/env python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$compiler" "${flags[@]}" "$@"
}
size_of() { size "$scratch/out.o" | awk 'NR == 2 {printf "%d", $1 / 1024}'; }

row() {  # row <what> <flags>... <file>: both ways
  local what=$1 way
  shift
  printf '| %s ' "$what"
  for way in '' -DNAX_COMPILED; do
    # shellcheck disable=SC2086 # none or one
    printf '| %s, %s, %s ' "$(seconds $way "$@")" "$(size_of)" "$(memory $way "$@")"
  done
  printf '|\n'
}

echo '#include <Eigen/Core>' >"$scratch/eigen.cpp"
echo '#include <nax/nax.hpp>' >"$scratch/nax.cpp"
if [[ $budget ]]; then
  eigen=$(seconds -O2 "$scratch/eigen.cpp") status=0
  echo "| header, compiled with | times Eigen/Core ($eigen s) | budget |"
  echo '| --- | ---: | ---: |'
  while read -r header way most _; do
    [[ $header && $header != '#'* ]] || continue
    echo "#include <$header>" >"$scratch/one.cpp"
    flag=(-O2)
    if [[ $way == engine ]]; then flag+=(-DNAX_COMPILED); fi
    measured=$(seconds "${flag[@]}" "$scratch/one.cpp")
    awk -v what="$header, $way" -v t="$measured" -v e="$eigen" -v most="$most" \
      'BEGIN {printf "| %s | %.1f | %.1f |\n", what, t / e, most; exit t / e > most}' || status=1
  done <"$budget"
  exit $status
fi
printf '%s, %s\n\n' "$("$compiler" --version | sed -n 1p)" "$(date +%F)"
echo '| user seconds, KiB of code, MiB of memory | headers only | `nax::nax` |'
echo '| --- | ---: | ---: |'
printf '| `#include <Eigen/Core>` alone, `-O0` | %s | |\n' "$(seconds "$scratch/eigen.cpp")"
row '`#include <nax/nax.hpp>` alone, `-O0`' "$scratch/nax.cpp"
row '[gradient.cpp](benchmarks/compile/gradient.cpp), five lines, `-O2`' -O2 "$root/benchmarks/compile/gradient.cpp"
row '[heat.cpp](benchmarks/compile/heat.cpp), forty lines, `-O2`' -O2 "$root/benchmarks/compile/heat.cpp"
row '[mnist_mlp.cpp](examples/mnist_mlp.cpp), `-O3`' -O3 "$root/examples/mnist_mlp.cpp"
