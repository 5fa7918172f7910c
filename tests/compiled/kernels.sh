#!/usr/bin/env bash
# kernels.sh <nm> <library> <object>...: no object defines a kernel of the CPU that the library has. A linker takes the first that it
# meets, the object's, which may not be optimised, for the whole program.
set -euo pipefail
nm=$1 library=$2
shift 2
# Functions of nax::cpu, by their mangled names: _ZN3nax<length><instructions>3cpu...
kernels() { "$nm" --defined-only "$@" 2>/dev/null | awk '$2 ~ /^[TW]$/ {print $3}' | grep -E '^_ZNK?3nax[0-9]+[a-z0-9]+_?[A-Za-z0-9]*3cpu[0-9]' | sort -u; }
all=$(kernels "$library")
[[ $(wc -l <<<"$all") -gt 500 ]] || { echo "$library: where are its kernels?"; exit 1; }
status=0
for object in "$@"; do
  common=$(comm -12 <(kernels "$object" || true) <(echo "$all") | c++filt | grep -v 'throw_no_kernel(' || true)
  if [[ $common ]]; then
    printf '%s defines\n%s\n' "$object" "$common"
    status=1
  fi
done
exit $status
