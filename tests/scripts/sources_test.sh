#!/usr/bin/env bash
# The form of the sources, as far as text shows it:
# - headers include only folders that come before their own in CONTRIBUTING.md's list; bodies (x-inl.hpp) are not headers;
# - test files of a folder can be compiled as one source: each has a namespace of its own, and undefines its macros;
# - only core/os includes headers of the operating system;
# - locks are free in a child of fork(), but those of threads, devices, requests and passes in progress;
# - no line begins as a directive of C++20's modules would, which nvcc refuses;
# - docs/environment.md explains every environment variable;
# - numbers are read from arrays (item()) where host_reads.txt says so, and no more often;
# - kernels of the host are called through operations, but for the paths in a table of docs/how_it_works.md;
# - comments begin with a verb or a thing (not with "What", "The same", "Whoever"), and speak of no "somebody".
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
failed=0
fail() { echo "$*"; failed=1; }

# Folders of include/nax, the lowest first.
mapfile -t folders < <(sed -n '/<!-- folders -->/,/<!-- end -->/p' CONTRIBUTING.md | grep -o '`[a-z_/]*`' | tr -d '`')
((${#folders[@]} > 20)) || fail "CONTRIBUTING.md: the list of folders was not found"
declare -A rank
for i in "${!folders[@]}"; do rank[${folders[i]}]=$i; done
folder_of() { # the name in the list of the folder of a path below include/nax
  local path=$1
  case $path in
    backend/*/* | devices/*/* | modules/*/*) local inner=${path#*/} && echo "${path%%/*}/${inner%%/*}" ;;
    *) echo "${path%%/*}" ;;
  esac
}
while IFS=: read -r file _ include; do
  file=${file#include/nax/}
  target=${include#*\"nax/} target=${target%\"*}
  [[ $file == */* && $target == */* && $target != *-inl.hpp ]] || continue # umbrella headers, bodies
  from=$(folder_of "$file") to=$(folder_of "$target")
  if [[ -z ${rank[$from]:-} ]]; then fail "$file: the folder $from is not in CONTRIBUTING.md's list"; continue; fi
  if [[ -z ${rank[$to]:-} ]]; then fail "$file: the folder $to is not in CONTRIBUTING.md's list"; continue; fi
  if ((rank[$to] > rank[$from])); then fail "$file: includes nax/$target, whose folder comes after $from"; fi
done < <(grep -rn --include=*.hpp '^#include "nax/' include/nax)

# Test files.
declare -A owner
while read -r file; do
  space=$(sed -n 's/^namespace \([a-z_0-9:]*\) {.*/\1/p' "$file" | head -n 1)
  if [[ -z $space ]]; then
    fail "$file: no namespace of its own (namespace ${file##*/}, say)"
  else
    key=$(dirname "$file"):$space
    [[ -z ${owner[$key]:-} ]] || fail "$file: its namespace $space is that of ${owner[$key]}"
    owner[$key]=$file
  fi
  if grep -q '^namespace {' "$file"; then fail "$file: an unnamed namespace is shared with its neighbours"; fi
  while read -r macro; do
    grep -q "^#undef $macro\$" "$file" || fail "$file: defines $macro and does not undefine it"
  done < <(sed -n 's/^ *# *define \([A-Za-z_0-9]*\).*/\1/p' "$file" | sort -u)
done < <(find tests -name '*_test.cpp' ! -path 'tests/cpu/*' | sort) # tests/cpu is compiled file by file

# Kernels of the host are called by operations (backend) and expressions; elsewhere where a table says why. Types of kernels and of
# reducers, which functions of an element type provide, call nothing.
table=$(sed -n '/^| direct path to the host /,/^$/p' docs/how_it_works.md)
while read -r file; do
  sed 's://.*::' "$file" | tr '\n' ' ' |
    sed -E 's/cpu::provide(_reducer)?<[^;{]*\(\);//g; s/cpu::(reduce_op::|sortable_t|Scratch<|detail::parallel_grain)//g' | grep -q 'cpu::' || continue
  grep -qF "\`${file#include/nax/}\`" <<<"$table" ||
    fail "$file: calls the host's kernels, and no row of docs/how_it_works.md (direct path to the host) names it"
done < <(grep -rl --include=*.hpp 'cpu::' include/nax | grep -vE '^include/nax/(backend|ops|expr|formula|program|devices|compiled)/')
while read -r file; do
  [[ -e include/nax/$file ]] || fail "docs/how_it_works.md: a direct path to the host is in include/nax/$file, which is not there"
done < <(grep -o '`[a-z_0-9/]*\.hpp`' <<<"$table" | tr -d '`')

# What systems do differently stands in one place, and no file reads windows.h, whose macros would reach users.
while read -r line; do fail "$line: headers of the system belong in core/os"; done < <(
  grep -rnE '^ *# *include <(unistd|pthread|windows|winbase|windef|dirent|dlfcn|fcntl|io|malloc|poll|process|sched|signal|spawn|time|sys/[a-z_]+)\.h>' \
    include/nax | grep -v '^include/nax/core/os/' || true)
while read -r line; do fail "$line: windows.h is not included"; done < <(grep -rnE '<(windows|windef|winbase)\.h>' include/nax || true)

# Extensions of GCC and clang that MSVC lacks stand beside its forms (core/compiler.hpp). Text that nax writes is not its own.
while read -r line; do fail "$line: use core/compiler.hpp or core/overflow.hpp"; done < <(
  grep -rnE '__builtin_(add|sub|mul)_overflow|__builtin_(prefetch|popcount)|__int128|__PRETTY_FUNCTION__|vector_size|__attribute__\(\((always_inline|noinline, noclone)' \
    include/nax | grep -vE '^include/nax/(core/(compiler|overflow)|modules/exporting/c_helpers|backend/cpu/draws/threefry)\.hpp:' || true)

# Such a child has no threads, and uses no devices.
while read -r line; do fail "$line: a lock is a ForkMutex (core/at_fork.hpp)"; done < <(
  grep -rnE 'std::[a-z_]*mutex\b' include/nax | grep -vE '(lock_guard|unique_lock|shared_lock)<std::' |
    grep -vE '^include/nax/(devices/|parallel/(threads|device_threads)|core/(at_fork|graph_memory)|modules/(data/workers|storage/roles|neighbours/nax_hnsw)|expr/differentiation/shares_together|transform/jit/graph_cache)' || true)

while read -r line; do fail "$line: begins as a directive of modules does"; done < <(
  grep -rnE --include=*.{hpp,cpp,cu} '^ *(export +)?(module|import)( *[;(<"]| +[a-zA-Z_])' include tests examples benchmarks || true)

# Every variable that headers or sources read is explained.
while read -r variable; do
  grep -q "\`$variable\`" docs/environment.md || fail "docs/environment.md does not explain $variable"
done < <(grep -rhoE --include=*.hpp --include=*.cpp --include=*.cu '"(NAX|AWS|CURL|SSL|PMIX|PMI|AZURE)_[A-Z_]+"' include/nax | tr -d '"' | sort -u)

# What a transform or a recording may follow is no number of the host: it stays an array, an operand of the call.
while read -r file count allowed; do
  ((count == allowed)) || fail "$file: reads $count numbers by item(), and tests/scripts/host_reads.txt allows $allowed"
done < <(
  join -a 1 -a 2 -e 0 -o 0,1.2,2.2 \
    <(grep -rE --include=*.hpp '(\.|->)item\(\)' include/nax | sed 's|//.*||' | grep -E '(\.|->)item\(\)' |
      grep -vE '"[^"]*item\(\)' | sed 's|^include/nax/||; s/:.*//' | sort | uniq -c | awk '{print $2, $1}' | sort) \
    <(grep -v '^#' tests/scripts/host_reads.txt | awk '{print $1, $2}' | sort))

readonly texts=(include/nax tests cmake examples benchmarks scripts) opening='(What|The same|Whoever|Those that|That of)'
readonly kinds=(--include=*.{hpp,cpp,cu,cmake,py,sh} --include=CMakeLists.txt --exclude=sources_test.sh)
while read -r line; do fail "$line"; done < <(grep -rnE "${kinds[@]}" "^ *(//|#|\"\"\") ?$opening\b" "${texts[@]}" || true)
while read -r line; do fail "$line"; done < <(
  grep -rniE "${kinds[@]}" '\b(any|every|no|some)body\b|\bwhoever\b' "${texts[@]}" | grep -v CURLOPT || true)
exit $failed
