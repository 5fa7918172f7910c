#!/usr/bin/env bash
# initialisers.sh <compiler> <nm> <include> <eigen>: an object that only includes nax.hpp holds nothing of nax: no variable that is set
# before main begins, which would drag what sets it into every object.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
echo '#include <nax/nax.hpp>' >"$scratch/empty.cpp"
"$1" -std=c++20 -O1 -I"$3" -isystem "$4" -c "$scratch/empty.cpp" -o "$scratch/empty.o"
found=$("$2" -C "$scratch/empty.o" | grep nax:: || true)
[[ -z $found ]] || { echo "an object that only includes nax.hpp holds:"; echo "$found"; exit 1; }
