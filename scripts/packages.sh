# Sourced by the run.sh scripts: `need_packages build tests` makes sure that what they build with is there. Missing packages are
# installed by apt where that needs no password (as root, or by sudo without one); otherwise the exact command is printed and the
# script ends with status 1. apt is not called if nothing is missing.

has_command() { command -v "$1" >/dev/null 2>&1; }

# has_header <header>: the compiler finds it, also in the places CMake is told of
has_header() {
  local prefix flags=(-I/usr/include/eigen3 -I/usr/local/include/eigen3)
  local IFS=':;'
  for prefix in ${CMAKE_PREFIX_PATH:-}; do flags+=("-I$prefix/include" "-I$prefix/include/eigen3"); done
  echo "#include <$1>" | "${CXX:-c++}" "${flags[@]}" -E -x c++ - >/dev/null 2>&1
}

has_library() { echo 'int main() {}' | "${CXX:-c++}" -x c++ - "-l$1" -o /dev/null 2>/dev/null; }

# missing_packages <group>...: the Debian packages to install, one a line
missing_packages() {
  local group
  for group in "$@"; do
    case $group in
      build)
        has_command "${CXX:-c++}" || echo g++
        has_command cmake || echo cmake
        has_command ninja || echo ninja-build
        has_header Eigen/Core || echo libeigen3-dev
        has_header zlib.h || echo zlib1g-dev
        ;;
      tests) has_header gtest/gtest.h || echo libgtest-dev ;;
      components)
        has_header curl/curl.h || echo libcurl4-openssl-dev
        has_header jpeglib.h || echo libjpeg-dev
        has_header png.h || echo libpng-dev
        has_library lapack || echo liblapack-dev
        has_header xbyak/xbyak.h || echo libxbyak-dev
        has_header hnswlib/hnswlib.h || echo libhnswlib-dev
        ;;
      examples)  # options and logs of the examples that train
        has_header CLI/CLI.hpp || echo libcli11-dev
        has_header nlohmann/json.hpp || echo nlohmann-json3-dev
        has_header httplib.h || echo libcpp-httplib-dev
        has_command pkg-config || echo pkg-config
        ;;
      peers)  # peers and tools that the tests compare nax with or check its sources by
        has_command python3 || echo python3
        has_command mpirun || printf '%s\n' libopenmpi-dev openmpi-bin
        has_command nginx || echo nginx-light
        has_command clang-format || echo clang-format
        has_command clang-tidy || echo clang-tidy
        ;;
      download)
        has_command curl || echo curl
        [[ -e /etc/ssl/certs/ca-certificates.crt || -e /etc/pki/tls/certs/ca-bundle.crt || -e /etc/ssl/cert.pem ]] ||
          echo ca-certificates
        ;;
    esac
  done
}

# build_jobs: how many compilers may run at once: as many as there are processors, and 2.4 GB of free memory for each, which factorisations take
build_jobs() {
  local jobs free
  jobs=$(nproc 2>/dev/null || echo 1)
  free=$(awk '/^MemAvailable/ {print int($2 / 2400000)}' /proc/meminfo 2>/dev/null || true)
  if [[ $free ]] && ((free < jobs)); then jobs=$((free > 1 ? free : 1)); fi
  echo "$jobs"
}

need_packages() {
  local packages sudo=()
  mapfile -t packages < <(missing_packages "$@")
  if ((${#packages[@]})); then
    if [[ $(id -u) != 0 ]]; then sudo=(sudo -n); fi
    if ! has_command apt-get || { ((${#sudo[@]})) && ! sudo -n true >/dev/null 2>&1; }; then
      {
        echo "These are missing, and installing them takes an administrator:"
        echo
        echo "    sudo apt-get install -y ${packages[*]}"
        echo
        echo "(the names are Debian's and Ubuntu's; elsewhere install what they stand for)"
      } >&2
      exit 1
    fi
    echo "installing ${packages[*]}" >&2
    local install=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends)
    # Updates the package lists only if installing fails: a new machine has none, an old one has outdated ones.
    "${install[@]}" "${packages[@]}" >/dev/null 2>&1 ||
      { "${sudo[@]}" apt-get update -qq && "${install[@]}" "${packages[@]}" >/dev/null; } ||
      { echo "apt-get could not install ${packages[*]}" >&2; exit 1; }
  fi

  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*//p')
  if [[ $(printf '3.25\n%s\n' "$version" | sort -V | head -n 1) != 3.25 ]]; then
    echo "CMake 3.25 or newer is needed, $(command -v cmake) is $version (pip install cmake, or https://cmake.org)" >&2
    exit 1
  fi
}
