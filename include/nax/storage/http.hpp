#pragma once

#include <curl/curl.h>

#include <chrono>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "nax/storage/place.hpp"
#include "nax/storage/storage.hpp"

// Requests by libcurl, tried again where that may help. Handles, and with them connections, are kept.
namespace nax::inline NAX_ABI::storage::detail {

struct Response {
  long status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  io::Bytes body;
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

class Handles {
 public:
  static Handles& instance() {
    static Handles* const handles = new Handles;
    return *handles;
  }
  CURL* take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return ::curl_easy_init();
    CURL* const handle = idle_.back();
    idle_.pop_back();
    return handle;
  }
  void give(CURL* handle) {
    ::curl_easy_reset(handle);  // keeps connections
    const std::lock_guard lock(mutex_);
    idle_.push_back(handle);
  }

 private:
  Handles() { ::curl_global_init(CURL_GLOBAL_DEFAULT); }
  std::mutex mutex_;
  std::vector<CURL*> idle_;
};

inline std::size_t take_body(char* data, std::size_t size, std::size_t count, void* to) {
  auto& body = static_cast<Response*>(to)->body;
  try {
    body.insert(body.end(), data, data + size * count);
  } catch (...) {
    return 0;  // no memory: curl gives up
  }
  return size * count;
}
inline std::size_t take_header(char* data, std::size_t size, std::size_t count, void* to) {
  auto& response = *static_cast<Response*>(to);
  std::string line(data, size * count);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n' || line.back() == ' ')) line.pop_back();
  const std::size_t colon = line.find(':');
  if (line.compare(0, 5, "HTTP/") == 0)
    response.headers.clear(), response.body.clear();  // of a redirect: the last counts
  if (colon != std::string::npos) {
    std::string name = line.substr(0, colon);
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    std::string& here = response.headers[name];
    const std::string text = value == std::string::npos ? "" : line.substr(value);
    here = here.empty() ? text : here + "," + text;
  }
  return size * count;
}

// Certificates other than the system's, where a store has its own: named as other tools of such stores are
// told of them.
inline std::string certificates() {
  return first_of(
      {environment("AWS_CA_BUNDLE"), environment("CURL_CA_BUNDLE"), environment("SSL_CERT_FILE")});
}

// Not what another attempt would see differently.
inline bool may_pass(CURLcode code) {
  return code != CURLE_PEER_FAILED_VERIFICATION && code != CURLE_SSL_CACERT_BADFILE &&
         code != CURLE_URL_MALFORMAT && code != CURLE_UNSUPPORTED_PROTOCOL &&
         code != CURLE_TOO_MANY_REDIRECTS;
}
inline bool may_pass(long status) { return status >= 500 || status == 408 || status == 429; }

// One attempt. Returns CURLE_OK where an answer came.
inline CURLcode attempt(const std::string& url, const Pairs& headers, double timeout, bool follow,
                        Response& response) {
  CURL* const handle = Handles::instance().take();
  if (!handle) return CURLE_FAILED_INIT;
  curl_slist* list = nullptr;
  for (const auto& [name, value] : headers) list = ::curl_slist_append(list, (name + ": " + value).c_str());
  ::curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  ::curl_easy_setopt(handle, CURLOPT_HTTPHEADER, list);
  ::curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, follow ? 1L : 0L);
  ::curl_easy_setopt(handle, CURLOPT_MAXREDIRS, 5L);
  ::curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(timeout * 1e3));
  ::curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  ::curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(timeout + 0.5)));
  ::curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
  ::curl_easy_setopt(handle, CURLOPT_WRITEDATA, &response);
  ::curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
  ::curl_easy_setopt(handle, CURLOPT_HEADERDATA, &response);
  ::curl_easy_setopt(handle, CURLOPT_USERAGENT, "nax");
  if (const std::string file = certificates(); !file.empty())
    ::curl_easy_setopt(handle, CURLOPT_CAINFO, file.c_str());
  const CURLcode code = ::curl_easy_perform(handle);
  ::curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &response.status);
  ::curl_slist_free_all(list);
  Handles::instance().give(handle);
  return code;
}

inline void wait_before_retry(const Options& options, int failures, const Response& response) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  double longest = options.backoff;
  for (int i = 1; i < failures && longest < 10; ++i) longest *= 2;
  longest = std::min(longest, 10.0);
  double seconds = std::uniform_real_distribution<double>(longest / 2, longest)(random);
  const std::string asked = response.header("retry-after");
  if (!asked.empty() && asked.find_first_not_of("0123456789") == std::string::npos && asked.size() < 4)
    seconds = std::max(seconds, std::min(std::stod(asked), 60.0));
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

struct Range {
  std::int64_t first = 0, size = -1;  // below 0: all of the object
};

// The answer to a GET: 200 or 206, whole. Throws IoError naming the object, the last failure, and how often
// it was tried. `fine(response)` says what is wrong with an answer, for another try.
template <class Fine>
Response get(const char* function, const Place& place, const Pairs& query, const std::string& path,
             Range range, const Options& options, const Fine& fine) {
  for (int failures = 0;; ++failures) {
    Response response;
    Pairs headers;
    if (range.size >= 0)
      headers.emplace_back("Range", "bytes=" + std::to_string(range.first) + "-" +
                                        std::to_string(range.first + range.size - 1));
    if (place.credentials) {
      Pairs extra;
      if (place.scheme == "s3" && range.size < 0 && query.empty())
        extra.emplace_back("x-amz-checksum-mode", "ENABLED");
      for (auto& header : signed_headers(place.credentials, place.region, "GET", place.host, path, query,
                                         std::time(nullptr), extra))
        headers.push_back(std::move(header));
    } else if (!place.bearer.empty()) {
      headers.emplace_back("Authorization", "Bearer " + place.bearer);
    }
    std::string url = place.base + path;
    const std::string text = place.is_store ? query_text(query) : place.query;
    if (!text.empty()) url += "?" + text;
    const CURLcode code = attempt(url, headers, options.timeout, !place.is_store, response);
    bool again = true;
    std::string failure;
    if (code != CURLE_OK) {
      failure = ::curl_easy_strerror(code);  // which says nothing of the request
      again = may_pass(code);
    } else if (response.status == 200 || response.status == 206) {
      failure = fine(response);
      if (failure.empty()) return response;
    } else {
      failure = "the server answers " + std::to_string(response.status);
      const auto codes =
          xml_texts({reinterpret_cast<const char*>(response.body.data()), response.body.size()}, "Code");
      if (place.is_store && !codes.empty() && codes[0].size() < 64) failure += " (" + codes[0] + ")";
      again = may_pass(response.status);
    }
    if (!again) raise<IoError>({function, ": '", place.shown, "': ", failure});
    if (failures >= options.retries)
      raise<IoError>({function, ": '", place.shown, "': ", failure, " (tried ", failures + 1, " times)"});
    wait_before_retry(options, failures + 1, response);
  }
}

}  // namespace nax::inline NAX_ABI::storage::detail
