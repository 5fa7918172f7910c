#!/usr/bin/env bash
# bash tests/run.sh [arguments of ctest]: installs what is missing, builds everything, lists what this machine cannot test,
# runs all tests.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages.sh"
need_packages build tests
for group in components examples peers; do
  (need_packages "$group") || echo "some examples and tests are left out for want of these packages" >&2
done

cd "$root"
cmake --preset tests
cmake --build --preset tests
if [[ -s build/tests/left_out.txt ]]; then
  echo "left out on this machine:"
  cat build/tests/left_out.txt
fi
exec ctest --preset tests --parallel "$(nproc)" "$@"
