#!/usr/bin/env bash
# bash tests/zig.sh [target...]: compiles and links programs for other systems by the clang of zig, with libc++ and each system's C
# library, and runs those for Linux here (for 64-bit ARM in qemu-aarch64, for Windows under wine, where they are installed): README's
# program by headers alone; tests/platforms/forty.cpp, tests of formulas, and mnist_mlp for macOS, by the engine with its machine code.
# `--part N` takes the N-th target of the list, in turn.
# Takes PyPI's ziglang, the headers of Eigen, Xbyak and zlib, and GoogleTest's sources (Debian: libeigen3-dev libxbyak-dev zlib1g-dev
# libgtest-dev). What was compiled stays in build/zig (or NAX_ZIG_BUILD) and is compiled again where a header changed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${NAX_ZIG_BUILD:-$root/build/zig}
zig=(python3 -m ziglang)
"${zig[@]}" version >/dev/null 2>&1 || { echo "there is no zig (pip install ziglang)" >&2; exit 1; }
targets=(x86_64-linux-musl aarch64-macos x86_64-windows-gnu aarch64-linux-musl x86_64-macos)
if [[ ${1:-} == --part ]]; then set -- "${targets[$2 % ${#targets[@]}]}"; fi
if ((!$#)); then set -- "${targets[@]}"; fi

# Headers of this machine that other systems share; the folder above them has those of its own C library.
mkdir -p "$build/headers"
ln -sfn /usr/include/xbyak "$build/headers/xbyak"
ln -sfn /usr/include/zlib.h "$build/headers/zlib.h"
ln -sfn /usr/include/zconf.h "$build/headers/zconf.h"
googletest=/usr/src/googletest/googletest
flags=(-std=c++20 -O0 -g0 -fno-sanitize=undefined -Wall -Wextra -Werror "-I$root/include" -isystem /usr/include/eigen3 -isystem "$build/headers")
tested=(-DGTEST_HAS_PTHREAD=1 "-I$root/tests" -isystem "$googletest/include" "-DNAX_GOLDENS_DIR=\"$root/tests/goldens\"")
newest=$(find "$root"/{include,examples,tests/{platforms,formula,support}} "$root/README.md" -type f -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2-)

target=""
compile() { # compile <result> <argument>...: an object or a program, unless it is newer than all sources
  if [[ $build/$target/$1 -nt $newest ]]; then return; fi
  echo "$target: $1"
  "${zig[@]}" c++ -target "$target" "${flags[@]}" "${@:2}" -o "$build/$target/$1"
}

failed=0
expect() { # expect <program> <text>: runs it, where this machine can
  local program=$build/$target/$1 runner=() said
  case $target in
    "$(uname -m)"-linux-*) ;;
    aarch64-linux-*) runner=("$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)") ;;
    *-windows-*)
      runner=("$(command -v wine64 || command -v wine || true)")
      program=$program.exe
      ;;
    *) return 0 ;;
  esac
  if [[ ${runner[*]-} == "" && ${#runner[@]} != 0 ]]; then
    echo "$target: $1 is not run: there is no emulator"
    return
  fi
  said=$(cd "$build/$target" && WINEDEBUG=-all "${runner[@]}" "$program" "${@:3}" | tr -d '\r') || true
  if [[ $said != *"$2" ]]; then
    printf '%s: %s printed:\n%s\n' "$target" "$1" "$said"
    failed=1
  else
    echo "$target: $1 runs"
  fi
}

for target in "$@"; do
  folder=$build/$target suffix=""
  mkdir -p "$folder"
  if [[ $target == *windows* ]]; then suffix=.exe; fi
  sh "$root/tests/docs/first_program.sh" "$root/README.md" cat >"$folder/first.cpp"
  compile "first$suffix" "$folder/first.cpp"
  expect first '7.5 -15.0 -5.0'

  engine=()
  sources=("$root"/include/nax/compiled/{,factorisations/}*.cpp)
  machine=(-Xclang -mno-constructor-aliases)  # cmake/engine.cmake says why
  if [[ $target == aarch64-* || -e /usr/include/xbyak/xbyak.h ]]; then
    machine+=(-DNAX_HAVE_MACHINE_CODE)
    sources+=("$root/include/nax/formula/machine/nax_jit.cpp")
  else
    machine+=(-DNAX_COMPILES_KERNELS)
  fi
  for source in "${sources[@]}"; do
    object=${source#"$root"/include/nax/}
    object=${object//\//_}.o
    compile "$object" "${machine[@]}" -c "$source"
    engine+=("$folder/$object")
  done
  name=$(echo '#include <nax/core/abi_name.hpp>
NAX_ABI' | "${zig[@]}" c++ -target "$target" -std=c++20 "-I$root/include" -E -P -x c++ - | tail -n 1)
  linked=(-DNAX_LINKED "-DNAX_LINKED_FOR_$name=1" "${machine[@]:2}")
  compile "forty$suffix" "${linked[@]}" "$root/tests/platforms/forty.cpp" "${engine[@]}"
  expect forty "$(cat "$root/tests/platforms/forty.txt")"

  if [[ $target == *macos* ]]; then
    # Names of zlib's functions, which macOS has, for the linker.
    mkdir -p "$folder/lib"
    printf '%s\n' '--- !tapi-tbd' 'tbd-version: 4' 'targets: [x86_64-macos, arm64-macos]' "install-name: '/usr/lib/libz.1.dylib'" \
      'exports:' '  - targets: [x86_64-macos, arm64-macos]' \
      '    symbols: [_crc32, _inflate, _inflateEnd, _inflateInit2_, _inflateReset, _gzopen, _gzread, _gzclose, _gzerror, _gzbuffer]' \
      '...' >"$folder/lib/libz.tbd"
    compile mnist_mlp "${linked[@]}" "-I$root/examples" "$root"/examples/{mnist_mlp,support/{download,drawn_digits,mnist,mnist_options}}.cpp \
      "${engine[@]}" "-L$folder/lib" -lz
  elif [[ -e $googletest/src/gtest-all.cc ]]; then
    compile gtest.o "-I$googletest" -isystem "$googletest/include" -c "$googletest/src/gtest-all.cc"
    for test in kernels fuzz; do
      compile "${test}_test$suffix" "${linked[@]}" "${tested[@]}" "$root/tests/formula/${test}_test.cpp" "$googletest/src/gtest_main.cc" \
        "$folder/gtest.o" "${engine[@]}"
      expect "${test}_test" 'tests.' --gtest_brief=1
    done
  fi
done
exit $failed
