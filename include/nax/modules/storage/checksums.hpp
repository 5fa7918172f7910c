#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "nax/io/crc32.hpp"
#include "nax/modules/data/crc32c.hpp"
#include "nax/modules/storage/md5.hpp"
#include "nax/modules/storage/response.hpp"
#include "nax/modules/storage/sha256.hpp"

// Checksums that stores keep of their objects, against the bytes that arrived.
//
// Amazon's: x-amz-checksum-<kind> of a whole object, or, of an object uploaded in n parts, the checksum of
// its parts' checksums, "<sum>-n". The ETag is in the same way the MD5 of the object or "<MD5 of MD5s>-n",
// unless it was encrypted by a key of the user. Google's: x-goog-hash, always of the whole. Azure's: the MD5
// that came with the blob, of the whole.
NAX_BEGIN
namespace storage::detail {

inline std::string base64(const std::uint8_t* data, std::size_t size) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < size; i += 3) {
    const std::uint32_t three = std::uint32_t{data[i]} << 16 |
                                (i + 1 < size ? std::uint32_t{data[i + 1]} << 8 : 0) |
                                (i + 2 < size ? data[i + 2] : 0);
    for (std::size_t k = 0; k < 4; ++k) text += i + k <= size ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

// NVM Express's checksum of 64 bits, which Amazon's store has of what came without another.
inline std::uint64_t crc64nvme(const std::uint8_t* data, std::size_t size) {
  static const auto tables = [] {
    std::array<std::array<std::uint64_t, 256>, 8> made;
    for (std::size_t i = 0; i < 256; ++i) {
      std::uint64_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x9a6c9329ac4bc9b5u : 0);
      made[0][i] = crc;
    }
    for (std::size_t k = 1; k < 8; ++k)
      for (std::size_t i = 0; i < 256; ++i) made[k][i] = made[k - 1][i] >> 8 ^ made[0][made[k - 1][i] & 255];
    return made;
  }();
  std::uint64_t crc = ~std::uint64_t{0};
  for (; size >= 8; size -= 8, data += 8) {
    const std::uint64_t word = crc ^ io::detail::little_endian<std::uint64_t>(data);
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= tables[7 - k][word >> (8 * k) & 255];
  }
  for (; size > 0; --size) crc = crc >> 8 ^ tables[0][(crc ^ *data++) & 255];
  return ~crc;
}

// A checksum's bytes in the order in which stores write them.
using Sum = std::vector<std::uint8_t>;
inline Sum big_endian(std::uint64_t number, std::size_t bytes) {
  Sum sum(bytes);
  for (std::size_t i = 0; i < bytes; ++i) sum[i] = static_cast<std::uint8_t>(number >> (8 * (bytes - 1 - i)));
  return sum;
}
using SumOf = Sum(const std::uint8_t* data, std::size_t size);
inline Sum crc32_sum(const std::uint8_t* data, std::size_t size) {
  return big_endian(io::detail::crc32(data, size), 4);
}
inline Sum crc32c_sum(const std::uint8_t* data, std::size_t size) {
  return big_endian(data::detail::crc32c(data, size), 4);
}
inline Sum crc64_sum(const std::uint8_t* data, std::size_t size) {
  return big_endian(crc64nvme(data, size), 8);
}
inline Sum sha256_sum(const std::uint8_t* data, std::size_t size) {
  Sha256 hash;
  hash.add(data, size);
  const Digest digest = hash.finish();
  return Sum(digest.begin(), digest.end());
}
inline Sum md5_sum(const std::uint8_t* data, std::size_t size) {
  const Md5 digest = md5_of(data, size);
  return Sum(digest.begin(), digest.end());
}

// The cheapest first: one that fits is enough.
struct SumKind {
  const char* header;
  SumOf* sum;
};
inline constexpr SumKind sum_kinds[] = {{"x-amz-checksum-crc32c", crc32c_sum},
                                        {"x-amz-checksum-crc64nvme", crc64_sum},
                                        {"x-amz-checksum-crc32", crc32_sum},
                                        {"x-amz-checksum-sha256", sha256_sum}};

