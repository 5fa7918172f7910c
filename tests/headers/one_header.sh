#!/bin/sh
# one_header.sh <python> <folder> <compiler> <argument>...: compiles and runs README's first program with the one header of
# scripts/amalgamate.py alone.
set -e
python=$1 folder=$2
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$folder" && mkdir -p "$folder/nax"
"$python" "$root/scripts/amalgamate.py" --output "$folder/nax/nax.hpp"
! grep -q '#include ["<]nax/' "$folder/nax/nax.hpp"
sh "$root/tests/docs/first_program.sh" "$root/README.md" cat >"$folder/first.cpp"
"$@" -I"$folder" "$folder/first.cpp" -o "$folder/first"
"$folder/first" | grep -qx '7.5 -15.0 -5.0'
