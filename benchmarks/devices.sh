#!/usr/bin/env bash
# Trains two networks on the CPU and on 1, 2 and 4 GPUs, and writes tables and charts into out/devices: MNIST's (784-512-512-10),
# and a large one on large images (224x224x3 pixels, four layers of 4096), of strong scaling (one batch shared out) and weak
# scaling (a batch for each device). Devices that the machine lacks get a row "not present". A model's estimates stand beside the
# measurements.
#
#   devices.sh                 everything
#     --quick                  a few steps of smaller networks: does it run, do the charts come
#     --experiments mnist,large    which
#     --emulated               the GPUs are emulated ones, which says nothing about time: a test of this program
#     --cpu-devices 1,2        also so many devices of the CPU (1)
#     --model flops=19.5e12,memory=2e12,link=3e11,launch=4e-6    a card for the model, per second; the default is an A100
#     --pack FOLDER            programs from a pack of gpu_day.sh: nothing is built or installed
#     --out FOLDER             where to (out/devices)
#   devices.sh model           the model alone, up to 1000 ranks
#
# MNIST's images come from NAX_MNIST_DIR; without it they are made up. The build folder is build/benchmarks (or
# NAX_BENCHMARKS_BUILD, configured with -DNAX_CUDA=ON where cards are to be measured).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for argument in "$@"; do
  if [[ $argument == -h || $argument == --help ]]; then sed -n '/^# /s/^# //p; /^#$/s/.*//p' "${BASH_SOURCE[0]}" | head -n 18 && exit; fi
done
source "$root/scripts/packages.sh"
source "$root/benchmarks/support/packages.sh"
if [[ ${1:-} == model ]]; then
  exec python3 "$root/benchmarks/peers/devices.py" --out "$root/out/devices" "$@"
fi
for argument in "$@"; do
  if [[ $argument == --pack ]]; then exec python3 "$root/benchmarks/peers/devices.py" --out "$root/out/devices" "$@"; fi
done
need_packages build
targets=(device_training)
for argument in "$@"; do
  if [[ $argument == --emulated ]]; then targets+=(device_training_emulated); fi
done
cache=${NAX_BENCHMARKS_BUILD:-$root/build/benchmarks}/CMakeCache.txt
if [[ -e $cache ]] && grep -q '^NAX_CUDA:BOOL=ON' "$cache"; then targets+=(device_training_cuda); fi
build=$(build_benchmarks "${targets[@]}")
exec python3 "$root/benchmarks/peers/devices.py" --build "$build" --out "$root/out/devices" "$@"
