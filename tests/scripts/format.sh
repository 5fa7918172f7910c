#!/usr/bin/env bash
# format.sh <clang-format> <root>: fails with a list of the sources that clang-format would change.
set -euo pipefail
cd "$2"
find include tests examples benchmarks -regex '.*\.\(hpp\|cpp\|cu\|cuh\|h\)' -print0 |
  xargs -0 -n 64 -P "$(nproc)" "$1" --dry-run -Werror
