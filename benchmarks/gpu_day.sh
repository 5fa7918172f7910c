#!/usr/bin/env bash
# Thirty minutes with a card (an H100 or H200): which of nax's code for GPUs is right, and how fast it is. The machine with the card
# needs Python and a driver; its programs are compiled elsewhere and taken there.
#
#   gpu_day.sh --pack          here: builds the programs and packs them, goldens, MNIST (NAX_MNIST_DIR) and headers into out/gpu_pack
#     --programs a,b           builds and packs these anew, and keeps what else the pack holds (--list names them)
#     --seconds 3600           begins no other program after so long
#   gpu_day.sh                 there: the next steps; results after each in out/gpu_day
#     --seconds 570            how long a call takes: a step that does not fit is left to the next
#     --only STEP              this step, done or not
#     --results FOLDER         where results are copied to after each step: gpu_day.json, gpu_day.md, gpu_day.log, ncu.csv
#     --peak 3350              gigabytes a second of the card's memory, for the shares; the default is an H100's or an H200's
#     --cards N                as if there were N cards: so many are emulated
#     --list                   programs and steps; runs nothing
#   gpu_day.sh --docs          puts gpu_day.md into docs/gpu.md
#
#     --emulated               emulated GPUs and small arrays, in out/gpu_pack_emulated and out/gpu_day_emulated: tries this program out
#     --pack-folder FOLDER, --out FOLDER    other folders than these
#
# A call does first the steps that no call has tried, then those that failed or that ran with another program than the pack's.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for argument in "$@"; do
  if [[ $argument == -h || $argument == --help ]]; then sed -n '/^# /s/^# //p; /^#$/s/.*//p' "${BASH_SOURCE[0]}" && exit; fi
done
exec python3 "$root/benchmarks/peers/gpu_day.py" "$@"
