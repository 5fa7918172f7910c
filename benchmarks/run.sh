#!/usr/bin/env bash
# bash benchmarks/run.sh [--quick] [name of a *_bench.cpp ...] [-- arguments of Google Benchmark]: builds the benchmarks and runs
# them on one thread (or NAX_NUM_THREADS). --quick: in under three minutes, with less precise times.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages.sh"
source "$root/benchmarks/support/packages.sh"

quick=() names=() more=()
while (($#)); do
  case $1 in
    --quick) quick=(--benchmark_min_time=0.005) ;;
    --) shift && more=("$@") && break ;;
    -h | --help) sed -n '2,3s/^# //p' "${BASH_SOURCE[0]}" && exit ;;
    *) names+=("$(basename "${1%.cpp}")") ;;
  esac
  shift
done
need_packages build
need_benchmark_packages libbenchmark-dev
if ((${#names[@]} == 0)); then
  for source in "$root"/benchmarks/*_bench.cpp; do names+=("$(basename "$source" .cpp)"); done
fi

build=$(build_benchmarks "${names[@]}")
export NAX_NUM_THREADS=${NAX_NUM_THREADS:-1}
status=0
for name in "${names[@]}"; do
  echo "== $name" >&2
  output=$("$build/$name" --benchmark_color=false --benchmark_counters_tabular=true "${quick[@]}" "${more[@]}" 2>&1) || status=1
  echo "$output"
  if grep -q 'ERROR OCCURRED' <<<"$output"; then status=1; fi
done
exit "$status"
