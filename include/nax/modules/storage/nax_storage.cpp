// The source of nax::storage: reads, writes and lists remote objects, by libcurl. Compiled with the program's
// own sources, as nax::cuda's is.
#include <atomic>
#include <map>
#include <memory>
#include <optional>

#include "nax/core/at_fork.hpp"
#include "nax/core/text_number.hpp"
#include "nax/modules/storage/checksums.hpp"
#include "nax/modules/storage/http.hpp"
#include "nax/modules/storage/object_cache.hpp"
#include "nax/modules/storage/roles.hpp"
#include "nax/modules/storage/storage.hpp"
#include "nax/modules/storage/upload.hpp"

NAX_BEGIN
namespace storage {
namespace detail {
namespace {

struct Settings {
  nax::detail::ForkMutex mutex;
  Options options;
  std::shared_ptr<ObjectCache> cache;
};
Settings& settings() {
  static Settings* const all = new Settings;
  return *all;
}

Options current_options() {
  const std::lock_guard lock(settings().mutex);
  return settings().options;
}

struct Current {
  Options options;
  std::shared_ptr<ObjectCache> cache;
};
Current current() {
  const std::lock_guard lock(settings().mutex);
  return {settings().options, settings().cache};
}
// One bucket's name at two endpoints is two buckets.
std::string cache_name(const std::string& address, const Place& place) { return address + " " + place.base; }

// "bytes 0-99/1234" -> 1234; below 0 where it says something else.
std::int64_t total_of(const Response& response, std::int64_t first, std::size_t size) {
  long long begin = -1, end = -1, total = -1;
  if (std::sscanf(response.header("content-range").c_str(), "bytes %lld-%lld/%lld", &begin, &end, &total) !=
      3)
    return -1;
  return begin == first && end - begin + 1 == static_cast<long long>(size) && total > end ? total : -1;
}

// 0 where it is no size.
std::int64_t size_of_text(const std::string& text) {
  std::int64_t size = 0;
  nax::detail::number_of_text(text, size);
  return size;
}

// The checksum that the store keeps of the object; asks it again, by a HEAD, where the answers to a part say
// nothing.
struct Sums {
  std::optional<StoredSum> sum;
  std::int64_t part_bytes = 0;  // where the sum is of parts
};
Response head(const char* function, const Place& place, const Pairs& query, const Options& options,
              const Pairs& headers = {}) {
  return ask(function, place, {"HEAD", query, place.object_path(), {}, headers}, options, any_answer);
}
Sums sums_of(const char* function, const Place& place, const Response& answer, bool is_whole,
             std::int64_t total, const Options& options) {
  Sums sums;
  if (is_whole || place.scheme != "s3") sums.sum = sum_of(answer, place.scheme);
  if (place.scheme != "s3" || (sums.sum && sums.sum->parts == 0)) return sums;
  if (is_whole && answer.header("etag").empty()) return sums;  // a server that keeps none
  try {
    if (!sums.sum) sums.sum = sum_of(head(function, place, {}, options), place.scheme);
    if (!sums.sum || sums.sum->parts == 0) return sums;
    const std::string first = head(function, place, {{"partNumber", "1"}}, options).header("content-length");
    sums.part_bytes = size_of_text(first);
  } catch (const StoreError& error) {  // a server without HEAD
    if (error.status / 100 != 4) throw;
  }
  // Parts of different sizes have no sum that can be checked.
  if (sums.sum && sums.sum->parts > 0 &&
      (sums.part_bytes < 1 || (total + sums.part_bytes - 1) / sums.part_bytes != sums.sum->parts))
    sums.sum.reset();
  return sums;
}
constexpr const char* wrong_sum = "the checksum is wrong";

Response read_whole(const char* function, const Place& place, const Options& options) {
  const auto fine = [&](const Response& response) -> std::string {
    if (!options.verify) return "";
    const auto size = static_cast<std::int64_t>(response.body.size());
    const Sums sums = sums_of(function, place, response, true, size, options);
    return sums.sum && !fits(*sums.sum, response.body, sums.part_bytes) ? wrong_sum : "";
  };
  return ask(function, place, {"GET", {}, place.object_path(), {}}, options, fine);
}

// The parts of an object behind the first, several at once; all must be of one version of it.
io::Bytes read_parts(const char* function, const Place& place, const Response& begin, std::size_t total,
                     const Options& options) {
  io::Bytes object(total);
  std::copy(begin.body.begin(), begin.body.end(), object.begin());
  std::atomic<std::size_t> next{begin.body.size()};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  const std::atomic<bool>* const loop = io::detail::reads_for;
  const auto part = static_cast<std::size_t>(options.part_bytes);
  const auto work = [&] {
    const io::detail::ReadsFor reading(loop);
    try {
      while (!failed) {
        const std::size_t at = next.fetch_add(part);
        if (at >= total) return;
        const std::size_t size = std::min(part, total - at);
        const Range range{static_cast<std::int64_t>(at), static_cast<std::int64_t>(size)};
        const Response response = ask(
            function, place, {"GET", {}, place.object_path(), range}, options,
            [&](const Response& r) -> std::string {
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
  return object;
}

struct Loaded {
  io::Bytes object;
  std::string etag;
};

// All of an object once; false where its checksum is wrong.
bool read_once(const char* function, const Place& place, const Options& options, Loaded& loaded) {
  io::Bytes& object = loaded.object;
  Response begin;
  try {
    begin = ask(function, place, {"GET", {}, place.object_path(), {0, options.part_bytes}}, options,
                [&](const Response& response) -> std::string {
                  return response.status == 206 && total_of(response, 0, response.body.size()) < 0
                             ? "the answer is not the part that was asked for"
                             : "";
                });
  } catch (const StoreError& error) {
    if (error.status != 416) throw;  // an empty object has no first byte to ask for
    Response whole = read_whole(function, place, options);
    loaded = {std::move(whole.body), whole.header("etag")};
    return true;
  }
  // A server that knows no parts answers 200.
  const std::int64_t total = begin.status == 200 ? static_cast<std::int64_t>(begin.body.size())
                                                 : total_of(begin, 0, begin.body.size());
  const bool is_whole = static_cast<std::int64_t>(begin.body.size()) == total;
  loaded.etag = begin.header("etag");
  Sums sums;
  if (options.verify) sums = sums_of(function, place, begin, is_whole, total, options);
  object = is_whole ? std::move(begin.body)
                    : read_parts(function, place, begin, static_cast<std::size_t>(total), options);
  return !sums.sum || fits(*sums.sum, object, sums.part_bytes);
}

Loaded read_object(const char* function, const Place& place, const Options& options) {
  const Clock::time_point deadline = deadline_of(options);
  Loaded loaded;
  for (int failures = 0; !read_once(function, place, options, loaded); ++failures) {
    if (failures >= options.retries || is_left() || Clock::now() >= deadline)
      raise<IoError>({function, ": '", place.shown, "': ", wrong_sum, " (tried ", failures + 1, " times)"});
    wait_before_retry(options, failures + 1, {}, deadline);
  }
  return loaded;
}

// One object's ETag, or its time and size where it has none.
std::string version_of(const std::string& address, const Options& options) {
  try {
    const Response answer = head("storage::versions", place_of("storage::versions", address), {}, options);
    const std::string etag = answer.header("etag");
    return etag.empty() ? answer.header("last-modified") + " " + answer.header("content-length") : etag;
  } catch (const StoreError& error) {  // not there, or a server without HEAD
    if (error.status / 100 != 4) throw;
    return "";
  }
}

// A page of a list says of a thousand objects what a HEAD says of one.
std::vector<std::string> versions_of(const std::vector<std::string>& addresses, const Options& options) {
  constexpr int worth_a_list = 8;
  const auto folder_of = [](const std::string& address) { return address.substr(0, address.rfind('/') + 1); };
  std::map<std::string, int> folders;
  for (const std::string& address : addresses) ++folders[folder_of(address)];
  std::map<std::string, std::string> listed;
  for (const auto& [folder, count] : folders) {
    const bool can_list = folder.starts_with("s3://") || folder.starts_with("gs://") ||
                          (folder.starts_with("az://") && std::count(folder.begin(), folder.end(), '/') > 3);
    if (!can_list || count < worth_a_list) continue;
    try {
      for (Object& object : storage::list(folder))
        listed.emplace(std::move(object.address), std::move(object.etag));
    } catch (const StoreError& error) {  // one may read objects and not list them
      if (error.status / 100 != 4) throw;
    }
  }
  std::vector<std::string> versions(addresses.size());
  for_each_parallel(addresses.size(), options, [&](std::size_t i) {
    const auto found = listed.find(addresses[i]);
    versions[i] =
        found == listed.end() || found->second.empty() ? version_of(addresses[i], options) : found->second;
  });
  return versions;
}

// Of Azure: names as they are in XML, ETags without quotes.
std::vector<Object> list_blobs(const Place& place, const Options& options) {
  std::vector<Object> objects;
  std::string marker;
  const std::string container = place.path.substr(0, place.path.size() - 1);
  do {
    Pairs query = {{"comp", "list"}, {"restype", "container"}, {"prefix", place.key}};
    if (!marker.empty()) query.emplace_back("marker", marker);
    const Response response = ask(
        "storage::list", place, {"GET", query, container, {}}, options, [](const Response& r) -> std::string {
          const std::string_view xml(reinterpret_cast<const char*>(r.body.data()), r.body.size());
          return xml.find("</EnumerationResults>") == std::string_view::npos ? "the answer is no list" : "";
        });
    const std::string_view xml(reinterpret_cast<const char*>(response.body.data()), response.body.size());
    for (const std::string& one : xml_texts(xml, "Blob")) {
      const auto names = xml_texts(one, "Name"), sizes = xml_texts(one, "Content-Length"),
                 etags = xml_texts(one, "Etag");
      if (names.empty()) continue;
      objects.push_back({"az://" + place.bucket + "/" + xml_unescaped(names[0]),
                         sizes.empty() ? 0 : detail::size_of_text(sizes[0]),
                         etags.empty() ? "" : "\"" + xml_unescaped(etags[0]) + "\""});
    }
    const auto more = xml_texts(xml, "NextMarker");
    const std::string next = more.empty() ? "" : xml_unescaped(more[0]);
    if (!next.empty() && next == marker)
      raise<IoError>({"storage::list: '", place.shown, "': the list does not end"});
    marker = next;
  } while (!marker.empty());
  return objects;
}

// Is the object with this ETag still the store's own?
bool is_current(const char* function, const Place& place, const Options& options, const std::string& etag) {
  if (etag.empty()) return false;
  const Response answer = head(function, place, {}, options, {{"if-none-match", etag}});
  return answer.status == 304 || answer.header("etag") == etag;
}

class Store final : public io::detail::RemoteFiles {
 public:
  io::Bytes read(const std::string& address) override { return storage::read(address); }
  void write(const std::string& address, const io::Bytes& bytes) override { storage::write(address, bytes); }
  void remove(const std::string& address) override {
    const auto [options, cache] = current();
    const Place place = place_of("storage::remove", address);
    if (!place.is_store || place.key.empty())
      raise<IoError>({"storage::remove: '", place.shown, "' is no object of s3://, gs:// or az://"});
    if (cache) cache->forget(cache_name(address, place));
    try {
      ask("storage::remove", place, {"DELETE", {}, place.object_path()}, options, any_answer);
    } catch (const StoreError& error) {
      if (error.status != 404) throw;
    }
  }
  std::vector<std::string> list(const std::string& address) override {
    std::vector<std::string> addresses;
    for (Object& object : storage::list(address)) addresses.push_back(std::move(object.address));
    return addresses;
  }
  std::vector<std::string> versions(const std::vector<std::string>& addresses) override {
    return versions_of(addresses, current_options());
  }
};
[[maybe_unused]] const bool there = [] {
  static Store store;
  io::detail::remote_files = &store;
  role_credentials = credentials_of_role;
  return true;
}();

}  // namespace
}  // namespace detail

void configure(const Options& options) {
  if (options.connections < 1 || options.part_bytes < 1 || options.upload_part_bytes < 1 ||
      options.retries < 0 || !(options.timeout > 0) || !(options.deadline > 0) || !(options.backoff >= 0) ||
      options.cache_bytes < 0)
    throw ValueError(
        "storage::configure: connections, part_bytes, upload_part_bytes, timeout and deadline must be "
        "positive, "
        "the others not negative");
  auto cache = options.cache.empty()
                   ? nullptr
                   : std::make_shared<detail::ObjectCache>(options.cache, options.cache_bytes);
  auto& settings = detail::settings();
  const std::lock_guard lock(settings.mutex);
  settings.options = options;
  settings.cache = std::move(cache);
}

io::Bytes read(const std::string& address) {
  const auto [options, cache] = detail::current();
  const detail::Place place = detail::place_of("storage::read", address);
  if (place.is_store && place.key.empty()) raise<IoError>({"storage::read: '", address, "' names no object"});
  const std::string known_as = detail::cache_name(address, place);
  io::Bytes object;
  std::string etag;
  if (cache && cache->read(known_as, object, etag) &&
      (!options.revalidate || detail::is_current("storage::read", place, options, etag)))
    return object;
  detail::Loaded loaded = io::detail::within_memory(
      "storage::read", place.shown, [&] { return detail::read_object("storage::read", place, options); });
  if (cache) cache->write(known_as, loaded.object, loaded.etag);
  return std::move(loaded.object);
}

void write(const std::string& address, const io::Bytes& object) {
  const auto [options, cache] = detail::current();
  const detail::Place place = detail::place_of("storage::write", address);
  if (!place.is_store)
    raise<IoError>({"storage::write: '", place.shown, "': only s3://, gs:// and az:// can be written to"});
  if (place.key.empty()) raise<IoError>({"storage::write: '", address, "' names no object"});
  if (cache) cache->forget(detail::cache_name(address, place));
  detail::write_object("storage::write", place, object, options);
  if (cache) cache->forget(detail::cache_name(address, place));  // what another thread read meanwhile
}

std::vector<Object> list(const std::string& address) {
  const Options options = detail::current_options();
  const detail::Place place = detail::place_of("storage::list", address);
  if (!place.is_store)
    raise<IoError>({"storage::list: '", place.shown, "': only s3://, gs:// and az:// can be listed"});
  if (place.scheme == "az") return detail::list_blobs(place, options);
  std::vector<Object> objects;
  std::string token;
  do {
    detail::Pairs query = {{"list-type", "2"}, {"prefix", place.key}, {"encoding-type", "url"}};
    if (!token.empty()) query.emplace_back("continuation-token", token);
    const detail::Response response = detail::ask(
        "storage::list", place, {"GET", query, place.path, {}}, options,
        [](const detail::Response& r) -> std::string {
          const std::string_view xml(reinterpret_cast<const char*>(r.body.data()), r.body.size());
          return xml.find("</ListBucketResult>") == std::string_view::npos ? "the answer is no list" : "";
        });
    const std::string_view xml(reinterpret_cast<const char*>(response.body.data()), response.body.size());
    const bool encoded = !detail::xml_texts(xml, "EncodingType").empty();
    for (const std::string& one : detail::xml_texts(xml, "Contents")) {
      const auto keys = detail::xml_texts(one, "Key"), sizes = detail::xml_texts(one, "Size"),
                 etags = detail::xml_texts(one, "ETag");
      if (keys.empty()) continue;
      const std::string key = detail::xml_unescaped(keys[0]);
      objects.push_back(
          {place.scheme + "://" + place.bucket + "/" + (encoded ? detail::percent_decoded(key) : key),
           sizes.empty() ? 0 : detail::size_of_text(sizes[0]),
           etags.empty() ? "" : detail::xml_unescaped(etags[0])});
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

}  // namespace storage
NAX_END
