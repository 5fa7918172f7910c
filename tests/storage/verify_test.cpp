// Bytes are checked against the store's checksums: of whole objects, of parts, ETags.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "nax/data.hpp"
#include "nax/modules/storage/checksums.hpp"
#include "storage/fixture.hpp"

namespace storage_verify {
using namespace nax;
using storage_tests::as_string;
using Fault = Loopback::Fault;

class StorageVerify : public storage_tests::Fixture {
 protected:
  // Every answer is flipped, then every third.
  void expect_checked(const std::string& address, const std::string& content) {
    auto options = quick();
    options.retries = 2;
    storage::configure(options);
    server.fault = nullptr;
    EXPECT_EQ(as_string(storage::read(address)), content);
    server.fault = [](int) { return Fault::wrong_byte; };
    EXPECT_NE(error_of(address).find("the checksum is wrong (tried 3 times)"), std::string::npos)
        << error_of(address);
    options.verify = false;
    storage::configure(options);
    EXPECT_NE(as_string(storage::read(address)), content);
    int requests = 0;
    server.fault = [&](int) { return requests++ == 0 ? Fault::wrong_byte : Fault::none; };
    storage::configure(quick());
    EXPECT_EQ(as_string(storage::read(address)), content);
  }
};

TEST(StorageSums, KnownValues) {
  using namespace nax::storage::detail;
  const std::string digits = "123456789";
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(digits.data());
  EXPECT_EQ(crc64nvme(bytes, digits.size()), 0xae8b14860a799888u);
  EXPECT_EQ(sum_text(crc32c_sum(bytes, digits.size()), true), "e3069283");
  const auto md5 = [](const std::string& text) {
    return sum_text(md5_sum(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), true);
  };
  EXPECT_EQ(md5(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(md5(std::string(55, 'a')), "ef1772b6dff9a122358552954ad0df65");
  EXPECT_EQ(md5(std::string(56, 'a')), "3b0c8ac703f828b04c6c197006d17218");
  EXPECT_EQ(md5(std::string(64, 'a')), "014842d480b571495a4a0363793f7367");
}

// Digests are equal with and without SHA instructions, for known values and all lengths, in pieces.
TEST(StorageSums, Sha256IsEqualByAllWays) {
  using namespace nax::storage::detail;
  const auto digest = [](const std::string& text, sha256_rounds::MixAll* mix, std::size_t piece) {
    Sha256 hash(mix);
    for (std::size_t at = 0; at < text.size(); at += piece)
      hash.add(text.data() + at, std::min(piece, text.size() - at));
    return hex(hash.finish());
  };
  for (sha256_rounds::MixAll* const mix : {sha256_rounds::mix_all, sha256_rounds::fastest()}) {
    EXPECT_EQ(digest("abc", mix, 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(digest("", mix, 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(digest(std::string(1'000'000, 'a'), mix, 1000),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
  const std::string text = storage_tests::pseudo_random(400);
  for (std::size_t n = 0; n <= text.size(); ++n)
    EXPECT_EQ(digest(text.substr(0, n), sha256_rounds::fastest(), 77),
              digest(text.substr(0, n), sha256_rounds::mix_all, 400))
        << n;
}

TEST_F(StorageVerify, EtagOfWhatWasUploadedAtOnce) {
  server.etags["/bucket/a/one"] = "5d41402abc4b2a76b9719d911017c592";
  expect_checked("s3://bucket/a/one", "hello");
}

TEST_F(StorageVerify, EtagOfAnObjectReadInParts) {
  server.etags["/bucket/a/large"] = "d2e3e6b1506a950b3daeff58c60447c8";
  expect_checked("s3://bucket/a/large", large);
}

TEST_F(StorageVerify, EtagOfWhatWasUploadedInParts) {
  server.etags["/bucket/a/large"] = "920013b283657eea4ffa9168c7fc84ac-3";
  server.part_bytes = 50'000;
  expect_checked("s3://bucket/a/large", large);
}

TEST_F(StorageVerify, SumsOfTheWholeAndOfParts) {
  server.head_headers = {{"x-amz-checksum-crc64nvme", "u2pXqG41cXM="}};
  expect_checked("s3://bucket/a/large", large);
  server.head_headers = {{"x-amz-checksum-sha256", "yDOw+rTTQo0M7E9+d/Eemus46WQHGGL2Ml50vGrrUYw="}};
  expect_checked("s3://bucket/a/large", large);
  server.head_headers = {{"x-amz-checksum-crc32", "9H5GNA==-3"}};
  server.part_bytes = 50'000;
  expect_checked("s3://bucket/a/large", large);
}

// An ETag that is no MD5 is no error: encrypted objects, parts of different sizes, other stores' own.
TEST_F(StorageVerify, OtherEtagsAreNotChecksums) {
  for (const char* etag : {"0123", "d2e3e6b1506a950b3daeff58c60447c8-7", "W/x"}) {
    server.etags["/bucket/a/large"] = etag;
    server.part_bytes = 50'000;
    EXPECT_EQ(as_string(storage::read("s3://bucket/a/large")), large) << etag;
  }
  server.etags["/bucket/a/large"] = "00000000000000000000000000000000";
  server.more_headers = {{"x-amz-server-side-encryption", "aws:kms"}};
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/large")), large);
  server.more_headers.clear();
  EXPECT_EQ(as_string(storage::read("gs://bucket/a/large")), large);
  EXPECT_EQ(as_string(storage::read(server.base() + "/bucket/a/large")), large);
}

TEST_F(StorageVerify, RequestsAskForChecksumsWithAndWithoutKeys) {
  storage::read("s3://bucket/a/one");
  EXPECT_EQ(server.seen().at(0).headers.at("x-amz-checksum-mode"), "ENABLED");
  EXPECT_EQ(server.seen().at(0).headers.count("range"), 1u);
  ::setenv("AWS_ACCESS_KEY_ID", "ID", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  storage::read("s3://bucket/a/one");
  ::unsetenv("AWS_ACCESS_KEY_ID");
  const auto headers = server.seen().back().headers;
  EXPECT_EQ(headers.at("x-amz-checksum-mode"), "ENABLED");
  EXPECT_NE(headers.at("authorization").find("x-amz-checksum-mode"), std::string::npos);
}

// A disk cache of elements made from objects depends on the objects' versions.
TEST_F(StorageVerify, CachesOfElementsKnowTheObjectsVersions) {
  const std::string folder = ::testing::TempDir() + "nax_versions" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  for (const int objects : {2, 12}) {  // asked for one by one, and by a list
    std::vector<std::string> addresses;
    for (int i = 0; i < objects; ++i) {
      const std::string name = "/bucket/many/" + std::to_string(i);
      server.objects[name] = "old", server.etags[name] = "one-" + std::to_string(i);
      addresses.push_back("s3:/" + name);
    }
    const auto first = [&] {
      const auto text = [](const io::Bytes& bytes) { return as_string(bytes); };
      return *data::from_files(addresses, text).cache(folder).iterator().next();
    };
    EXPECT_EQ(first(), "old");
    server.objects["/bucket/many/0"] = "new";
    EXPECT_EQ(first(), "old");  // the store says that it is the same
    server.etags["/bucket/many/0"] = "two";
    EXPECT_EQ(first(), "new");
  }
  EXPECT_EQ(server.seen().back().query, "");
}

TEST_F(StorageVerify, CachedObjectsAreCheckedWhenTheyAreRead) {
  const std::string folder = ::testing::TempDir() + "nax_checked" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  auto options = quick();
  options.cache = folder;
  storage::configure(options);
  for (const std::size_t at : {9, 17, 24, 5000}) {
    storage::read("s3://bucket/a/large");
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::fstream file(entry.path(), std::ios::in | std::ios::out);
      file.seekg(static_cast<std::streamoff>(at));
      const char flipped = static_cast<char>(file.get() ^ 1);
      file.seekp(static_cast<std::streamoff>(at)).put(flipped);
    }
    const int before = server.requests();
    EXPECT_EQ(as_string(storage::read("s3://bucket/a/large")), large);
    EXPECT_GT(server.requests(), before);
  }
}

TEST_F(StorageVerify, AFullDiskUnderTheCacheIsReportedOnce) {
  const std::string folder = ::testing::TempDir() + "nax_full" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  auto options = quick();
  options.cache = folder;
  storage::configure(options);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(as_string(storage::read("s3://bucket/a/large")), large);
  const std::string said = ::testing::internal::GetCapturedStderr();
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(said, "storage: the cache '" + folder +
                      "' cannot be written to: File too large; reading goes on without it\n");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

}  // namespace storage_verify
