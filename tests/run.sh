#!/usr/bin/env bash
# bash tests/run.sh [arguments of ctest]: installs what is missing, builds everything, runs all tests.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages.sh"
need_packages build tests
(need_packages components) || echo "the tests of nax::storage, nax::image and nax::lapack are left out" >&2

cd "$root"
cmake --preset tests
cmake --build --preset tests
exec ctest --preset tests --parallel "$(nproc)" "$@"
