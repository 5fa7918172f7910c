#!/usr/bin/env bash
# bash tests/arm.sh [test.cpp...]: compiles tests for 64-bit ARM, headers only, and runs them in an emulator. By default those of
# packets, kernels and formulas, which have code for its instructions; with `--part N` the N-th three of these. Takes aarch64-linux-gnu-g++, qemu-aarch64 and GoogleTest's sources
# (Debian: g++-aarch64-linux-gnu qemu-user libgtest-dev). The programs stay in build/arm (or NAX_ARM_BUILD).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${NAX_ARM_BUILD:-$root/build/arm}
compiler=aarch64-linux-gnu-g++ googletest=/usr/src/googletest/googletest
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
if [[ -z $emulator ]] || ! command -v "$compiler" >/dev/null; then
  echo "there is no $compiler or no qemu-aarch64 (apt-get install g++-aarch64-linux-gnu qemu-user)" >&2
  exit 1
fi
mkdir -p "$build"
jit=$build/jit.o
flags=(-std=c++20 -O1 -Wall -Wextra -Werror -Wno-psabi -I"$root/include" -I"$root/tests" -isystem /usr/include/eigen3 -isystem "$googletest/include"
  -DNAX_GOLDENS_DIR="\"$root/tests/goldens\"" -DNAX_USES_FORMULAS)
[[ -e $build/gtest.o ]] || "$compiler" -std=c++17 -O1 -I"$googletest" -I"$googletest/include" -c "$googletest/src/gtest-all.cc" -o "$build/gtest.o"
[[ -e $build/main.o ]] || "$compiler" -std=c++17 -O1 -I"$googletest/include" -c "$googletest/src/gtest_main.cc" -o "$build/main.o"

part=""
if [[ ${1:-} == --part ]]; then part=$2 && shift 2; fi
if ((!$#)); then
  set -- "$root"/tests/cpu/{packet,packet_math,convert,gather,short_runs,selection,transpose,tiles,int8_product}_test.cpp \
    "$root"/tests/formula/*_test.cpp "$root"/tests/program/{fuse_maps,fuse_reductions,random_programs,spell_small}_test.cpp
fi
if [[ $part ]]; then set -- "${@:1 + part * 3 % $#:3}"; fi
"$compiler" "${flags[@]}" -c "$root/include/nax/formula/machine/nax_jit.cpp" -o "$jit"
failed=0
for source in "$@"; do
  program=$build/$(basename "$source" .cpp)
  "$compiler" "${flags[@]}" "$source" "$jit" "$build/gtest.o" "$build/main.o" -o "$program"
  echo "$(basename "$program"):"
  "$emulator" -L /usr/aarch64-linux-gnu "$program" --gtest_brief=1 || failed=1
done
exit $failed
