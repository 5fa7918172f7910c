// Credentials of roles, regions of buckets, and revalidation of cached objects.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "storage/fixture.hpp"

namespace storage_roles {
using namespace nax;
using storage_tests::as_string;

std::string answer(const std::string& status, const std::string& body = "", const std::string& headers = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
         "\r\n" + body;
}
std::string time_in(int seconds) {
  const std::time_t then = std::time(nullptr) + seconds;
  char text[32];
  std::tm parts{};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", ::gmtime_r(&then, &parts));
  return text;
}

class StorageRoles : public storage_tests::Fixture {
 protected:
  ~StorageRoles() override {
    for (const char* name : {"AWS_EC2_METADATA_SERVICE_ENDPOINT", "AWS_WEB_IDENTITY_TOKEN_FILE",
                             "AWS_ROLE_ARN", "AWS_ENDPOINT_URL_STS", "AWS_CONTAINER_CREDENTIALS_FULL_URI"})
      ::unsetenv(name);
  }
  std::string key_of(const Loopback::Request& r) {
    const auto found = r.headers.find("authorization");
    return found == r.headers.end() ? "" : found->second.substr(28, found->second.find('/') - 28);
  }
};

TEST_F(StorageRoles, AMachinesRoleIsAskedForOnceAndRenewed) {
  int given = 0, seconds = 3600;
  server.other = [&](const Loopback::Request& r) -> std::optional<std::string> {
    if (r.path.find("/latest/") != 0) return std::nullopt;
    if (r.method == "PUT") return answer("200 OK", "metadata-token");
    if (r.headers.count("x-aws-ec2-metadata-token") == 0) return answer("401 Unauthorized");
    if (r.path == "/latest/meta-data/iam/security-credentials/") return answer("200 OK", "my-role");
    if (r.path != "/latest/meta-data/iam/security-credentials/my-role") return answer("404 Not Found");
    return answer("200 OK",
                  "{\"Code\": \"Success\", \"AccessKeyId\" : \"ROLE" + std::to_string(++given) +
                      "\", \"SecretAccessKey\": \"s\\/x\",\n\"Token\": \"session\", \"Expiration\": \"" +
                      time_in(seconds) + "\"}");
  };
  ::setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", (server.base() + "/").c_str(), 1);
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello");
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello");
  EXPECT_EQ(given, 1);
  EXPECT_EQ(key_of(server.seen().back()), "ROLE1");
  EXPECT_EQ(server.seen().back().headers.at("x-amz-security-token"), "session");
  // Another server's are asked for anew; those that run out within minutes each time.
  ::setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.base().c_str(), 1);
  ::setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI",
           (server.base() + "/latest/meta-data/iam/security-credentials/my-role").c_str(), 1);
  EXPECT_NE(error_of("s3://bucket/a/one").find("storage: no credentials from " + server.base()),
            std::string::npos);
  ::unsetenv("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  seconds = 60;
  storage::read("s3://bucket/a/one");
  storage::read("s3://bucket/a/one");
  EXPECT_EQ(given, 3);
}

TEST_F(StorageRoles, ATokenOfAnIdentityBecomesCredentials) {
  const std::string file = ::testing::TempDir() + "nax_token";
  std::ofstream(file) << "secret&token\n";
  std::string form;
  bool refuses = false;
  server.other = [&](const Loopback::Request& r) -> std::optional<std::string> {
    if (r.method != "POST") return std::nullopt;
    form = r.body;
    if (refuses) return answer("403 Forbidden", "<Error/>");
    return answer("200 OK",
                  "<R><AccessKeyId>STS</AccessKeyId><SecretAccessKey>k&amp;y</SecretAccessKey>"
                  "<SessionToken>session</SessionToken><Expiration>" +
                      time_in(3600) + "</Expiration></R>");
  };
  ::setenv("AWS_WEB_IDENTITY_TOKEN_FILE", file.c_str(), 1);
  ::setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/r", 1);
  ::setenv("AWS_ENDPOINT_URL_STS", server.base().c_str(), 1);
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello");
  EXPECT_EQ(key_of(server.seen().back()), "STS");
  EXPECT_EQ(form,
            "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName="
            "nax&Version=2011-06-15&WebIdentityToken=secret%26token");
  ::setenv("AWS_ROLE_ARN", "another", 1);
  refuses = true;
  EXPECT_EQ(error_of("s3://bucket/a/one"),
            "storage: no credentials from " + server.base() + "/: it answers 403");
  ::setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/no/such", 1);
  EXPECT_NE(error_of("s3://bucket/a/one").find("AWS_WEB_IDENTITY_TOKEN_FILE cannot be read"),
            std::string::npos);
}

TEST_F(StorageRoles, ABucketOfAnotherRegionIsAskedThere) {
  ::setenv("AWS_ACCESS_KEY_ID", "ID", 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  int moved = 0;
  server.objects["/elsewhere/one"] = "hello";
  server.other = [&](const Loopback::Request& r) -> std::optional<std::string> {
    if (r.path.find("/elsewhere/") != 0 ||
        r.headers.at("authorization").find("/eu-north-1/s3/") != std::string::npos)
      return std::nullopt;
    ++moved;
    return answer("301 Moved Permanently", "<Error><Code>PermanentRedirect</Code></Error>",
                  "x-amz-bucket-region: eu-north-1\r\n");
  };
  EXPECT_EQ(as_string(storage::read("s3://elsewhere/one")), "hello");
  EXPECT_EQ(as_string(storage::read("s3://elsewhere/one")), "hello");
  EXPECT_EQ(moved, 1);
  // A region hint that does not help is an error, not an endless loop.
  server.other = [&](const Loopback::Request&) {
    return std::optional(
        answer("301 Moved Permanently", "", "x-amz-bucket-region: r" + std::to_string(++moved) + "\r\n"));
  };
  EXPECT_EQ(error_of("s3://bucket/a/one"), "storage::read: 's3://bucket/a/one': the server answers 301");
  ::unsetenv("AWS_ACCESS_KEY_ID");
}

TEST_F(StorageRoles, KeptObjectsAreAskedAboutByTheirEtag) {
  const std::string folder = ::testing::TempDir() + "nax_etags" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  auto options = quick();
  options.cache = folder, options.revalidate = true;
  storage::configure(options);
  server.etags["/bucket/a/one"] = "first";
  int unchanged = 0;
  server.other = [&](const Loopback::Request& r) -> std::optional<std::string> {
    const auto etag = r.headers.find("if-none-match");
    if (etag == r.headers.end() || etag->second != "\"" + server.etags["/bucket/a/one"] + "\"")
      return std::nullopt;
    ++unchanged;
    return "HTTP/1.1 304 Not Modified\r\nETag: " + etag->second + "\r\n\r\n";
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "hello");
  EXPECT_EQ(unchanged, 2);
  server.objects["/bucket/a/one"] = "changed", server.etags["/bucket/a/one"] = "second";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "changed");
  EXPECT_EQ(unchanged, 3);
  options.revalidate = false;
  storage::configure(options);
  const int before = server.requests();
  EXPECT_EQ(as_string(storage::read("s3://bucket/a/one")), "changed");
  EXPECT_EQ(server.requests(), before);
}

}  // namespace storage_roles
