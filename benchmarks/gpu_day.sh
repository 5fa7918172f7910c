#!/usr/bin/env bash
# Measurements for an hour on a card: correctness, then the bandwidth of each kind of kernel, then training steps. Each step's
# result goes into out/gpu_day/gpu_day.json at once. A call ends after --seconds; the next goes on where it ended.
#
#   gpu_day.sh                 the next slice
#     --seconds 600            how long a slice is: a step that would begin later waits for the next call
#     --peak 3350              gigabytes a second of the card's memory, for the shares; the default is an H100's
#     --dry-run                lists the steps, and runs none
#     --emulated               the bandwidth's program on the emulated device, with small arrays: a test of this program
#     --out FOLDER             where to (out/gpu_day)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for argument in "$@"; do
  if [[ $argument == -h || $argument == --help ]]; then sed -n '/^# /s/^# //p; /^#$/s/.*//p' "${BASH_SOURCE[0]}" && exit; fi
done
exec python3 "$root/benchmarks/peers/gpu_day.py" "$@"
