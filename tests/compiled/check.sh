#!/usr/bin/env bash
# check.sh <compiler> <include> <eigen>: the library holds every function that is marked as its own
set -euo pipefail
compiler=$1
cd "$2"
# Functions in headers that the library's engine does not read would have no definition. Some are read for processors with
# products of bfloat16 only.
flags=()
if [[ $(uname -m) == x86_64 ]]; then flags=(-march=cooperlake); fi
reached=$("$compiler" -std=c++20 "${flags[@]}" -I. -isystem "$3" -M nax/compiled/{engine,functions,modules,exporting}.cpp | tr ' \\' '\n\n' | grep '^nax/' | sort -u)
marked=$(grep -rlE 'NAX_ENGINE|NAX_COMPILED_ONCE' nax --include='*.hpp' | sort)
# Another system's half of core/os is read there.
missing=$(comm -13 <(echo "$reached") <(echo "$marked") | grep -v '^nax/core/os/windows-inl.hpp$' || true)
[[ -z $missing ]] || { echo "these say NAX_ENGINE, and the engine does not include them:"; echo "$missing"; exit 1; }
[[ $(wc -l <<<"$marked") -gt 50 ]]
