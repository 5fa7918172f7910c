#!/usr/bin/env bash
# bash examples/run.sh [arguments of mnist_mlp]: installs what is missing, builds the example, trains MNIST.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages.sh"
need_packages build download

# An engine at -O1, which trains as fast as -O3 and compiles in half the time, and without factorisations and modules that the
# example does not call.
build=$root/build/example
echo "building mnist_mlp: one to two minutes, and up to 2 GB of memory a compiler, the first time" >&2
if [[ ! -e $build/build.ninja ]]; then
  (cd "$root" && cmake --preset release -B "$build" -DNAX_BUILD_TESTS=OFF -DNAX_LIBRARY_FLAGS=-O1 '-DNAX_MODULES=data;profiler;training') >&2
fi
cmake --build "$build" --target mnist_mlp --parallel "$(build_jobs)" >&2
echo "training: it takes MNIST's files, 12 MB, from the network the first time, then five epochs of a few seconds each" >&2
exec "$build/examples/mnist_mlp" "$@"
