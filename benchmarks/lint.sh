#!/usr/bin/env bash
# Sweeps the functions of lint/functions.txt at a million elements and at a hundred, values and gradients, one thread, next to
# their namesakes in NumPy, JAX and PyTorch. Prints a Markdown table by the ratio to the best of these, and what is above 1.5.
#
#   lint.sh                    all functions
#     --jit                    beside themselves under jit, of float and double at 262144 elements and 64: what takes more than 1.1
#                              of the plain call's time or memory, what is not recorded, what a call costs
#     --filter RE              only rows (such as exp@100, exp.grad@1000000) that match
#     --rounds N --seconds S   how often every side has its turn, and how long (3, 0.05)
#     --program FILE           nax's side, built already
#
# The peers are those that NAX_PEERS_PYTHON (or python3) can import; it needs NumPy. Missing peers are left out, with a message.
# The build folder is build/benchmarks (or NAX_BENCHMARKS_BUILD).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${NAX_PEERS_PYTHON:-python3}
program='' arguments=() filter='' jit=''
while (($#)); do
  case $1 in
    -h | --help) sed -n '/^# /s/^# //p; /^#$/s/.*//p' "${BASH_SOURCE[0]}" && exit ;;
    --program) program=$2 && shift ;;
    --jit) jit=yes ;;
    --filter) filter=$2 && arguments+=("$1" "$2") && shift ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
[[ $jit ]] || "$python" -c 'import numpy' || { echo "$python has no NumPy: set NAX_PEERS_PYTHON" >&2; exit 1; }
if [[ ! $program ]]; then
  source "$root/scripts/packages.sh"
  source "$root/benchmarks/support/packages.sh"
  need_packages build
  rows=lint_rows
  [[ $jit ]] && rows=lint_jit
  program=$(build_benchmarks "$rows")/$rows
fi
[[ $jit ]] && LINT_FILTER=$filter exec env NAX_NUM_THREADS=1 "$program"
exec "$python" "$root/benchmarks/lint/sweep.py" --program "$program" "${arguments[@]}"
