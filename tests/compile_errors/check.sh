#!/usr/bin/env bash
# check.sh <source> <compiler> <flag>...: the source is wrong, and the compiler says what its first line asks for, in
# ten lines, as it says things when nobody asks it to be brief (code and carets are among the lines).
source=$1
shift
wanted=$(sed -n '1s,^// says: ,,p' "$source")
if said=$(LC_ALL=C "$@" -fsyntax-only "$source" 2>&1); then
  echo "$source compiles, but should not"
  exit 1
fi
lines=$(wc -l <<< "$said")
if ((lines > 10)) || [[ -z $wanted || $said != *"$wanted"* ]]; then
  printf '%s\n' "$said" "--- $lines lines, of ten; wanted: $wanted"
  exit 1
fi
