// nax::storage against nginx and moto's S3, behind a proxy that fails. servers.py starts them, passes their
// addresses in the environment, and runs this.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "nax/core/error.hpp"
#include "nax/io/file.hpp"
#include "nax/storage.hpp"
#include "support/refusal.hpp"

namespace servers_test {
using namespace nax;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

class Servers : public ::testing::Test {
 protected:
  void SetUp() override {
    if (folder.empty()) GTEST_SKIP() << "tests/storage/servers.py starts the servers";
    ::setenv("AWS_ENDPOINT_URL_S3", environment("NAX_TEST_S3").c_str(), 1);
    configure({});
  }
  static void configure(storage::Options options) {
    options.backoff = 0.01;
    options.part_bytes = 100'000;
    options.retries = 20;
    storage::configure(options);
  }
  // The objects of the server, by name.
  std::string original(const std::string& name) const {
    const auto bytes = io::detail::read_file("test", folder + "/" + name);
    return {bytes.begin(), bytes.end()};
  }
  static std::string read(const std::string& address) {
    const auto bytes = storage::read(address);
    return {bytes.begin(), bytes.end()};
  }
  static std::string error_of(const std::string& address) {
    return refusal<IoError>([&] { storage::read(address); });
  }
  const std::string folder = environment("NAX_TEST_OBJECTS");
};
const char* const names[] = {"large.bin", "empty", "a folder/with+signs &=%20/\xc3\xbc.bin"};

TEST_F(Servers, SignedObjectsOfS3) {
  for (const char* name : names) {
    EXPECT_EQ(read(std::string("s3://bucket/") + name), original(name)) << name;
    // Of these the store has checksums.
    EXPECT_EQ(read(std::string("s3://bucket/sha256/") + name), original(name)) << name;
  }
  EXPECT_NE(error_of("s3://bucket/none").find("answers 404 (NoSuchKey)"), std::string::npos);
  EXPECT_NE(error_of("s3://nobucket/none").find("answers 404 (NoSuchBucket)"), std::string::npos);
}

TEST_F(Servers, ListsOfS3) {
  const auto many = storage::list("s3://bucket/many/");
  ASSERT_EQ(many.size(), 1200u);
  EXPECT_EQ(many.front().address, "s3://bucket/many/0000 &+");
  EXPECT_EQ(many.back().address, "s3://bucket/many/1199 &+");
  for (std::size_t i : {0u, 999u, 1000u, 1199u})
    EXPECT_EQ(read(many[i].address), "number " + std::to_string(i));
  const auto odd = storage::list("s3://bucket/a folder/");
  ASSERT_EQ(odd.size(), 1u);
  EXPECT_EQ(odd[0].address, std::string("s3://bucket/") + names[2]);
  EXPECT_EQ(odd[0].size, static_cast<std::int64_t>(original(names[2]).size()));
}

// At once, and in three parts of which the last is small.
TEST_F(Servers, UploadsToS3) {
  storage::Options options;
  options.upload_part_bytes = 5 << 20;
  options.verify = false;  // moto's CRC32C is another number without its own library
  configure(options);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1000}, std::size_t{11'000'000}}) {
    io::Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * i >> 7);
    storage::write("s3://bucket/uploads/a &b", bytes);
    EXPECT_EQ(storage::read("s3://bucket/uploads/a &b"), bytes) << size;
  }
}

TEST_F(Servers, AWrongSecretIsRefused) {
  const std::string secret = environment("AWS_SECRET_ACCESS_KEY");
  ::setenv("AWS_SECRET_ACCESS_KEY", "wrong", 1);
  const std::string error = error_of("s3://bucket/large.bin");
  ::setenv("AWS_SECRET_ACCESS_KEY", secret.c_str(), 1);
  EXPECT_EQ(error, "storage::read: 's3://bucket/large.bin': the server answers 403 (SignatureDoesNotMatch)");
}

TEST_F(Servers, RangesAndTlsOfNginx) {
  const std::string http = environment("NAX_TEST_HTTP"), https = environment("NAX_TEST_HTTPS");
  EXPECT_EQ(read(http + "/large.bin"), original("large.bin"));
  EXPECT_EQ(read(https + "/large.bin"), original("large.bin"));
  EXPECT_EQ(read(https + "/empty"), "");
  EXPECT_EQ(read(https + "/moved"), original("large.bin"));  // to another address
  EXPECT_NE(error_of(https + "/none").find("answers 404"), std::string::npos);
  const std::string bundle = environment("AWS_CA_BUNDLE");
  ::unsetenv("AWS_CA_BUNDLE");
  const std::string error = error_of(https + "/large.bin");
  ::setenv("AWS_CA_BUNDLE", bundle.c_str(), 1);
  EXPECT_NE(error.find("certificate"), std::string::npos) << error;
  EXPECT_EQ(error.find("tried"), std::string::npos) << error;  // permanent: no retries
}

// The proxy cuts, truncates, answers 503, and is 200 ms late, as the number of the connection says.
TEST_F(Servers, EveryFaultIsOvercome) {
  ::setenv("AWS_ENDPOINT_URL_S3", environment("NAX_TEST_FAULTY_S3").c_str(), 1);
  EXPECT_EQ(storage::list("s3://bucket/many/").size(), 1200u);
  for (int i = 0; i < 5; ++i)
    for (const char* name : names) {
      EXPECT_EQ(read(std::string("s3://bucket/") + name), original(name)) << name;
      if (name == names[2]) continue;  // an address of http is as it is
      EXPECT_EQ(read(environment("NAX_TEST_FAULTY_HTTP") + "/" + name), original(name)) << name;
    }
}

}  // namespace servers_test
