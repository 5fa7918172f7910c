#!/usr/bin/env bash
# scripts/packages.sh on machines that lack things, played by a PATH of few commands and a pretended apt-get.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

mkdir "$scratch/bin"
for tool in bash sed sort head env; do ln -s "$(command -v $tool)" "$scratch/bin/$tool"; done
pretend() { printf '#!/usr/bin/env bash\n%s\n' "$2" >"$scratch/bin/$1" && chmod +x "$scratch/bin/$1"; }
need() { # need <group>...: status and output of need_packages there
  status=0
  output=$(PATH=$scratch/bin CXX=c++ bash -c 'source "$0"; need_packages "$@"' "$here/../../scripts/packages.sh" "$@" 2>&1) ||
    status=$?
}
expect() {
  [[ $status == "$1" && $output == *"$2"* ]] || { echo "$3: status $status, output: $output"; exit 1; }
}

pretend id 'echo 1000'
pretend cmake 'echo cmake version 3.25.1'
pretend apt-get "echo \"\$*\" >>$scratch/apt.log"
need build tests
expect 1 "sudo apt-get install -y g++ ninja-build libeigen3-dev zlib1g-dev libgtest-dev" "neither root nor sudo"
need examples
expect 1 "sudo apt-get install -y libcli11-dev nlohmann-json3-dev" "the examples' packages"
[[ ! -e $scratch/apt.log ]] || { echo "apt-get was called without leave"; exit 1; }

pretend sudo 'exit 1'
need build tests
expect 1 "sudo apt-get install -y g++" "sudo that asks for a password"

pretend id 'echo 0'
need build tests
expect 0 "installing g++ ninja-build libeigen3-dev zlib1g-dev libgtest-dev" "root"
[[ $(wc -l <"$scratch/apt.log") == 1 ]] || { echo "one call of apt-get was enough: $(cat "$scratch/apt.log")"; exit 1; }

pretend apt-get "[[ \$1 == update ]] && : >$scratch/lists; [[ -e $scratch/lists ]]"
need build tests
expect 0 "installing" "root, with package lists that are out of date"

pretend apt-get "exit 100"
need build tests
expect 1 "apt-get could not install g++" "root, with no network"

pretend c++ 'exit 0'
pretend ninja 'exit 0'
need build tests
expect 0 "" "everything there"

pretend cmake 'echo cmake version 3.22.1'
need build tests
expect 1 "CMake 3.25 or newer is needed" "an old CMake"
