#!/usr/bin/env bash
# tests/turn.sh, with a cmake and a ctest that are played: the date chooses, a build may be cut short, a hanging test fails.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
pretend() { printf '#!/usr/bin/env bash\n%s\n' "$2" >"$scratch/$1" && chmod +x "$scratch/$1"; }
turn() { # turn <day> <seconds> <argument>...: status and output of tests/turn.sh on that day
  status=0
  output=$(PATH=$scratch:$PATH NAX_TURN_DAY=$1 NAX_TURN_SECONDS=$2 bash "$here/../turn.sh" "${@:3}" 2>&1) || status=$?
}
expect() {
  [[ $status == "$1" && $output == *"$2"* ]] || { echo "$3: status $status, output: $output"; exit 1; }
}

listing='[[ " $* " == *" -N "* ]] && { echo "  Test #1: a_test_NOT_BUILT-x"; echo "  Test #2: b_test_NOT_BUILT-y"; exit; }'
version='[[ $1 == --version ]] && { echo cmake version 3.25.1; exit; }'
pretend clang++ 'exit 0'
pretend cmake "$version"'; exit 0'
pretend ctest "$listing"'; echo "ran: $*"'
turn 0 60
expect 0 "turn: clang: built 2 of 2 programs: a_test b_test" "all is built"
expect 0 "ran: --preset clang" "what is built runs"
turn 1 60
expect 0 "turn: asan: built 2" "another day, another preset"
turn 10 60
expect 0 "built 2 of 2 programs: b_test a_test" "another day, another program first"
turn 1 60 --part emulations
expect 0 "turn: emulations: built 2 of 2 programs: b_test a_test" "a part of a preset that is named"

pretend cmake "$version"'; [[ " $* " == *" --target b_test "* ]] && sleep 60; exit 0'
turn 0 2
expect 0 "turn: clang: left for another day: b_test" "a build that takes too long is left"
expect 0 "a_test" "and what was built before it runs"

pretend cmake "$version"'; [[ " $* " == *" --target b_test "* ]] && exit 1; exit 0'
turn 0 60
expect 1 "turn: clang: b_test does not build" "a build that fails"

pretend cmake "$version"'; exit 0'
pretend ctest "$listing"'; echo "1 - a_test.Hangs (Timeout)"; exit 8'
turn 0 60
expect 8 "(Timeout)" "a test that hangs"
