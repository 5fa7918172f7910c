// Answers of stores: codes that pass, clocks that differ, keys that are no paths.
#include <atomic>
#include <ctime>

#include "storage/fixture.hpp"

namespace storage_answers_test {
using namespace nax;
using storage_tests::as_string;

class StorageAnswers : public storage_tests::Fixture {
 protected:
  static std::string answer(const std::string& status, const std::string& code,
                            const std::string& headers = "") {
    const std::string body = code.empty() ? "" : "<Error><Code>" + code + "</Code></Error>";
    return "HTTP/1.1 " + status + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }
};

TEST_F(StorageAnswers, CodesThatPassAreTriedAgain) {
  for (const char* code : {"RequestTimeout", "SlowDown", "OperationAborted", "InternalError"}) {
    std::atomic<int> left = 2;
    server.other = [&](const Loopback::Request&) -> std::optional<std::string> {
      if (left-- > 0) return answer("400 Bad Request", code);
      return std::nullopt;
    };
    EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello") << code;
  }
  const int before = server.requests();
  server.other = [&](const Loopback::Request&) { return answer("400 Bad Request", "InvalidRequest"); };
  EXPECT_EQ(error_of("s3://bucket/a/one"),
            "storage::read: 's3://bucket/a/one': the server answers 400 (InvalidRequest)");
  EXPECT_EQ(server.requests(), before + 1);
  server.other = [&](const Loopback::Request&) { return answer("400 Bad Request", "RequestTimeout"); };
  EXPECT_NE(error_of("s3://bucket/a/one").find("answers 400 (RequestTimeout) (tried "), std::string::npos);
}

// The text of an object is no answer of the store's.
TEST_F(StorageAnswers, AnAddressThatReadsLikeAnErrorIsNone) {
  const int before = server.requests();
  EXPECT_NE(error_of("s3://bucket/answers 416").find("answers 404 (NoSuchKey)"), std::string::npos);
  EXPECT_EQ(server.requests(), before + 1);
  server.other = [&](const Loopback::Request&) { return answer("403 Forbidden", "AccessDenied"); };
  const int then = server.requests();
  EXPECT_NE(error_of("s3://bucket/answers 4").find("answers 403 (AccessDenied)"), std::string::npos);
  EXPECT_EQ(server.requests(), then + 1);
}

TEST_F(StorageAnswers, AClockThatIsLateIsSetByTheStore) {
  ::setenv("AWS_ACCESS_KEY_ID", "key", 1), ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  std::int64_t ahead = 7200;
  bool says_code = true;
  std::atomic<int> refused = 0;
  server.other = [&](const Loopback::Request& request) -> std::optional<std::string> {
    const std::time_t now = std::time(nullptr) + ahead;
    char day[32], date[64];
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    std::strftime(day, sizeof day, "%Y%m%dT%H", &utc);
    std::strftime(date, sizeof date, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
    const std::string signed_at = request.headers.at("x-amz-date");
    std::tm theirs{};
    ::strptime(signed_at.c_str(), "%Y%m%dT%H%M%SZ", &theirs);
    if (std::abs(::timegm(&theirs) - now) < 900) return std::nullopt;
    ++refused;
    return answer("403 Forbidden", says_code ? "RequestTimeTooSkewed" : "", date);
  };
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello");
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello");
  EXPECT_EQ(refused, 1);         // the difference is kept
  ahead = 0, says_code = false;  // as answers to HEAD have none
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello");
  EXPECT_EQ(refused, 2);
  // A refusal of the right time is none of the clock's.
  server.other = [&](const Loopback::Request&) { return answer("403 Forbidden", "RequestTimeTooSkewed"); };
  const int before = server.requests();
  EXPECT_NE(error_of("s3://bucket/a/one").find("403 (RequestTimeTooSkewed)"), std::string::npos);
  EXPECT_EQ(server.requests(), before + 1);
}

TEST_F(StorageAnswers, KeysAreNoPaths) {
  for (const char* key :
       {"a/../one", "a/./one", "../one", "./one", "a/..", "a//one", "/one", ".../one", "a/%2e%2e/one"}) {
    server.objects.clear();
    const std::string address = std::string("s3://bucket/") + key;
    storage::Options options = quick();
    options.retries = 0;
    storage::configure(options);
    std::string asked;
    server.other = [&](const Loopback::Request& request) -> std::optional<std::string> {
      asked = request.path;
      return answer("404 Not Found", "NoSuchKey");
    };
    EXPECT_NE(error_of(address).find("NoSuchKey"), std::string::npos);
    const bool escaped = std::string(key).find('%') != std::string::npos;
    EXPECT_EQ(asked, escaped ? "/bucket/a/%252e%252e/one" : std::string("/bucket/") + key);
    EXPECT_THROW(storage::write(address, {}), IoError);
    EXPECT_EQ(asked, escaped ? "/bucket/a/%252e%252e/one" : std::string("/bucket/") + key);
  }
}

TEST_F(StorageAnswers, ObjectsAreRemoved) {
  std::string method, path;
  std::string status = "204 No Content";
  server.other = [&](const Loopback::Request& request) -> std::optional<std::string> {
    method = request.method, path = request.path;
    return answer(status, status[0] == '4' ? "NoSuchKey" : "");
  };
  io::detail::remote_files->remove("s3://bucket/a/one");
  EXPECT_EQ(method + " " + path, "DELETE /bucket/a/one");
  status = "404 Not Found";
  io::detail::remote_files->remove("gs://bucket/a/one");
  status = "403 Forbidden";
  EXPECT_THROW(io::detail::remote_files->remove("s3://bucket/a/one"), IoError);
  EXPECT_THROW(io::detail::remote_files->remove("s3://bucket/"), IoError);
}

}  // namespace storage_answers_test
