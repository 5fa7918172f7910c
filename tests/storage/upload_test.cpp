// Uploads are complete or do not happen, are checked by the store, and survive errors of all kinds.
#include <gtest/gtest.h>

#include "nax/modules/storage/checksums.hpp"
#include "nax/nax.hpp"
#include "storage/fixture.hpp"

namespace storage_upload {
using namespace nax;
using storage_tests::as_string;
using Fault = Loopback::Fault;

io::Bytes as_bytes(const std::string& text) { return {text.begin(), text.end()}; }
std::string answer(const std::string& status, const std::string& body = "", const std::string& headers = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
         "\r\n" + body;
}
std::string sum_of(const std::string& text) {
  using namespace nax::storage::detail;
  return sum_text(crc32c_sum(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), false);
}
std::string md5_text(const std::string& text) {
  using namespace nax::storage::detail;
  return sum_text(md5_sum(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), true);
}

// Takes what S3 takes, and checks what S3 checks.
class StorageUpload : public storage_tests::Fixture {
 protected:
  StorageUpload() {
    server.other = [this](const Loopback::Request& r) { return take(r); };
    auto options = quick();
    options.upload_part_bytes = 10'000;
    options.part_bytes = 1 << 20;
    storage::configure(options);
  }
  std::optional<std::string> take(const Loopback::Request& r) {
    const std::lock_guard lock(mutex);
    const auto header = [&](const char* name) {
      const auto found = r.headers.find(name);
      return found == r.headers.end() ? std::string() : found->second;
    };
    if (r.method == "PUT") {
      const std::string sum = header("x-amz-checksum-crc32c"), google = header("x-goog-hash");
      if (sum != sum_of(r.body) && google != "crc32c=" + sum_of(r.body))
        return answer("400 Bad Request", "<Error><Code>BadDigest</Code></Error>");
      const std::string etag = "ETag: \"" + md5_text(r.body) + "\"\r\n";
      if (r.query.empty()) {
        objects[r.path] = r.body;
        return answer("200 OK", "", etag);
      }
      int part = 0;
      char id[32] = {};
      std::sscanf(r.query.c_str(), "partNumber=%d&uploadId=%31s", &part, id);
      if (!uploads.count(id)) return answer("404 Not Found", "<Error><Code>NoSuchUpload</Code></Error>");
      uploads[id][part] = r.body;
      return answer("200 OK", "", etag);
    }
    if (r.method == "POST" && r.query == "uploads=") {
      const std::string id = "id" + std::to_string(++begun);
      uploads[id];
      return answer("200 OK", "<R><UploadId>" + id + "</UploadId></R>");
    }
    const std::string id = r.query.substr(r.query.find('=') + 1);
    if (r.method == "POST") {
      if (!uploads.count(id)) return answer("404 Not Found", "<Error><Code>NoSuchUpload</Code></Error>");
      if (late_errors-- > 0) return answer("200 OK", "<Error><Code>InternalError</Code></Error>");
      std::string whole, expected = "<CompleteMultipartUpload>", digests;
      for (const auto& [number, part] : uploads[id]) {
        whole += part;
        expected += "<Part><PartNumber>" + std::to_string(number) + "</PartNumber><ETag>\"" + md5_text(part) +
                    "\"</ETag><ChecksumCRC32C>" + sum_of(part) + "</ChecksumCRC32C></Part>";
        const auto md5 = storage::detail::md5_of(part.data(), part.size());
        digests.append(md5.begin(), md5.end());
      }
      if (r.body != expected + "</CompleteMultipartUpload>")
        return answer("400 Bad Request", "<Error><Code>InvalidPart</Code></Error>");
      etag = md5_text(digests) + "-" + std::to_string(uploads[id].size());
      objects[r.path] = whole;
      uploads.erase(id);
      return answer("200 OK", "<R><ETag>" + etag + "</ETag></R>");
    }
    if (r.method == "DELETE") {
      uploads.erase(id);
      ++aborted;
      return answer("204 No Content");
    }
    if (r.method == "HEAD" && objects.count(r.path))
      return "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nETag: \"" + etag + "\"\r\n\r\n";
    if (r.method == "GET" && objects.count(r.path)) return answer("200 OK", objects[r.path]);
    return std::nullopt;
  }
  std::mutex mutex;
  std::map<std::string, std::string> objects;
  std::map<std::string, std::map<int, std::string>> uploads;
  std::string etag;
  int begun = 0, aborted = 0, late_errors = 0;
};

TEST_F(StorageUpload, ObjectsArriveAsTheyAre) {
  for (const std::string& text : {std::string(), std::string("hello"), large.substr(0, 10'000), large}) {
    storage::write("s3://bucket/new/a b", as_bytes(text));
    EXPECT_EQ(objects["/bucket/new/a%20b"], text);
    EXPECT_EQ(as_string(storage::read("s3://bucket/new/a b")), text);
  }
  storage::write("gs://bucket/other", as_bytes("google"));
  EXPECT_EQ(objects["/bucket/other"], "google");
  EXPECT_EQ(begun, 1);
  EXPECT_TRUE(uploads.empty());
  EXPECT_EQ(aborted, 0);
  EXPECT_EQ(refusal<IoError>([&] { storage::write(server.base() + "/x", {}); }),
            "storage::write: '" + server.base() + "/x': only s3://, gs:// and az:// can be written to");
  EXPECT_THROW(storage::write("s3://bucket", {}), IoError);
}

TEST_F(StorageUpload, SignaturesAreOfTheBody) {
  ::setenv("AWS_ACCESS_KEY_ID", "ID", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  storage::write("s3://bucket/one", as_bytes("abc"));
  ::unsetenv("AWS_ACCESS_KEY_ID");
  const auto headers = server.seen().back().headers;
  EXPECT_EQ(headers.at("x-amz-content-sha256"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_NE(headers.at("authorization").find("x-amz-checksum-crc32c"), std::string::npos);
}

TEST_F(StorageUpload, TransientErrorsAreRetried) {
  for (const Fault fault : {Fault::answer_503, Fault::close_at_once, Fault::cut_headers}) {
    server.fault = [&](int request) { return request % 3 == 1 ? fault : Fault::none; };
    late_errors = 1;
    storage::write("s3://bucket/new", as_bytes(large));
    EXPECT_EQ(objects["/bucket/new"], large);
    EXPECT_TRUE(uploads.empty() || fault == Fault::cut_headers);  // an answer to a begin was lost
    objects.clear();
  }
}

// The first completion worked, but its answer was lost.
TEST_F(StorageUpload, ACompletionWhoseAnswerIsLostIsFound) {
  std::atomic<int> completions{0};
  server.other = [&](const Loopback::Request& r) {
    auto answer = take(r);
    const bool completes = r.method == "POST" && r.query != "uploads=";
    return completes && completions++ == 0
               ? std::optional<std::string>("HTTP/1.1 500 Lost\r\nContent-Length: 0\r\n\r\n")
               : answer;
  };
  storage::write("s3://bucket/new", as_bytes(large));
  EXPECT_EQ(completions, 2);
  EXPECT_EQ(objects["/bucket/new"], large);
}

TEST_F(StorageUpload, AFailedUploadIsAborted) {
  server.other = [&](const Loopback::Request& r) -> std::optional<std::string> {
    if (r.query.find("partNumber=7&") != std::string::npos)
      return answer("403 Forbidden", "<Error><Code>AccessDenied</Code></Error>");
    return take(r);
  };
  EXPECT_EQ(refusal<IoError>([&] { storage::write("s3://bucket/new", as_bytes(large)); }),
            "storage::write: 's3://bucket/new': the server answers 403 (AccessDenied)");
  EXPECT_EQ(aborted, 1);
  EXPECT_TRUE(uploads.empty());
  EXPECT_FALSE(objects.count("/bucket/new"));
}

TEST_F(StorageUpload, TreesAreSavedToAddresses) {
  const std::pair tree{arange<float>(6).reshape({2, 3}), Array<int>{1, 2}};
  for (const char* const address : {"s3://bucket/tree.npz", "gs://bucket/tree.npz"}) {
    io::save(address, tree);
    std::pair<Array<float>, Array<int>> loaded;
    io::load(address, loaded);
    EXPECT_TRUE(all(loaded.first == tree.first).item() && all(loaded.second == tree.second).item());
  }
  io::save("s3://bucket/x.npy", tree.second);
  EXPECT_EQ(objects["/bucket/x.npy"].substr(1, 5), "NUMPY");
  EXPECT_THROW(io::load("s3://bucket/none.npz", const_cast<Array<int>&>(tree.second)), IoError);
}

}  // namespace storage_upload
