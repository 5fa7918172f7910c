#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "nax/core/error.hpp"

// Compiles the texts of kernels by the host's compiler, and opens them.
namespace host_text {

#if defined(NAX_TEST_COMPILER)
inline constexpr const char* compiler = NAX_TEST_COMPILER;
#else
inline constexpr const char* compiler = "c++";
#endif

class Library {
 public:
  // Throws DeviceError with the compiler's messages.
  explicit Library(const std::string& text) {
    namespace fs = std::filesystem;
    char folder[] = "/tmp/nax-text-XXXXXX";
    if (!mkdtemp(folder)) throw nax::DeviceError("mkdtemp");
    const fs::path at(folder);
    std::ofstream(at / "text.cpp") << text;
    const std::string command =
        std::string(compiler) + " -std=c++17 -O2 -ffp-contract=off -shared -fPIC -o " +
        (at / "text.so").string() + " " + (at / "text.cpp").string() + " 2> " + (at / "log").string();
    const bool compiled = std::system(command.c_str()) == 0;
    if (compiled) library_ = dlopen((at / "text.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    std::ifstream log_file(at / "log");
    const std::string log{std::istreambuf_iterator<char>(log_file), std::istreambuf_iterator<char>()};
    fs::remove_all(at);
    if (!library_) throw nax::DeviceError("a text does not compile: " + log);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  using Call = void (*)(const void* words);
  Call call(const std::string& name) const { return reinterpret_cast<Call>(dlsym(library_, name.c_str())); }

 private:
  void* library_ = nullptr;  // stays open: graphs and caches may hold its functions
};

}  // namespace host_text
