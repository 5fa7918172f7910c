#!/usr/bin/env bash
# bash tests/run.sh [--peers] [arguments of ctest]: installs what is missing, builds everything, lists what this machine cannot
# test, runs all tests. With --peers it installs as well what tests compare nax with or check its sources by (MPI, nginx, ...).
# bash tests/run.sh --quick: a choice of tests by headers alone and one example, in a few minutes.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages.sh"
cd "$root"
if [[ ${1:-} == --quick ]]; then
  need_packages build tests
  cmake --preset quick
  cmake --build --preset quick --target headers_only_test logistic_regression --parallel "$(build_jobs)"
  exec ctest --preset quick --parallel "$(nproc)" -R '^(headers_only_test\.|scripts\.|examples\.logistic_regression$)' "${@:2}"
fi

need_packages build tests
groups=(components examples)
if [[ ${1:-} == --peers ]]; then groups+=(peers) && shift; fi
for group in "${groups[@]}"; do
  (need_packages "$group") || echo "some examples and tests are left out for want of these packages" >&2
done

jobs=$(build_jobs)
took=build/tests/took.txt
echo "configuring: seconds" >&2
cmake --preset tests
echo "building the library, 200 programs of tests and the examples, $jobs at a time: $(cat $took 2>/dev/null || echo "40 minutes of one processor the first time")" >&2
cmake --build --preset tests --parallel "$jobs"
echo "$SECONDS s the last time" >$took
if [[ -s build/tests/left_out.txt ]]; then
  echo "left out on this machine:"
  cat build/tests/left_out.txt
fi
exec ctest --preset tests --parallel "$(nproc)" "$@"
