#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "nax/core/error.hpp"
#include "nax/storage.hpp"
#include "storage/loopback.hpp"
#include "support/refusal.hpp"

// A store on the loopback with a small object and a large one.
namespace storage_tests {
using namespace nax;

inline std::string pseudo_random(std::size_t size) {
  std::string text(size, '\0');
  std::uint32_t x = 1;
  for (char& c : text) c = static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  return text;
}
inline std::string as_string(const io::Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

class Fixture : public ::testing::Test {
 protected:
  Fixture() {
    for (const char* name :
         {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"})
      ::unsetenv(name);
    ::setenv("AWS_SHARED_CREDENTIALS_FILE", "/no/such/file", 1);
    ::setenv("AWS_ENDPOINT_URL_S3", server.base().c_str(), 1);
    ::setenv("GS_ENDPOINT_URL", server.base().c_str(), 1);
    storage::configure(quick());
    server.objects["/bucket/a/one"] = "hello";
    server.objects["/bucket/a/large"] = large;
    server.objects["/bucket/empty"] = "";
  }
  static storage::Options quick() {
    storage::Options options;
    options.backoff = 0.001;
    options.part_bytes = 1000;
    options.timeout = 5;
    return options;
  }
  std::string error_of(const std::string& address) {
    return refusal<IoError>([&] { storage::read(address); });
  }
  const std::string large = pseudo_random(123'457);
  Loopback server;
};

}  // namespace storage_tests
