#!/usr/bin/env bash
# faults.sh MPIRUN PROGRAM COUNT SEED: runs COUNT programs of several processes, with a fault in one process of each. Every
# program must end within its time, with right results or a named error, and with no memory changed.
set -uo pipefail
mpirun=$1 program=$2 count=$3
RANDOM=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
export NAX_COLLECTIVE_TIMEOUT_S=3

faults=(kill stop pause term exit throw fork)
bad=0
for ((n = 0; n < count; ++n)); do
  fault=${faults[n % 7]} np=$((2 + RANDOM % 3)) seed=$RANDOM step=$((RANDOM % 12)) devices=$((1 + RANDOM % 2))
  rank=$((RANDOM % np))
  places=(between inside anywhere)
  case $fault in
    throw) places=(inside) ;;
    stop | exit | fork) places=(between inside) ;;
  esac
  place=${places[RANDOM % ${#places[@]}]}
  ending=(shutdown return)
  ending=${ending[RANDOM % 2]}
  # One that returns waits for the others, as long as they take. (Where one is stopped in MPI_Finalize the others
  # end, and mpirun waits for it.)
  [[ $fault == stop ]] && ending=shutdown
  began=$SECONDS
  timeout -k 5 40 "$mpirun" --oversubscribe --allow-run-as-root -np "$np" \
    "$program" "$fault" "$place" "$rank" "$step" "$seed" "$devices" "$ending" >"$folder/out" 2>&1
  code=$? took=$((SECONDS - began)) right=$(grep -c "^all right" "$folder/out")
  why=""
  ((code == 124 || took >= 40)) && why="did not end"
  grep -Eq "WRONG|signal 11|signal 6|signal 7|corrupt|double free|invalid pointer" "$folder/out" && why="went wrong"
  if ((code == 0)); then
    ((right == np)) || grep -q "ERROR" "$folder/out" || why="ended well, without the results"
  else
    grep -Eq "ERROR|ends all processes|distributed::|signal (9|15)|Killed|Terminated|exited with non-zero|exited on signal|exit code: *[13]" \
      "$folder/out" || why="named no error"
  fi
  # A process outside the job's failure must not end the others.
  [[ $fault == throw || $fault == fork ]] && ((right != np || code != 0)) && why="ended other processes"
  [[ -n ${VERBOSE:-} ]] && echo "$n: $fault $place rank $rank of $np step $step seed $seed devices $devices $ending: code $code, $took s"
  [[ -z $why ]] && continue
  bad=$((bad + 1))
  echo "$why: $fault $place $rank $step $seed $devices $ending, $np processes: code $code, $took s"
  head -c 3000 "$folder/out"
done
echo "$count faults, $bad of them bad"
exit $((bad > 0))
