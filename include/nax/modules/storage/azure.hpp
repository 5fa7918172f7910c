#pragma once

#include <ctime>

#include "nax/modules/storage/checksums.hpp"
#include "nax/modules/storage/signature.hpp"

// Requests to Azure's blob storage: the signature by an account's key ("Shared Key"), lists of blocks, and
// the texts of lists. Public documentation: "Authorize with Shared Key", "Put Block List", "List Blobs".
NAX_BEGIN
namespace storage::detail {

inline std::string base64_decoded(std::string_view text) {
  std::string out;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    const int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (digit < 0) continue;  // padding, and ends of lines in files
    held = held << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits >= 8) bits -= 8, out += static_cast<char>(held >> bits & 255);
  }
  return out;
}

// Fri, 26 Jun 2015 23:39:12 GMT, in any locale.
inline std::string http_time(std::time_t time) {
  static constexpr const char *days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"},
                              *months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::tm parts = nax::detail::os::utc(time);
  char rest[32];
  std::strftime(rest, sizeof rest, " %Y %H:%M:%S GMT", &parts);
  const std::string day = std::to_string(parts.tm_mday);
  return std::string(days[parts.tm_wday]) + ", " + (day.size() < 2 ? "0" : "") + day + " " +
         months[parts.tm_mon] + rest;
}

// The headers of a request of `body` bytes: `path` is encoded, names in `extra` are in lower case. Signed
// where there is a key (in base64).
inline Pairs azure_headers(const std::string& account, const std::string& key, const std::string& method,
                           const std::string& path, const Pairs& query, std::size_t body, std::time_t time,
                           const Pairs& extra = {}) {
  Pairs headers = extra;
  headers.emplace_back("x-ms-version", "2020-10-02");
  if (key.empty()) return headers;
  headers.emplace_back("x-ms-date", http_time(time));
  const auto header = [&](const char* name) {
    for (const auto& [own, value] : headers)
      if (own == name) return value;
    return std::string();
  };
  std::string text = method + "\n\n\n" + (body > 0 ? std::to_string(body) : "") + "\n" +
                     header("content-md5") + "\n\n\n\n\n" + header("if-none-match") + "\n\n\n";
  Pairs own = headers;
  std::sort(own.begin(), own.end());
  for (const auto& [name, value] : own)
    if (name.starts_with("x-ms-")) text += name + ":" + value + "\n";
  text += "/" + account + path;
  Pairs parameters = query;
  std::sort(parameters.begin(), parameters.end());
  for (const auto& [name, value] : parameters) text += "\n" + name + ":" + value;
  const Digest signature = hmac(base64_decoded(key), text);
  headers.emplace_back("authorization",
                       "SharedKey " + account + ":" + base64(signature.data(), signature.size()));
  return headers;
}

// Names of equal length, as blocks of one blob must have.
inline std::string block_name(std::size_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, 8 - digits.size(), '0');
  return base64(reinterpret_cast<const std::uint8_t*>(digits.data()), digits.size());
}
inline std::string block_list(std::size_t blocks) {
  std::string xml = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
  for (std::size_t i = 0; i < blocks; ++i) xml += "<Latest>" + block_name(i) + "</Latest>";
  return xml + "</BlockList>";
}

}  // namespace storage::detail
NAX_END
