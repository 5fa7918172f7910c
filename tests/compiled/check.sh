#!/usr/bin/env bash
# check.sh <compiler> <include> <eigen>: the library holds every function that is marked as its own
set -euo pipefail
compiler=$1
cd "$2"
# What nax.hpp does not read is not in the library, which would leave its functions without a definition.
reached=$(echo '#include <nax/nax.hpp>' | "$compiler" -std=c++20 -I. -isystem "$3" -M -x c++ - | tr ' \\' '\n\n' | grep '^nax/' | sort -u)
marked=$(grep -rlE 'NAX_ENGINE|NAX_COMPILED_ONCE' nax --include='*.hpp' | sort)
missing=$(comm -13 <(echo "$reached") <(echo "$marked"))
[[ -z $missing ]] || { echo "these say NAX_ENGINE, and nax.hpp does not include them:"; echo "$missing"; exit 1; }
[[ $(wc -l <<<"$marked") -gt 50 ]]
