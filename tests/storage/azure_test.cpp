// Azure's blobs: signatures of Azure's own library, and a server that checks requests as Azure does.
#include "nax/modules/storage/azure.hpp"

#include <gtest/gtest.h>

#include "nax/data.hpp"
#include "nax/io/save.hpp"
#include "nax/modules/storage/place.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "storage/fixture.hpp"

namespace storage_azure {
using namespace nax;
using storage_tests::as_string;
using Fault = Loopback::Fault;

const std::string key =  // of the bytes 0 to 63
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw==";

// The answers of azure-storage-blob's SharedKeyCredentialPolicy for the same requests.
TEST(StorageAzureParts, SignaturesOfKnownRequests) {
  using namespace nax::storage::detail;
  const auto signature = [](const char* method, const std::string& path, const Pairs& query, std::size_t body,
                            const Pairs& extra) {
    const Pairs headers = azure_headers("myaccount", key, method, path, query, body, 1435361952, extra);
    EXPECT_EQ(headers.back().first, "authorization");
    return headers.back().second;
  };
  EXPECT_EQ(http_time(1435361952), "Fri, 26 Jun 2015 23:39:12 GMT");
  EXPECT_EQ(http_time(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(
      signature("GET", "/mycontainer",
                {{"restype", "container"}, {"comp", "list"}, {"prefix", "a b/c"}, {"marker", "m=="}}, 0, {}),
      "SharedKey myaccount:6Kwj778DKI2IaigcE0MHYn9djIO+3qj69yILkoc1rf0=");
  EXPECT_EQ(signature("GET", "/mycontainer/a%20b/c.bin", {}, 0,
                      {{"x-ms-range", "bytes=0-999"}, {"if-none-match", "\"0x8D\""}}),
            "SharedKey myaccount:0/7imsZHvq14Ylel0UrRA/mF59vfo8Wtts4QW4aLJsU=");
  EXPECT_EQ(signature("PUT", "/mycontainer/c.bin", {{"comp", "block"}, {"blockid", "MDAwMDAwMDE="}}, 5,
                      {{"content-md5", "XUFAKrxLKna5cZ2REBfFkg=="}}),
            "SharedKey myaccount:tYTH6c/b9o4l66eI4MluCUr6kTPwkbbs8kXyewq5qcc=");
  EXPECT_EQ(signature("PUT", "/myaccount/mycontainer/c.bin", {}, 0,
                      {{"content-md5", "1B2M2Y8AsgTpgAmY7PhCfg=="}, {"x-ms-blob-type", "BlockBlob"}}),
            "SharedKey myaccount:VE43LNyRqxNNlg+MgppXI+mUH5wzdvJT6KGknj2FpgM=");
  EXPECT_EQ(block_name(1), "MDAwMDAwMDE=");
}

std::string answer(const std::string& status, const std::string& body = "", const std::string& headers = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
         "\r\n" + body;
}
std::string md5_of(const std::string& text) {
  using namespace nax::storage::detail;
  return sum_text(md5_sum(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), false);
}

class StorageAzure : public storage_tests::Fixture {
 protected:
  StorageAzure() {
    ::setenv("AZURE_STORAGE_SERVICE_ENDPOINT", server.base().c_str(), 1);
    ::setenv("AZURE_STORAGE_KEY", key.c_str(), 1);
    ::unsetenv("AZURE_STORAGE_ACCOUNT"), ::unsetenv("AZURE_STORAGE_SAS_TOKEN");
    server.other = [this](const Loopback::Request& r) { return take(r); };
    auto options = quick();
    options.upload_part_bytes = 10'000;
    storage::configure(options);
  }
  ~StorageAzure() override {
    ::unsetenv("AZURE_STORAGE_SERVICE_ENDPOINT"), ::unsetenv("AZURE_STORAGE_KEY");
    ::unsetenv("AZURE_STORAGE_SAS_TOKEN");
  }
  // A server: signatures by the key, blobs with an MD5, blocks and their list, lists in pages of two.
  std::optional<std::string> take(const Loopback::Request& r) {
    const std::lock_guard lock(mutex);
    const auto header = [&](const std::string& name) {
      const auto found = r.headers.find(name);
      return found == r.headers.end() ? "" : found->second;
    };
    storage::detail::Pairs query, extra;
    for (std::size_t at = 0; at < r.query.size();) {
      const std::size_t end = std::min(r.query.find('&', at), r.query.size()), equals = r.query.find('=', at);
      query.emplace_back(r.query.substr(at, equals - at),
                         storage::detail::percent_decoded(r.query.substr(equals + 1, end - equals - 1)));
      at = end + 1;
    }
    const auto parameter = [&](const std::string& name) {
      for (const auto& [own, value] : query)
        if (own == name) return value;
      return std::string();
    };
    if (!parameter("sig").empty()) {
      if (parameter("sig") != "secret=")
        return answer("403 No", "<Error><Code>AuthenticationFailed</Code></Error>");
    } else {
      for (const auto& [name, value] : r.headers)
        if (name != "x-ms-version" && name != "x-ms-date" &&
            (name.starts_with("x-ms-") || name == "content-md5" || name == "if-none-match"))
          extra.emplace_back(name, value);
      std::tm time{};
      ::strptime(header("x-ms-date").c_str(), "%a, %d %b %Y %H:%M:%S", &time);
      const auto expected = storage::detail::azure_headers("acct", key, r.method, r.path, query,
                                                           r.body.size(), ::timegm(&time), extra);
      if (header("authorization") != expected.back().second || header("x-ms-version").empty())
        return answer("403 No", "<Error><Code>AuthenticationFailed</Code></Error>");
    }
    if (r.method == "PUT") {
      if (header("content-md5") != md5_of(r.body))
        return answer("400 No", "<Error><Code>Md5Mismatch</Code></Error>");
      const std::string comp = parameter("comp");
      if (comp == "block") {
        blocks[parameter("blockid")] = r.body;
      } else if (comp == "blocklist") {
        std::string blob;
        for (const std::string& id : storage::detail::xml_texts(r.body, "Latest")) {
          if (!blocks.contains(id)) return answer("400 No", "<Error><Code>InvalidBlockList</Code></Error>");
          blob += blocks[id];
        }
        server.objects[r.path] = blob, sums[r.path] = header("x-ms-blob-content-md5");
      } else {
        if (header("x-ms-blob-type") != "BlockBlob")
          return answer("400 No", "<Error><Code>MissingRequiredHeader</Code></Error>");
        server.objects[r.path] = r.body, sums[r.path] = header("content-md5");
      }
      return answer("201 Created");
    }
    if (parameter("comp") == "list") {
      if (parameter("restype") != "container") return answer("400 No");
      std::string xml = "<?xml version=\"1.0\"?><EnumerationResults><Blobs>", next = "<NextMarker />";
      int n = 0;
      for (const auto& [path, body] : server.objects) {
        if (!path.starts_with(r.path + "/")) continue;
        const std::string name = storage::detail::percent_decoded(path.substr(r.path.size() + 1));
        if (!name.starts_with(parameter("prefix")) || name < parameter("marker")) continue;
        if (n++ == 2) {
          next = "<NextMarker>" + name + "</NextMarker>";
          break;
        }
        std::string escaped = name;
        for (std::size_t at = 0; (at = escaped.find('&', at)) != std::string::npos; at += 5)
          escaped.replace(at, 1, "&amp;");
        xml += "<Blob><Name>" + escaped + "</Name><Properties><Etag>0x8D</Etag><Content-Length>" +
               std::to_string(body.size()) + "</Content-Length></Properties></Blob>";
      }
      return answer("200 OK", xml + "</Blobs>" + next + "</EnumerationResults>");
    }
    const auto found = server.objects.find(r.path);
    if (found == server.objects.end()) return answer("404 No", "<Error><Code>BlobNotFound</Code></Error>");
    const std::string& blob = found->second;
    const std::string headers =
        "ETag: \"0x8D\"\r\n" +
        (sums[r.path].empty() ? "" : "x-ms-blob-content-md5: " + sums[r.path] + "\r\n");
    if (r.method == "HEAD")
      return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(blob.size()) + "\r\n" + headers + "\r\n";
    unsigned long long begin = 0, last = 0;
    if (std::sscanf(header("x-ms-range").c_str(), "bytes=%llu-%llu", &begin, &last) != 2)
      return answer("200 OK", blob, sums[r.path].empty() ? "" : "Content-MD5: " + sums[r.path] + "\r\n");
    if (begin >= blob.size()) return answer("416 No", "<Error><Code>InvalidRange</Code></Error>");
    const std::string part = blob.substr(begin, last - begin + 1);
    return answer("206 Partial Content", part,
                  headers + "Content-Range: bytes " + std::to_string(begin) + "-" +
                      std::to_string(begin + part.size() - 1) + "/" + std::to_string(blob.size()) + "\r\n");
  }
  std::mutex mutex;
  std::map<std::string, std::string> blocks, sums;
};

TEST_F(StorageAzure, BlobsOfAllSizes) {
  for (const std::size_t size : {0, 5, 999, 1000, 1001, 10'000, 10'001, 35'000}) {
    const std::string text = storage_tests::pseudo_random(size);
    storage::write("az://acct/box/a &b/\xc3\xbc.bin", {text.begin(), text.end()});
    EXPECT_EQ(server.objects.at("/acct/box/a%20%26b/%C3%BC.bin"), text) << size;
    EXPECT_EQ(sums.at("/acct/box/a%20%26b/%C3%BC.bin"), md5_of(text)) << size;
    EXPECT_EQ(as_string(storage::read("az://acct/box/a &b/\xc3\xbc.bin")), text) << size;
  }
  // Blobs of others' may have no MD5.
  sums.clear();
  EXPECT_EQ(storage::read("az://acct/box/a &b/\xc3\xbc.bin").size(), 35'000u);
}

TEST_F(StorageAzure, ListsHavePages) {
  for (const char* name : {"a", "b/1", "b/2", "b/3 &+", "b/4", "b/5", "c"})
    storage::write(std::string("az://acct/box/") + name, {1, 2, 3});
  const auto all = storage::list("az://acct/box/b/");
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[2].address, "az://acct/box/b/3 &+");
  EXPECT_EQ(all[2].size, 3);
  EXPECT_EQ(all[2].etag, "\"0x8D\"");  // as HEAD has it
  EXPECT_EQ(as_string(storage::read(all[2].address)), "\1\2\3");
  EXPECT_EQ(storage::list("az://acct/box").size(), 7u);
  EXPECT_TRUE(storage::list("az://acct/none").empty());
}

TEST_F(StorageAzure, AllOfIoAndDataTakesThem) {
  io::save("az://acct/box/x.npy", Array<float>(arange<float>(12'000)));  // in blocks
  Array<float> x;
  io::load("az://acct/box/x.npy", x);
  EXPECT_EQ(x(11'999).item(), 11'999.f);
  const std::string lines = "one\ntwo\n";
  storage::write("az://acct/box/lines.txt", {lines.begin(), lines.end()});
  const auto text = data::from_lines("az://acct/box/lines.txt");
  auto it = text.iterator();
  it.next();
  EXPECT_EQ(*text.iterator(it.state()).next(), "two");
}

TEST_F(StorageAzure, FaultsAreOvercomeAndNamed) {
  const std::string text = storage_tests::pseudo_random(25'000);
  auto options = quick();
  options.upload_part_bytes = 4'000;
  options.retries = 30;
  storage::configure(options);
  for (const Fault fault : {Fault::answer_503, Fault::cut_headers, Fault::close_at_once, Fault::cut_body}) {
    server.fault = [&](int request) { return request % 3 != 2 ? fault : Fault::none; };
    storage::write("az://acct/box/x", {text.begin(), text.end()});
    EXPECT_EQ(as_string(storage::read("az://acct/box/x")), text);
  }
  server.fault = nullptr;
  options.retries = 2;
  storage::configure(options);
  sums["/acct/box/x"] = md5_of("another");
  EXPECT_NE(error_of("az://acct/box/x").find("the checksum is wrong"), std::string::npos);
  EXPECT_EQ(error_of("az://acct/box/none"),
            "storage::read: 'az://acct/box/none': the server answers 404 (BlobNotFound)");
  EXPECT_EQ(error_of("az://acct/box"), "storage::read: 'az://acct/box' names no object");
  EXPECT_EQ(error_of("az://acct"), "storage::read: 'az://acct' has no container");
}

TEST_F(StorageAzure, CredentialsAreNeverShown) {
  storage::write("az://acct/box/x", {1});
  ::setenv("AZURE_STORAGE_KEY", "d3Jvbmc=", 1);
  const std::string refused = error_of("az://acct/box/x");
  EXPECT_EQ(refused, "storage::read: 'az://acct/box/x': the server answers 403 (AuthenticationFailed)");
  // A key of another account is not used; a token is, with or without its question mark.
  ::setenv("AZURE_STORAGE_ACCOUNT", "other", 1);
  for (const char* token : {"?sv=2020-10-02&sig=secret%3D", "sv=2020-10-02&sig=secret%3D"}) {
    ::setenv("AZURE_STORAGE_SAS_TOKEN", token, 1);
    EXPECT_EQ(storage::read("az://acct/box/x"), io::Bytes{1});
    EXPECT_FALSE(server.seen().back().headers.contains("authorization"));
    EXPECT_EQ(storage::list("az://acct/box").size(), 1u);
  }
  ::setenv("AZURE_STORAGE_SAS_TOKEN", "sig=wrongsecret", 1);
  EXPECT_EQ(error_of("az://acct/box/x").find("secret"), std::string::npos);
  ::unsetenv("AZURE_STORAGE_ACCOUNT");
}

}  // namespace storage_azure
