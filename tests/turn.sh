#!/usr/bin/env bash
# bash tests/turn.sh [preset]: builds and tests what tests/run.sh does not: the whole preset, or, without a name, a part of one.
# bash tests/turn.sh --part preset: a part of this one.
# `arm` and `zig` are tests/arm.sh and tests/zig.sh, which need no preset.
#
# The date chooses the part: ten presets take turns day by day, and each begins with another program on each of its days.
# Programs are built one by one for NAX_TURN_SECONDS (600); those not reached are listed. Only building is cut short: a test
# that fails or hangs fails the turn. NAX_TURN_DAY (days since 1970) stands in for the date.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages.sh"
need_packages build tests
cd "$root"

if (($# == 1)); then
  if [[ $1 == arm || $1 == zig ]]; then exec bash "tests/$1.sh"; fi
  cmake --preset "$1"
  cmake --build --preset "$1" --parallel "$(build_jobs)"
  exec ctest --preset "$1" --parallel "$(nproc)"
fi

day=${NAX_TURN_DAY:-$(($(date +%s) / 86400))}
presets=(clang asan headers tsan cuda mingw arm zig libcxx portable)
preset=${presets[day % ${#presets[@]}]} turns=$((day / ${#presets[@]}))
if [[ ${1:-} == --part ]]; then preset=$2 turns=$day; fi
missing=""
if [[ $preset == clang ]] && ! has_command clang++; then missing=clang++; fi
if [[ $preset == cuda ]] && ! PATH=$PATH:/usr/local/cuda/bin has_command nvcc; then missing=nvcc; fi
if [[ $preset == mingw ]]; then
  has_command x86_64-w64-mingw32-g++-posix || missing=g++-mingw-w64-x86-64-posix
  [[ -e /usr/x86_64-w64-mingw32/lib/libz.a ]] || missing=libz-mingw-w64-dev
  [[ -e /usr/src/googletest/CMakeLists.txt ]] || missing=libgtest-dev
  has_command wine64 || has_command wine || [[ -x /usr/lib/wine/wine64 ]] || missing=wine64
fi
if [[ $preset == arm ]]; then
  has_command aarch64-linux-gnu-g++ || missing=g++-aarch64-linux-gnu
  has_command qemu-aarch64 || has_command qemu-aarch64-static || missing=qemu-user
fi
if [[ $preset == zig ]] && ! python3 -m ziglang version >/dev/null 2>&1; then missing="ziglang (by pip)"; fi
if [[ $preset == zig && ! ( -e /usr/include/eigen3 && -e /usr/include/zlib.h ) ]]; then missing="Eigen or zlib in /usr/include"; fi
if [[ $preset == libcxx ]] && ! echo '#include <version>' | clang++ -stdlib=libc++ -x c++ -E - >/dev/null 2>&1; then missing=libc++-dev; fi
if [[ ( $preset == arm || $preset == libcxx ) && ! -e /usr/src/googletest/CMakeLists.txt ]]; then missing=libgtest-dev; fi
if [[ $preset == portable && $(uname -m) != x86_64 ]]; then missing="a processor of x86-64"; fi
if [[ $missing ]]; then
  echo "turn: $preset: nothing was built, since $missing is not installed"
  exit 0
fi

if [[ $preset == arm || $preset == zig ]]; then
  status=0
  timeout "${NAX_TURN_SECONDS:-600}" bash "tests/$preset.sh" --part "$turns" || status=$?
  if ((status == 124)); then
    echo "turn: $preset: cut short"
    exit 0
  fi
  exit "$status"
fi

cmake --preset "$preset"
# A program of GoogleTest has a test of this name until it is built.
mapfile -t programs < <(ctest --preset "$preset" -N | sed -n 's/.*: \([a-z]*\.\)\?\(.*\)_NOT_BUILT.*/\2/p' | sort -u)
if [[ $preset == headers ]]; then programs=(headers_test "${programs[@]}"); fi
if [[ $preset == portable ]]; then programs=(portable_test "${programs[@]}"); fi
count=${#programs[@]}
if ((count == 0)); then
  echo "turn: $preset: every program is built; run ctest --preset $preset"
  exit 0
fi
first=$((turns * 7 % count))
programs=("${programs[@]:first}" "${programs[@]:0:first}")
if [[ $preset == mingw || $preset == libcxx ]]; then programs=(first_test forty_test "${programs[@]}"); fi
count=${#programs[@]}

built=()
end=$((SECONDS + ${NAX_TURN_SECONDS:-600}))
for program in "${programs[@]}"; do
  ((SECONDS < end)) || break
  status=0
  timeout $((end - SECONDS)) cmake --build --preset "$preset" --target "$program" || status=$?
  if ((status == 124)); then break; fi
  if ((status)); then
    echo "turn: $preset: $program does not build"
    exit 1
  fi
  built+=("$program")
done
echo "turn: $preset: built ${#built[@]} of $count programs: ${built[*]}"
if ((${#built[@]} < count)); then echo "turn: $preset: left for another day: ${programs[*]:${#built[@]}}"; fi
if ((${#built[@]} == 0)); then exit 0; fi
ctest --preset "$preset" --parallel "$(nproc)" -R "^([a-z]*\.)?($(IFS='|'; echo "${built[*]}"))(\.|$)"
