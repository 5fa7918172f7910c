// Remote objects arrive complete and correct, or an error names them.
#include "nax/storage.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "nax/core/error.hpp"
#include "nax/modules/data/csv.hpp"
#include "nax/modules/data/example.hpp"
#include "nax/modules/data/tar.hpp"
#include "nax/modules/data/tfrecord.hpp"
#include "nax/modules/storage/object_cache.hpp"
#include "nax/modules/storage/signature.hpp"
#include "storage/fixture.hpp"

namespace storage_test {
using namespace nax;
using Fault = Loopback::Fault;

using storage_tests::as_string;
using storage_tests::pseudo_random;
class Storage : public storage_tests::Fixture {};

TEST(StorageParts, Sha256AndHmac) {
  using namespace nax::storage::detail;
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(hex(hmac("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

// The example of AWS's documentation: GET of an object with a range.
TEST(StorageParts, SignatureOfAKnownRequest) {
  using namespace nax::storage::detail;
  const Credentials by{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
  const auto headers = signed_headers(by, "us-east-1", "GET", "examplebucket.s3.amazonaws.com", "/test.txt",
                                      {}, 1369353600, {{"range", "bytes=0-9"}});
  ASSERT_EQ(headers.back().first, "authorization");
  EXPECT_EQ(headers.back().second,
            "AWS4-HMAC-SHA256 "
            "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;"
            "x-amz-content-sha256;x-amz-date,Signature="
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  const auto list = signed_headers(by, "us-east-1", "GET", "examplebucket.s3.amazonaws.com", "/",
                                   {{"max-keys", "2"}, {"prefix", "J"}}, 1369353600);
  EXPECT_NE(list.back().second.find("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
            std::string::npos);
}

TEST_F(Storage, ObjectsOfAllSizes) {
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello");
  EXPECT_EQ(as_string(storage::read("gs://bucket/a/large")), large);
  EXPECT_EQ(as_string(storage::read(server.base() + "/bucket/a/large")), large);
  EXPECT_EQ(as_string(storage::read("s3://bucket/empty")), "");
  for (const std::size_t size : {999, 1000, 1001, 2000, 2001}) {
    server.objects["/bucket/sized"] = pseudo_random(size);
    EXPECT_EQ(as_string(storage::read("s3://bucket/sized")), pseudo_random(size));
  }
  server.knows_ranges = false;
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/large")), large);
}

TEST_F(Storage, ConnectionsAreKept) {
  for (int i = 0; i < 20; ++i) storage::read("s3://bucket/a/one");
  EXPECT_EQ(server.requests(), 20);
  EXPECT_LE(server.connections(), 2);
}

TEST_F(Storage, AForkedChildMakesConnectionsOfItsOwn) {
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello");
  const int before = server.connections();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    bool right = true;
    for (int i = 0; i < 20; ++i) right = right && as_string(storage::read("s3://bucket/a/large")) == large;
    ::_exit(right ? 0 : 1);
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello");
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_GT(server.connections(), before);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their allocators end the process
TEST_F(Storage, SizesBeyondMemoryAreRefused) {
  server.other = [](const Loopback::Request&) {
    return "HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\nContent-Range: bytes "
           "0-4/4611686018427387904\r\n\r\nhello";
  };
  EXPECT_NE(error_of("s3://bucket/huge").find("'s3://bucket/huge' needs more memory than there is"),
            std::string::npos);
}
#endif

TEST_F(Storage, EveryFaultIsOvercome) {
  for (const Fault fault : {Fault::answer_503, Fault::cut_headers, Fault::cut_body, Fault::close_at_once}) {
    server.fault = [&](int request) { return request % 3 != 2 ? fault : Fault::none; };
    auto options = quick();
    options.retries = 30;
    storage::configure(options);
    EXPECT_EQ(as_string(storage::read("s3://bucket/a/large")), large) << static_cast<int>(fault);
    EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello");
  }
}

TEST_F(Storage, FaultsThatStayAreNamed) {
  server.fault = [](int) { return Fault::answer_503; };
  EXPECT_EQ(error_of("s3://bucket/a/one"),
            "storage::read: 's3://bucket/a/one': the server answers 503 (tried 7 times)");
  server.fault = [](int) { return Fault::cut_body; };
  EXPECT_NE(error_of("s3://bucket/a/one").find("(tried 7 times)"), std::string::npos);
  server.fault = nullptr;
  const int before = server.requests();
  EXPECT_EQ(error_of("s3://bucket/none"),
            "storage::read: 's3://bucket/none': the server answers 404 (NoSuchKey)");
  EXPECT_EQ(server.requests(), before + 1);  // permanent: no retries
  EXPECT_EQ(error_of("s3://bucket"), "storage::read: 's3://bucket' names no object");
  EXPECT_EQ(error_of("ftp://host/file"), "storage::read: 'ftp://host/file': nothing is known of ftp://");
  EXPECT_EQ(error_of("file"), "storage::read: 'file' is no address: it has no scheme");
}

TEST_F(Storage, ChecksumsAreChecked) {
  server.more_headers["x-amz-checksum-crc32"] = "NhCmhg==";  // of "hello"
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello");
  server.more_headers = {{"x-goog-hash", "crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg=="}};
  EXPECT_EQ(as_string(storage::read("gs://bucket/a/one")), "hello");
  server.fault = [](int) { return Fault::wrong_byte; };
  EXPECT_NE(error_of("gs://bucket/a/one").find("the checksum is wrong"), std::string::npos);
  server.fault = [](int request) { return request % 2 ? Fault::wrong_byte : Fault::none; };
  EXPECT_EQ(as_string(storage::read("gs://bucket/a/one")), "hello");
}

TEST_F(Storage, ListsHavePages) {
  for (int i = 100; i < 150; ++i)
    server.objects["/bucket/many/" + std::to_string(i)] = std::string(static_cast<std::size_t>(i), 'x');
  server.page = 7;
  server.fault = [](int request) { return request % 3 == 1 ? Fault::answer_503 : Fault::none; };
  const auto objects = storage::list("s3://bucket/many/1");
  ASSERT_EQ(objects.size(), 50u);
  EXPECT_EQ(objects[0].address, "s3://bucket/many/100");
  EXPECT_EQ(objects[49].address, "s3://bucket/many/149");
  EXPECT_EQ(objects[49].size, 149);
  EXPECT_TRUE(storage::list("gs://bucket/none").empty());
  EXPECT_THROW(storage::list(server.base() + "/bucket"), IoError);
}

TEST_F(Storage, CredentialsSignAndAreNeverShown) {
  ::setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "verysecret", 1);
  ::setenv("AWS_SESSION_TOKEN", "sessionsecret", 1);
  storage::read("s3://bucket/a/one");
  const auto request = server.seen().back();
  EXPECT_NE(request.headers.at("authorization").find("Credential=AKIDEXAMPLE/"), std::string::npos);
  EXPECT_EQ(request.headers.at("x-amz-security-token"), "sessionsecret");
  server.fault = [](int) { return Fault::answer_503; };
  const std::string texts = error_of("s3://bucket/a/one") +
                            error_of(server.base().insert(7, "me:verysecret@") + "/x?key=verysecret");
  EXPECT_EQ(texts.find("secret"), std::string::npos) << texts;
  EXPECT_EQ(texts.find("AKID"), std::string::npos) << texts;
  EXPECT_NE(texts.find("/x'"), std::string::npos) << texts;
  ::unsetenv("AWS_ACCESS_KEY_ID");
  const std::string file = ::testing::TempDir() + "nax_credentials";
  std::ofstream(file) << "[default]\naws_access_key_id = OTHER\n[ me ]\n[me]\n aws_access_key_id = MINE "
                         "\naws_secret_access_key=x\n";
  ::setenv("AWS_SHARED_CREDENTIALS_FILE", file.c_str(), 1);
  ::setenv("AWS_PROFILE", "me", 1);
  server.fault = nullptr;
  storage::read("s3://bucket/a/one");
  EXPECT_NE(server.seen().back().headers.at("authorization").find("Credential=MINE/"), std::string::npos);
  ::setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "bearersecret", 1);
  storage::read("gs://bucket/a/one");
  EXPECT_EQ(server.seen().back().headers.at("authorization"), "Bearer bearersecret");
  ::unsetenv("GOOGLE_OAUTH_ACCESS_TOKEN");
}

TEST_F(Storage, CacheKeepsWhatWasUsedLast) {
  const std::string folder = ::testing::TempDir() + "nax_objects" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  auto options = quick();
  options.cache = folder;
  options.cache_bytes = 10'000;
  options.part_bytes = 1 << 20;
  storage::configure(options);
  for (int i = 0; i < 9; ++i)
    server.objects["/bucket/" + std::to_string(i)] = std::string(2000, static_cast<char>('a' + i));
  storage::read("s3://bucket/0");
  storage::read("s3://bucket/0");
  EXPECT_EQ(server.requests(), 1);
  for (int i = 1; i < 9; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(15));
    storage::read("s3://bucket/" + std::to_string(i));
    storage::read("s3://bucket/0");  // in use all the time
    std::int64_t held = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      held += static_cast<std::int64_t>(entry.file_size());
    EXPECT_LE(held, 10'000);
  }
  EXPECT_EQ(server.requests(), 9);
  EXPECT_EQ(as_string(storage::read("s3://bucket/8")), std::string(2000, 'i'));
  EXPECT_EQ(server.requests(), 9);
  EXPECT_EQ(as_string(storage::read("s3://bucket/1")), std::string(2000, 'b'));
  EXPECT_EQ(server.requests(), 10);
  // A damaged file is treated as missing.
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    std::fstream(entry.path(), std::ios::in | std::ios::out).seekp(100).put('?');
  EXPECT_EQ(as_string(storage::read("s3://bucket/8")), std::string(2000, 'i'));
  EXPECT_EQ(server.requests(), 11);
}

TEST_F(Storage, ConcurrentPartsHideLatency) {
  server.gather = 8;
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/large")), large);
  EXPECT_EQ(server.requests(), 125);  // 124 parts, and a HEAD
  EXPECT_GE(server.most_gathered(), 8);
}

TEST_F(Storage, FilesOfManyExamples) {
  for (const char* name : {"examples.tfrecord", "samples_gnu.tar", "table.csv"})
    server.objects[std::string("/bucket/") + name] =
        as_string(io::detail::read_file("test", std::string(NAX_GOLDENS_DIR "/") + name));
  server.objects["/bucket/cut.tfrecord"] = server.objects["/bucket/examples.tfrecord"].substr(0, 400);
  std::size_t examples = 0, keys = 0;
  for (const auto& example :
       data::from_tfrecord({"s3://bucket/examples.tfrecord", "s3://bucket/examples.tfrecord"})
           .map(data::parse_example, {.threads = 2}))
    examples += example.features.size();
  EXPECT_EQ(examples, 18u);
  for (const data::Sample& sample : data::from_tar("s3://bucket/samples_gnu.tar").skip(1).prefetch(2))
    keys += sample.key.size();
  EXPECT_GT(keys, 150u);
  EXPECT_EQ(data::from_csv("s3://bucket/table.csv", {.columns = {"id"}}).size(), 4);
  try {
    for (const io::Bytes& record : data::from_tfrecord("s3://bucket/cut.tfrecord"))
      EXPECT_GT(record.size(), 100u);
    ADD_FAILURE() << "no error";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("'s3://bucket/cut.tfrecord' is truncated"), std::string::npos)
        << error.what();
  }
}

}  // namespace storage_test
