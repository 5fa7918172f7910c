#!/usr/bin/env bash
# bash same_losses.sh PART COMMAND COMMAND: runs two commands of an example that trains, each with a log. Fails unless both
# succeed, their losses agree step by step, and the last tenth of the losses has at most PART times the mean of the first tenth.
set -euo pipefail
part=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
shift
for i in 1 2; do
  $1 --log "$scratch/$i.jsonl" >"$scratch/$i.txt" 2>&1 || { cat "$scratch/$i.txt"; echo "$1: failed"; exit 1; }
  sed -n 's/.*"loss":\([-+.0-9einfa]*\).*/\1/p' "$scratch/$i.jsonl" >"$scratch/$i.losses"
  shift
done
paste "$scratch/1.losses" "$scratch/2.losses" | awk -v part="$part" '
  NF != 2 { print "step " NR ": not two losses: " $0; bad = 1; exit }
  { off = $1 - $2; size = $1 < 0 ? -$1 : $1; loss[NR] = $1 }
  !(off * off <= (1e-3 * size) ^ 2) { print "step " NR ": losses differ: " $1 " and " $2; bad = 1; exit }
  END {
    if (bad) exit 1
    n = int((NR + 9) / 10)
    for (i = 1; i <= n; ++i) { first += loss[i] / n; last += loss[NR + 1 - i] / n }
    if (NR < 2 || !(last <= part * first)) { print NR " steps: the losses are " first " at first and " last " at last"; exit 1 }
    print NR " steps: the losses are " first " at first and " last " at last"
  }'
