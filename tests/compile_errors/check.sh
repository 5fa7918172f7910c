#!/usr/bin/env bash
# check.sh <source> <compiler> <flag>...: checks that compiling the source fails, and that the first ten lines of the default
# diagnostics (code and carets included) contain the text that the source's first line names.
source=$1
shift
wanted=$(sed -n '1s,^// says: ,,p' "$source")
if said=$(LC_ALL=C "$@" -fsyntax-only "$source" 2>&1); then
  echo "$source compiles, but should not"
  exit 1
fi
# (Of a dropped result GCC says besides where the function and its type are declared.)
[[ $source != *_dropped.cpp ]] || said=${said%%$'\nIn file included'*}
lines=$(wc -l <<< "$said")
if ((lines > 10)) || [[ -z $wanted || $said != *"$wanted"* ]]; then
  printf '%s\n' "$said" "--- $lines lines, of ten; wanted: $wanted"
  exit 1
fi
