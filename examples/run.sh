#!/usr/bin/env bash
# bash examples/run.sh [arguments of mnist_mlp]: installs what is missing, builds the example, trains MNIST.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages.sh"
need_packages build download

# The release build that tests/run.sh uses too; where it is not there yet, one without the tests, and with the engine alone, at -O1,
# which trains as fast as -O3 and compiles in half the time: the whole library takes longer than one program.
build=$root/build/release
echo "building mnist_mlp: one to two minutes, and up to 3.5 GB of memory, the first time" >&2
if [[ ! -e $build/build.ninja ]]; then
  (cd "$root" && cmake --preset release -DNAX_BUILD_TESTS=OFF -DNAX_BUILD_COMPILED=OFF -DNAX_BUILD_ENGINE=ON \
    -DNAX_LIBRARY_FLAGS=-O1) >&2
fi
cmake --build "$build" --target mnist_mlp --parallel "$(build_jobs)" >&2
echo "training: it takes MNIST's files, 12 MB, from the network the first time, then five epochs of a few seconds each" >&2
exec "$build/examples/mnist_mlp" "$@"
