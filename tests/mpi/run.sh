#!/usr/bin/env bash
# run.sh MPIRUN PROGRAM TEST [MNIST_MLP]: runs one of the tests below and prints what went wrong.
set -uo pipefail
mpirun=$1 program=$2 test=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1

die() { echo "$*"; cat "$folder"/* 2>/dev/null; exit 1; }
start() { timeout 250 "$mpirun" --oversubscribe --allow-run-as-root -np "$@"; }
# ends COUNT SECONDS TASK PATTERN: the processes fail in time by themselves, and one prints PATTERN
ends() {
  local began=$SECONDS
  start "$1" "$program" "$3" >"$folder/out" 2>&1 && die "$3: nothing was wrong"
  ((SECONDS - began <= $2)) || die "$3: took $((SECONDS - began)) seconds"
  grep -Eq "$4" "$folder/out" || die "$3: no process printed $4"
}

case $test in
  all1) start 1 "$program" all 2 || die "failed" ;;
  all2) start 2 "$program" all 2 || die "failed" ;;
  all3) start 3 "$program" all 1 || die "failed" ;;
  uneven) start 3 "$program" uneven 1 || die "failed" ;;
  one) env -u OMPI_COMM_WORLD_SIZE "$program" all 3 || die "failed" ;;
  train) # two processes of two devices, and four of one, have the losses of one with four
    "$program" train 4 >"$folder/1x4" || die "one process failed"
    start 2 "$program" train 2 >"$folder/2x2" || die "two processes failed"
    start 4 "$program" train 1 >"$folder/4x1" || die "four processes failed"
    for other in 2x2 4x1; do
      paste "$folder/1x4" "$folder/$other" | awk '
        { d = $1 - $2; if (d < 0) d = -d; if (NF != 2 || d > 1e-5) bad = 1 }
        END { exit bad || NR != 30 }' || die "losses differ"
    done
    ;;
  mnist) # the example: two processes of two devices, and one of four
    small="--hidden 32 --epochs 1 --batch-size 1200 --activation tanh"
    # shellcheck disable=SC2086
    "$4" $small --devices 4 --log "$folder/1x4" >"$folder/out" || die "one process failed"
    # shellcheck disable=SC2086
    start 2 "$4" $small --devices 2 --log "$folder/2x2" >"$folder/out" || die "two processes failed"
    paste <(grep -o '"loss": .*}' "$folder/1x4" | tr -dc '0-9.e\n-') <(grep -o '"loss": .*}' "$folder/2x2" | tr -dc '0-9.e\n-') |
      awk '{ d = $1 - $2; if (d < 0) d = -d; if (NF != 2 || d > 1e-5) bad = 1 } END { exit bad || NR != 50 }' ||
      die "losses differ" ;;
  last) # correct programs succeed, in whichever order processes leave the last collective
    for ((n = 0; n < 20; ++n)); do
      start 4 "$program" last 1 >"$folder/out" 2>&1 || die "run $n failed"
    done
    ;;
  late) NAX_COLLECTIVE_TIMEOUT_S=1 ends 3 30 late "ends all processes, which are out of step: psum: "
    [[ $(grep -c "arrays are as they were" "$folder/out") == 2 ]] || die "arrays have changed" ;;
  throw) ends 2 30 throw "the program of one process broke" ;;
  killed) ends 2 30 killed "(process rank 1|signal 9|process 1).*" ;;
  return) ends 2 30 return "pmap: process 1 .*has ended, while others wait for it" ;;
  stuck) NAX_COLLECTIVE_TIMEOUT_S=2 ends 3 30 stuck "pmap: waited 2 seconds \(NAX_COLLECTIVE_TIMEOUT_S\) for process 2" ;;
  caught) # the program catches the error and returns: the job ends, though a process is stuck
    NAX_COLLECTIVE_TIMEOUT_S=2 ends 3 30 caught "ends all processes, which are out of step: .*waited 2 seconds" ;;
  own) # likewise where the program initialises MPI and ends it
    NAX_COLLECTIVE_TIMEOUT_S=2 ends 3 30 own "ends all processes, which are out of step: .*waited 2 seconds" ;;
  absent) NAX_COLLECTIVE_TIMEOUT_S=2 ends 3 30 absent "distributed::initialize: waited 2 seconds" ;;
  repeated) start 3 "$program" repeated 2 || die "failed" ;;
  fork) start 3 "$program" fork 2 || die "failed" ;;
  unlinked) # a launcher that started several, and MPI that sees one
    SLURM_STEP_NUM_TASKS=4 "$program" all >"$folder/out" 2>&1 && die "nothing was wrong"
    grep -q "the launcher started 4 processes (SLURM_STEP_NUM_TASKS), but this is one alone" "$folder/out" ||
      die "no process printed the reason"
    RANK=1 WORLD_SIZE=4 "$program" all >"$folder/out" 2>&1 && die "nothing was wrong"
    grep -q "the launcher started 4 processes (WORLD_SIZE), but this is one alone" "$folder/out" ||
      die "no process printed the reason" ;;
esac
