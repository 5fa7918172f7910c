#!/usr/bin/env bash
# bash tests/run.sh [--peers] [arguments of ctest]: installs what is missing, builds everything, lists what this machine cannot
# test, runs all tests. With --peers it installs as well what tests compare nax with or check its sources by (MPI, nginx, ...).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages.sh"
need_packages build tests
groups=(components examples)
if [[ ${1:-} == --peers ]]; then groups+=(peers) && shift; fi
for group in "${groups[@]}"; do
  (need_packages "$group") || echo "some examples and tests are left out for want of these packages" >&2
done

cd "$root"
jobs=$(build_jobs)
echo "configuring: seconds" >&2
cmake --preset tests
echo "building the library, 200 programs of tests and the examples, $jobs at a time: hours of one processor the first time" >&2
cmake --build --preset tests --parallel "$jobs"
if [[ -s build/tests/left_out.txt ]]; then
  echo "left out on this machine:"
  cat build/tests/left_out.txt
fi
exec ctest --preset tests --parallel "$(nproc)" "$@"
