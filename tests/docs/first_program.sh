#!/bin/sh
# first_program.sh <page> <command>...: gives the page's first block of C++ to a command
page=$1
shift
awk '/^```cpp/ {inside = 1; next} /^```/ {if (inside) exit} inside' "$page" | "$@"
