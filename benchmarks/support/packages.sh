# Sourced by run.sh and compare.sh, after scripts/packages.sh.

# need_benchmark_packages <package>...: what the benchmarks need on top, from apt where that may be asked
need_benchmark_packages() {
  local package missing=()
  for package in "$@"; do
    case $package in
      libbenchmark-dev) has_header benchmark/benchmark.h || missing+=("$package") ;;
      python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=("$package") ;;
    esac
  done
  ((${#missing[@]})) || return 0
  if [[ $(id -u) == 0 ]] && has_command apt-get; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
  else
    printf 'These are missing, and installing them takes an administrator:\n\n    sudo apt-get install -y %s\n' \
      "${missing[*]}" >&2
    exit 1
  fi
}

# build_benchmarks <target>...: builds them and prints the folder they are in; `benchmark_options`, where set, are CMake's
build_benchmarks() {
  local build=${NAX_BENCHMARKS_BUILD:-$root/build/benchmarks}
  if [[ ! -e $build/build.ninja ]]; then
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DNAX_BUILD_BENCHMARKS=ON \
      -DNAX_BUILD_TESTS=OFF "${benchmark_options[@]}" >&2
  fi
  cmake --build "$build" -j "${NAX_BUILD_JOBS:-$(nproc)}" --target "$@" >&2
  echo "$build/benchmarks"
}
