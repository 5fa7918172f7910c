#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "nax/io/file.hpp"
#include "support/text_of.hpp"

// Helpers of the tests of files: unique names, and bytes written to disk without nax.
namespace files {

using nax::io::Bytes;

inline std::string path_of(const std::string& name) {
  return testing::TempDir() + "nax_" + std::to_string(::getpid()) + "_" + name;
}
inline std::string golden(const char* name) { return std::string(NAX_GOLDENS_DIR "/").append(name); }

inline void write(const std::string& path, const Bytes& bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr) << path;
  EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
  std::fclose(file);
}
inline Bytes read(const std::string& path) { return nax::io::detail::read_file("test", path); }

// Expects f to throw an IoError whose text has this part.
template <class F>
void expect_refused(const F& f, const std::string& part) {
  const std::string text = text_of<nax::IoError>(f);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace files
