// What nax::storage brings: reads and listings of remote objects, by libcurl. Compiled with the program's own
// sources, as nax::cuda's is.
#include <atomic>
#include <memory>

#include "nax/data/crc32c.hpp"
#include "nax/data/remote.hpp"
#include "nax/io/crc32.hpp"
#include "nax/storage/http.hpp"
#include "nax/storage/object_cache.hpp"
#include "nax/storage/storage.hpp"

namespace nax::inline NAX_ABI::storage {
namespace detail {
namespace {

struct Settings {
  std::mutex mutex;
  Options options;
  std::shared_ptr<ObjectCache> cache;
};
Settings& settings() {
  static Settings* const all = new Settings;
  return *all;
}

std::string base64(const std::uint8_t* data, std::size_t size) {
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

// Castagnoli's checksum, which Google's store has of everything.
std::uint32_t crc32c(const io::Bytes& bytes) { return data::detail::crc32c(bytes.data(), bytes.size()); }
std::string base64_number(std::uint32_t number) {
  const std::uint8_t bytes[4] = {static_cast<std::uint8_t>(number >> 24),
                                 static_cast<std::uint8_t>(number >> 16),
                                 static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
  return base64(bytes, 4);
}

// What the store says of the whole object, against the whole object; empty where it agrees or says nothing.
std::string check_sums(const Response& response, const io::Bytes& object) {
  constexpr const char* wrong = "the checksum is wrong";
  const std::string sha = response.header("x-amz-checksum-sha256"),
                    crc = response.header("x-amz-checksum-crc32"),
                    castagnoli = response.header("x-amz-checksum-crc32c"),
                    google = response.header("x-goog-hash");
  const auto whole = [](const std::string& sum) {
    return !sum.empty() && sum.find('-') == std::string::npos;
  };
  if (whole(sha)) {
    Sha256 hash;
    hash.add(object.data(), object.size());
    const Digest digest = hash.finish();
    if (base64(digest.data(), digest.size()) != sha) return wrong;
  }
  if (whole(crc) && base64_number(io::detail::crc32(object.data(), object.size())) != crc) return wrong;
  if (whole(castagnoli) && base64_number(crc32c(object)) != castagnoli) return wrong;
  const std::size_t at = google.find("crc32c=");
  if (at != std::string::npos && response.header("content-encoding").empty() &&
      google.substr(at + 7, 8) != base64_number(crc32c(object)))
    return wrong;
  return "";
}

// "bytes 0-99/1234" -> 1234; below 0 where it says something else.
std::int64_t total_of(const Response& response, std::int64_t first, std::size_t size) {
  long long begin = -1, end = -1, total = -1;
  if (std::sscanf(response.header("content-range").c_str(), "bytes %lld-%lld/%lld", &begin, &end, &total) !=
      3)
    return -1;
  return begin == first && end - begin + 1 == static_cast<long long>(size) && total > end ? total : -1;
}

io::Bytes read_whole(const char* function, const Place& place, const std::string& path,
                     const Options& options) {
  const auto fine = [](const Response& response) { return check_sums(response, response.body); };
  return get(function, place, {}, path, {}, options, fine).body;
}

// Where an object is large it is read in parts, several at once; all must be of one version of it.
io::Bytes read_object(const char* function, const Place& place, const Options& options) {
  const std::string path = place.is_store ? place.path + percent_encoded(place.key, true) : place.path;
  const Range first{0, options.part_bytes};
  Response begin;
  try {
    begin = get(function, place, {}, path, first, options, [&](const Response& response) -> std::string {
      if (response.status == 200) return check_sums(response, response.body);
      return total_of(response, 0, response.body.size()) < 0 ? "the answer is not the part that was asked for"
                                                             : "";
    });
  } catch (const IoError& error) {
    // An empty object has no first byte to ask for.
    if (std::string(error.what()).find("answers 416") == std::string::npos) throw;
    return read_whole(function, place, path, options);
  }
  if (begin.status == 200) return std::move(begin.body);  // the server knows no parts
  const auto total = static_cast<std::size_t>(total_of(begin, 0, begin.body.size()));
  if (begin.body.size() == total) {
    if (check_sums(begin, begin.body).empty()) return std::move(begin.body);
    return read_whole(function, place, path, options);
  }
  io::Bytes object(total);
  std::copy(begin.body.begin(), begin.body.end(), object.begin());
  std::atomic<std::size_t> next{begin.body.size()};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  const auto part = static_cast<std::size_t>(options.part_bytes);
  const auto work = [&] {
    try {
      while (!failed) {
        const std::size_t at = next.fetch_add(part);
        if (at >= total) return;
        const std::size_t size = std::min(part, total - at);
        const Range range{static_cast<std::int64_t>(at), static_cast<std::int64_t>(size)};
        const Response response =
            get(function, place, {}, path, range, options, [&](const Response& r) -> std::string {
              if (r.status != 206 || r.body.size() != size ||
                  total_of(r, range.first, size) != static_cast<std::int64_t>(total))
                return "the answer is not the part that was asked for";
              return r.header("etag") != begin.header("etag") ? "the object changed while it was read" : "";
            });
        std::copy(response.body.begin(), response.body.end(),
                  object.begin() + static_cast<std::ptrdiff_t>(at));
      }
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  const std::size_t parts = (total - begin.body.size() + part - 1) / part;
  try {
    for (std::size_t i = 1; i < std::min(parts, static_cast<std::size_t>(options.connections)); ++i)
      threads.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads: fewer do it
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
  if (!check_sums(begin, object).empty())
    raise<IoError>({function, ": '", place.shown, "': the checksum is wrong"});
  return object;
}

class Store final : public data::detail::RemoteStore {
 public:
  io::Bytes read(const std::string& address) override { return storage::read(address); }
  std::vector<std::string> list(const std::string& address) override {
    std::vector<std::string> addresses;
    for (Object& object : storage::list(address)) addresses.push_back(std::move(object.address));
    return addresses;
  }
};
[[maybe_unused]] const bool there = [] {
  static Store store;
  data::detail::remote_store = &store;
  return true;
}();

}  // namespace
}  // namespace detail

void configure(const Options& options) {
  if (options.connections < 1 || options.part_bytes < 1 || options.retries < 0 || !(options.timeout > 0) ||
      !(options.backoff >= 0) || options.cache_bytes < 0)
    throw ValueError(
        "storage::configure: connections, part_bytes and timeout must be positive, the others not negative");
  auto cache = options.cache.empty()
                   ? nullptr
                   : std::make_shared<detail::ObjectCache>(options.cache, options.cache_bytes);
  auto& settings = detail::settings();
  const std::lock_guard lock(settings.mutex);
  settings.options = options;
  settings.cache = std::move(cache);
}

io::Bytes read(const std::string& address) {
  auto& settings = detail::settings();
  Options options;
  std::shared_ptr<detail::ObjectCache> cache;
  {
    const std::lock_guard lock(settings.mutex);
    options = settings.options;
    cache = settings.cache;
  }
  const detail::Place place = detail::place_of("storage::read", address);
  if (place.is_store && place.key.empty()) raise<IoError>({"storage::read: '", address, "' names no object"});
  const std::string known_as =
      address + " " + place.base;  // one bucket's name at two endpoints is two buckets
  io::Bytes object;
  if (cache && cache->read(known_as, object)) return object;
  object = detail::read_object("storage::read", place, options);
  if (cache) cache->write(known_as, object);
  return object;
}

std::vector<Object> list(const std::string& address) {
  auto& settings = detail::settings();
  Options options;
  {
    const std::lock_guard lock(settings.mutex);
    options = settings.options;
  }
  const detail::Place place = detail::place_of("storage::list", address);
  if (!place.is_store)
    raise<IoError>({"storage::list: '", place.shown, "': only s3:// and gs:// can be listed"});
  std::vector<Object> objects;
  std::string token;
  do {
    detail::Pairs query = {{"list-type", "2"}, {"prefix", place.key}, {"encoding-type", "url"}};
    if (!token.empty()) query.emplace_back("continuation-token", token);
    const detail::Response response = detail::get(
        "storage::list", place, query, place.path, {}, options, [](const detail::Response& r) -> std::string {
          const std::string_view xml(reinterpret_cast<const char*>(r.body.data()), r.body.size());
          return xml.find("</ListBucketResult>") == std::string_view::npos ? "the answer is no list" : "";
        });
    const std::string_view xml(reinterpret_cast<const char*>(response.body.data()), response.body.size());
    const bool encoded = !detail::xml_texts(xml, "EncodingType").empty();
    for (const std::string& one : detail::xml_texts(xml, "Contents")) {
      const auto keys = detail::xml_texts(one, "Key"), sizes = detail::xml_texts(one, "Size");
      if (keys.empty()) continue;
      const std::string key = detail::xml_unescaped(keys[0]);
      objects.push_back(
          {place.scheme + "://" + place.bucket + "/" + (encoded ? detail::percent_decoded(key) : key),
           sizes.empty() ? 0 : std::atoll(sizes[0].c_str())});
    }
    const auto more = detail::xml_texts(xml, "IsTruncated"),
               tokens = detail::xml_texts(xml, "NextContinuationToken");
    const std::string next =
        !more.empty() && more[0] == "true" && !tokens.empty() ? detail::xml_unescaped(tokens[0]) : "";
    if (!next.empty() && next == token)
      raise<IoError>({"storage::list: '", place.shown, "': the list does not end"});
    token = next;
  } while (!token.empty());
  return objects;
}

}  // namespace nax::inline NAX_ABI::storage
