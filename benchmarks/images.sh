#!/usr/bin/env bash
# Trains on 2000 JPEGs in a store of objects on this machine whose every answer is 50 ms late: read and decoded in the loop, and
# by a pipeline of threads, a cache on disk and batches made ahead. Prints what each epoch took and how much of it the loop waited
# for data, and draws both as timelines.
#
#   images.sh [--latency S] [--size N] [--hidden N] [--epochs N] [--threads N]    (0.05, 96, 1024, 4, 16)
#     --out FOLDER    for plain.svg, pipeline.svg and images.md (out/images)
#
# The build folder is build/benchmarks (or NAX_BENCHMARKS_BUILD).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
latency=0.05 size=96 hidden=1024 epochs=4 threads=16 out=$root/out/images
while (($#)); do
  case $1 in
    --latency) latency=$2 ;;
    --size) size=$2 ;;
    --hidden) hidden=$2 ;;
    --epochs) epochs=$2 ;;
    --threads) threads=$2 ;;
    --out) out=$2 ;;
    *) sed -n '/^# /s/^# //p; /^#$/s/.*//p' "${BASH_SOURCE[0]}" && exit ;;
  esac
  shift 2
done
source "$root/scripts/packages.sh"
source "$root/benchmarks/support/packages.sh"
need_packages build components
build=$(build_benchmarks train_images)
program=$build/../examples/train_images
mkdir -p "$out"
scratch=$(mktemp -d)
trap 'exec {server[1]}>&- 2>/dev/null || true; rm -rf "$scratch"' EXIT

images=${TMPDIR:-/tmp}/nax_drawn_images
[[ -e $images/complete ]] || "$program" --epochs 1 --size 8 --hidden 1 >/dev/null # draws them
mkdir "$scratch/bucket"
cp -r "$images"/class* "$scratch/bucket/"
coproc server { python3 "$root/benchmarks/support/object_server.py" "$scratch/bucket" --latency "$latency"; }
read -r address <&"${server[0]}"
export AWS_ENDPOINT_URL_S3=$address AWS_ACCESS_KEY_ID=none AWS_SECRET_ACCESS_KEY=none AWS_REGION=us-east-1

run() { # run <name> <options of train_images>...
  local name=$1
  shift
  "$program" --data s3://images --size "$size" --hidden "$hidden" --trace "$scratch/$name.json" "$@" >"$scratch/$name.txt"
  python3 "$root/scripts/timeline.py" "$scratch/$name.json" -o "$out/$name.svg"
  grep '^epoch' "$scratch/$name.txt"
}
{
  printf '%s, %s cores, %s; %s s latency, %s x %s pixels, hidden layers of %s.\n' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
    "$(nproc)" "$(date +%F)" "$latency" "$size" "$size" "$hidden"
  printf '\nRead and decoded in the loop:\n\n```text\n%s\n```\n' "$(run plain --input plain --epochs 1)"
  printf '\n%s threads, a cache on disk, four batches ahead:\n\n```text\n%s\n```\n' "$threads" \
    "$(run pipeline --input pipeline --epochs "$epochs" --threads "$threads" --cache "$scratch/cache")"
} | tee "$out/images.md"
