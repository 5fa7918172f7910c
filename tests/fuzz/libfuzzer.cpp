#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz.hpp"

// The seeds as libFuzzer wants them: files in a folder, the last of its arguments.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static std::string folder = (std::filesystem::temp_directory_path() / "nax_fuzz_XXXXXX").string();
  fuzz::must(::mkdtemp(folder.data()) != nullptr, "no folder for the seeds");
  std::atexit([] {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  });
  int n = 0;
  for (const fuzz::Bytes& seed : fuzz::seeds())
    std::ofstream(folder + "/" + std::to_string(n++), std::ios::binary)
        .write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
  static std::vector<char*> arguments(*argv, *argv + *argc);
  bool has_inputs = false;  // a file of the user's is tried alone
  for (std::size_t i = 1; i < arguments.size(); ++i) has_inputs |= arguments[i][0] != '-';
  if (!has_inputs) arguments.push_back(folder.data());
  *argc = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  *argv = arguments.data();
  return 0;
}
