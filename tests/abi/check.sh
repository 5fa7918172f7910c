#!/usr/bin/env bash
# check.sh shared <nm> <object> <object>   no function or variable of nax is the linker's to choose between the two
# check.sh starts <program>...             each runs on an emulated processor that lacks the other file's instructions
# check.sh chosen <nm> <program> <object>...  the program takes the kernels that NAX_ISA and the processor allow, and prints the
#                                          same numbers with all; the objects of kernels define nothing else for other files
# check.sh names <compiler> <include>      sets of instructions that differ have names that differ
# check.sh refused <compiler> <include>    flags that would make its numbers wrong, in words
# check.sh headers <include>               every header opens nax by that name, and knows it
set -euo pipefail
mode=$1
shift

emulator=$(command -v qemu-x86_64 || command -v qemu-x86_64-static || true)
weak() { "$1" --defined-only "$2" | awk '$2 ~ /^[WVu]$/ {print $3}' | sort -u; }

case $mode in
  shared)
    common=$(comm -12 <(weak "$1" "$2") <(weak "$1" "$3") | c++filt)
    echo "$(grep -c . <<<"$common") names are in both, of the standard library and Eigen"
    # Names of the standard library may be instantiated for types of nax, so any mention counts.
    if grep 'nax::' <<<"$common"; then exit 1; fi
    if weak "$1" "$2" | grep NAX_ABI; then exit 1; fi
    ;;
  starts)
    [[ $emulator ]] || { echo "skipped: there is no qemu-x86_64 (apt-get install qemu-user)"; exit 77; }
    for program in "$@"; do "$emulator" -cpu Nehalem "$program"; done
    ;;
  chosen)
    nm=$1 program=$2
    shift 2
    for object in "$@"; do
      names=$("$nm" --defined-only --extern-only "$object" | awk '{print $3}')
      grep -q '^nax_kernels_x86_v' <<<"$names"
      if grep -vE '^nax_kernels_x86_v[34]$|^_ZN10nax_shared' <<<"$names"; then exit 1; fi
    done
    baseline=$(NAX_ISA=baseline "$program")
    [[ $(head -n 1 <<<"$baseline") == baseline ]]
    same() { # the numbers of what this prints, which took the kernels that its first line names
      local printed
      printed=$("$@")
      head -n 1 <<<"$printed"
      diff <(tail -n +2 <<<"$baseline") <(tail -n +2 <<<"$printed")
    }
    same "$program"
    took=$(NAX_ISA=x86-64-v3 same "$program")
    if grep -qw avx2 /proc/cpuinfo && [[ $took != x86-64-v3 ]]; then exit 1; fi
    if said=$(NAX_ISA=x86-64-v5 "$program" 2>&1); then exit 1; fi
    [[ $said == *"NAX_ISA: baseline, x86-64-v3 or x86-64-v4 expected"* ]]
    [[ $emulator ]] || { echo "not tried on an emulated processor: there is no qemu-x86_64 (apt-get install qemu-user)"; exit 0; }
    [[ $(same "$emulator" -cpu Nehalem "$program") == baseline ]]
    ;;
  names)
    declare -A names=()
    for flags in "" -msse3 -mssse3 -msse4.1 -msse4.2 -mpopcnt -mavx -mf16c -mavx2 "-mavx2 -mfma" "-mavx2 -mfma -mbmi2" -march=haswell \
                 "-march=haswell -mno-lzcnt" -march=skylake-avx512 -march=cascadelake -march=icelake-server "-march=icelake-server -mno-gfni" "-march=haswell -mavx512f"; do
      # shellcheck disable=SC2086
      name=$(echo NAX_ABI | "$1" -std=c++20 $flags "-I$2" -include nax/core/abi.hpp -E -P -x c++ - | tail -n 1)
      echo "$name: $flags"
      if [[ -n ${names[$name]+set} ]]; then echo "the same as of ${names[$name]}"; exit 1; fi
      names[$name]=$flags
    done
    [[ -n ${names[x86_v1]+set} && -n ${names[x86_v3]+set} && -n ${names[x86_v4]+set} && -n ${names[x86_v4I]+set} ]]
    ;;
  refused)
    for flags in -Ofast -ffast-math -ffinite-math-only "-ffast-math -fno-finite-math-only" -funsafe-math-optimizations \
                 "-fassociative-math -fno-signed-zeros -fno-trapping-math"; do
      # shellcheck disable=SC2086
      if said=$("$1" -std=c++20 -O2 $flags "-I$2" -include nax/core/abi.hpp -fsyntax-only -x c++ /dev/null 2>&1); then
        echo "$flags passes"
        exit 1
      elif [[ $said != *"nax: -f"*"(of "*"-ffast-math, -Ofast)"* ]]; then
        echo "$said"
        exit 1
      fi
    done
    targets=(-fno-rtti -fno-exceptions)
    if [[ $(uname -m) == x86_64 ]]; then targets+=(-m32 -mx32); fi
    for flag in "${targets[@]}"; do
      if said=$("$1" -std=c++20 "$flag" "-I$2" -Wfatal-errors -include nax/nax.hpp -fsyntax-only -x c++ /dev/null 2>&1); then
        echo "$flag passes"
        exit 1
      elif [[ $(head -n 3 <<< "$said") != *"nax: "*"${flag/mx/m}"* ]]; then
        echo "$flag: $said"
        exit 1
      fi
    done
    "$1" -std=c++20 -O3 -fno-math-errno -fno-trapping-math "-I$2" -include nax/core/abi.hpp -fsyntax-only -x c++ /dev/null
    ;;
  headers)
    cd "$1"
    if grep -rnE '^namespace nax(::[a-z_:]+)? \{' .; then
      echo "say NAX_BEGIN and NAX_END (core/abi.hpp)"
      exit 1
    fi
    ;;
esac
