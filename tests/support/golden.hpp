#pragma once

// Reads the golden records that tests/goldens/*.py wrote: two lines each, `name dtype ndim d0 d1 ...` and the
// values. The standard library only, so that a test may compare anything against them.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace golden {

struct Golden {
  std::string dtype;                // f32, f64, f16, bf16, i8 ... u64, bool, c64, c128
  std::vector<std::int64_t> shape;  // empty for 0-d
  std::vector<double> values;       // row-major; a complex element is two doubles
};

// The folder tests/goldens: that named by NAX_GOLDENS_DIR in the environment, for programs that run on
// another machine than the one that compiled them, else the one of the definition.
inline std::string folder() {
  const char* const named = std::getenv("NAX_GOLDENS_DIR");
  return named && *named ? named : NAX_GOLDENS_DIR;
}

// The records of tests/goldens/<suite>.txt, read once. Throws std::runtime_error where the file is missing or
// broken.
inline const std::map<std::string, Golden>& goldens(const char* suite) {
  static std::mutex mutex;
  static std::map<std::string, std::map<std::string, Golden>> suites;
  const std::lock_guard<std::mutex> lock(mutex);
  if (const auto found = suites.find(suite); found != suites.end()) return found->second;
  // (In steps: of a sum of strings GCC 12 believes, for paths of some lengths, that it copies beyond the
  // end.)
  std::string path = folder();
  path.append("/").append(suite).append(".txt");
  std::ifstream file(path);
  if (!file) throw std::runtime_error("goldens: cannot open " + path);
  std::map<std::string, Golden> records;
  for (std::string head, line; std::getline(file, head) && std::getline(file, line);) {
    std::istringstream words(head);
    std::string name;
    std::size_t ndim = 0;
    Golden record;
    words >> name >> record.dtype >> ndim;
    record.shape.resize(ndim);
    std::size_t size = record.dtype[0] == 'c' ? 2 : 1;
    for (auto& d : record.shape) {
      words >> d;
      size *= static_cast<std::size_t>(d);
    }
    const char* at = line.c_str();
    for (char* end = nullptr;; at = end) {
      const double value = std::strtod(at, &end);  // reads nan, inf and -0 too
      if (end == at) break;
      record.values.push_back(value);
    }
    if (!words || record.values.size() != size)
      throw std::runtime_error("goldens: broken record " + name + " in " + path);
    records.emplace(name, std::move(record));
  }
  return suites.emplace(suite, std::move(records)).first->second;
}

// One record; throws std::runtime_error naming it where there is none.
inline const Golden& get(const char* suite, const std::string& name) {
  const auto& records = goldens(suite);
  if (const auto found = records.find(name); found != records.end()) return found->second;
  throw std::runtime_error("goldens: " + std::string(suite) + " has no record " + name);
}

}  // namespace golden
