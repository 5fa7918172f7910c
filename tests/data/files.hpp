#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "nax/io/file.hpp"
#include "support/refusal.hpp"

// Files that tests of data read and write.
namespace nax::testing {

inline std::string golden(const std::string& name) { return std::string(NAX_GOLDENS_DIR "/") + name; }
inline io::Bytes bytes_of(const std::string& path) { return io::detail::read_file("test", path); }
// Writes a file of this process; its path.
inline std::string file(const std::string& name, const io::Bytes& content) {
  const std::string path = ::testing::TempDir() + "nax_data_" + std::to_string(::getpid()) + name;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  return path;
}
// Expects f to throw a Kind whose text has this part.
template <class Kind>
void expect_error(const std::string& part, const auto& f) {
  const std::string text = refusal<Kind>(f);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace nax::testing
