#pragma once

#include <algorithm>
#include <ctime>
#include <utility>
#include <vector>

#include "nax/modules/storage/sha256.hpp"

// Requests to stores of S3's kind: addresses, percent-encoding, and AWS's signature, version 4.
NAX_BEGIN
namespace storage::detail {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// As the signature wants it: all but letters, digits and -_.~ ; slashes stay in paths.
inline std::string percent_encoded(std::string_view text, bool keep_slashes) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '_' || c == '.' || c == '~' || (c == '/' && keep_slashes);
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += "0123456789ABCDEF"[byte >> 4];
      out += "0123456789ABCDEF"[byte & 15];
    }
  }
  return out;
}
inline std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}
inline std::string query_text(Pairs query) {
  for (auto& [name, value] : query)
    name = percent_encoded(name, false), value = percent_encoded(value, false);
  std::sort(query.begin(), query.end());
  std::string text;
  for (const auto& [name, value] : query) text += (text.empty() ? "" : "&") + name + "=" + value;
  return text;
}

struct Credentials {
  std::string access_key, secret_key, token;
  explicit operator bool() const { return !access_key.empty(); }
};

// 20130524T000000Z
inline std::string iso_time(std::time_t time) {
  const std::tm parts = nax::detail::os::utc(time);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return text;
}

// The headers of a signed request: `path` is encoded, `extra` are more headers to sign (names in lower case),
// `payload` is the hash of its body.
inline Pairs signed_headers(const Credentials& by, const std::string& region, const std::string& method,
                            const std::string& host, const std::string& path, const Pairs& query,
                            std::time_t time, const Pairs& extra = {},
                            const std::string& payload = hex(sha256(""))) {
  const std::string stamp = iso_time(time), day = stamp.substr(0, 8);
  Pairs headers = extra;
  headers.emplace_back("x-amz-content-sha256", payload);
  headers.emplace_back("x-amz-date", stamp);
  if (!by.token.empty()) headers.emplace_back("x-amz-security-token", by.token);
  Pairs all = headers;
  all.emplace_back("host", host);
  std::sort(all.begin(), all.end());
  std::string names, lines;
  for (const auto& [name, value] : all)
    names += (names.empty() ? "" : ";") + name, lines += name + ":" + value + "\n";
  const std::string request =
      method + "\n" + path + "\n" + query_text(query) + "\n" + lines + "\n" + names + "\n" + payload;
  const std::string scope = day + "/" + region + "/s3/aws4_request";
  const std::string to_sign = "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hex(sha256(request));
  Digest key = hmac("AWS4" + by.secret_key, day);
  for (const std::string& part : {region, std::string("s3"), std::string("aws4_request")})
    key = hmac(as_text(key), part);
  headers.emplace_back("authorization", "AWS4-HMAC-SHA256 Credential=" + by.access_key + "/" + scope +
                                            ",SignedHeaders=" + names +
                                            ",Signature=" + hex(hmac(as_text(key), to_sign)));
  return headers;
}

}  // namespace storage::detail
NAX_END