// A checksum as a store gives it: text in base64 or hexadecimal digits, of the whole or of `parts` parts.
struct StoredSum {
  SumOf* sum = nullptr;
  std::string text;
  std::int64_t parts = 0;  // 0: of the whole
  bool is_hex = false;
};

inline std::string sum_text(const Sum& sum, bool is_hex) {
  if (!is_hex) return base64(sum.data(), sum.size());
  std::string text;
  for (const std::uint8_t byte : sum)
    text += "0123456789abcdef"[byte >> 4], text += "0123456789abcdef"[byte & 15];
  return text;
}

// "<text>-<parts>" or "<text>".
inline StoredSum stored_sum(SumOf* sum, const std::string& value, bool is_hex) {
  const std::size_t dash = value.find('-');
  if (dash == std::string::npos) return {sum, value, 0, is_hex};
  return {sum, value.substr(0, dash), std::atoll(value.c_str() + dash + 1), is_hex};
}

// The ETag's MD5, where it is one.
inline std::optional<StoredSum> etag_sum(const Response& response) {
  std::string etag = response.header("etag");
  const std::string encryption = response.header("x-amz-server-side-encryption");
  if (encryption.starts_with("aws:") ||
      !response.header("x-amz-server-side-encryption-customer-algorithm").empty())
    return std::nullopt;
  if (etag.size() < 2 || etag.front() != '"' || etag.back() != '"') return std::nullopt;
  etag = etag.substr(1, etag.size() - 2);
  StoredSum found = stored_sum(md5_sum, etag, true);
  const bool is_md5 = found.text.size() == 32 &&
                      found.text.find_first_not_of("0123456789abcdef") == std::string::npos &&
                      (etag.size() == 32 || found.parts > 0);
  return is_md5 ? std::optional(found) : std::nullopt;
}

// The cheapest checksum of the object that the answer gives, if any. One of the whole is preferred to one of
// parts, whose sizes have to be asked for.
inline std::optional<StoredSum> sum_of(const Response& response, const std::string& scheme) {
  if (scheme == "az") {  // of the whole blob in answers to a part, too
    const std::string own = response.header("x-ms-blob-content-md5");
    const std::string md5 = !own.empty() || response.status != 200 ? own : response.header("content-md5");
    return md5.empty() ? std::nullopt : std::optional(StoredSum{md5_sum, md5});
  }
  const std::string google = response.header("x-goog-hash");
  if (const std::size_t at = google.find("crc32c=");
      at != std::string::npos && response.header("content-encoding").empty())
    return StoredSum{crc32c_sum, google.substr(at + 7, 8)};
  std::optional<StoredSum> of_parts;
  for (const SumKind& kind : sum_kinds) {
    const std::string value = response.header(kind.header);
    if (value.empty()) continue;
    const StoredSum found = stored_sum(kind.sum, value, false);
    if (found.parts == 0) return found;
    if (!of_parts) of_parts = found;
  }
  if (scheme != "s3") return of_parts;
  const std::optional<StoredSum> etag = etag_sum(response);
  return etag && (etag->parts == 0 || !of_parts) ? etag : of_parts;
}

// Does it fit these bytes? `part_bytes` is the size of all parts but the last.
inline bool fits(const StoredSum& stored, const io::Bytes& object, std::int64_t part_bytes) {
  if (stored.parts == 0)
    return sum_text(stored.sum(object.data(), object.size()), stored.is_hex) == stored.text;
  Sum all;
  const auto step = static_cast<std::size_t>(part_bytes);
  for (std::size_t at = 0; at < object.size(); at += step) {
    const Sum one = stored.sum(object.data() + at, std::min(step, object.size() - at));
    all.insert(all.end(), one.begin(), one.end());
  }
  return sum_text(stored.sum(all.data(), all.size()), stored.is_hex) == stored.text;
}

}  // namespace storage::detail
NAX_END
