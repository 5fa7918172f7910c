#!/usr/bin/env bash
# closures.sh <compiler> <include> <eigen> <budget>: headers read at most as many lines of nax as the budget says, and no Eigen where
# the engine is linked
set -euo pipefail
compiler=$1 eigen=$3 budget=$4
cd "$2"
status=0
while read -r header way _ most; do
  [[ $header && $header != '#'* ]] || continue
  flags=()
  if [[ $way == engine ]]; then flags=(-DNAX_COMPILED); fi
  read=$(echo "#include <$header>" | "$compiler" -std=c++20 "${flags[@]}" -I. -isystem "$eigen" -M -x c++ - | tr ' \\' '\n\n' | sort -u)
  lines=$(grep '^nax/' <<<"$read" | xargs cat | wc -l)
  if ((lines > most || lines < most / 2)); then
    echo "$header, $way: $lines lines, $most in the budget"
    status=1
  fi
  if [[ $way == engine ]] && grep "^$eigen/Eigen" <<<"$read"; then
    echo "$header, $way: reads Eigen"
    status=1
  fi
done <"$budget"
exit $status
