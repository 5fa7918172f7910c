#!/usr/bin/env bash
# bash tests/turn.sh [preset]: builds and tests what tests/run.sh does not: all of one preset, or, where none is named, a fifth
# of one. The number of commits says which, so that in the course of 25 of them every preset has built every program. What does
# not fit into NAX_TURN_SECONDS (600) is left to another turn; what fails fails.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages.sh"
need_packages build tests
cd "$root"

if (($#)); then
  cmake --preset "$1"
  cmake --build --preset "$1"
  exec ctest --preset "$1" --parallel "$(nproc)"
fi

commits=$(git rev-list --count HEAD 2>/dev/null || echo 0)
presets=(clang asan headers tsan cuda)
preset=${presets[commits % 5]}
part=$((commits / 5 % 5))
missing=""
if [[ $preset == clang ]] && ! has_command clang++; then missing=clang++; fi
if [[ $preset == cuda ]] && ! PATH=$PATH:/usr/local/cuda/bin has_command nvcc; then missing=nvcc; fi
if [[ $missing ]]; then
  echo "turn: the preset $preset needs $missing, which is not here"
  exit 0
fi

# in_time <command>...: status 0 also where the time was too short
in_time() {
  local status=0
  timeout $((${NAX_TURN_SECONDS:-600} - SECONDS)) "$@" || status=$?
  if ((status == 124)); then
    echo "turn: $preset, part $((part + 1)) of 5, took longer than it may: the rest is for another time"
    exit 0
  fi
  return "$status"
}

cmake --preset "$preset"
# programs of GoogleTest have tests of this name until they are built
mapfile -t programs < <(ctest --preset "$preset" -N | sed -n 's/.*: \(cuda\.\)\?\(.*\)_NOT_BUILT.*/\2/p' | sort -u | awk -v part=$part 'NR % 5 == part')
if [[ $preset == headers ]]; then programs=(headers_test); fi
if ((${#programs[@]} == 0)); then
  echo "turn: $preset has no program in part $((part + 1)) of 5"
  exit 0
fi
echo "turn: $preset, part $((part + 1)) of 5: ${programs[*]}"
in_time cmake --build --preset "$preset" --target "${programs[@]}"
in_time ctest --preset "$preset" --parallel "$(nproc)" -R "^(cuda\.)?($(IFS='|'; echo "${programs[*]}"))(\.|$)"
