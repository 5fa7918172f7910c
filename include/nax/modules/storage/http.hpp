#pragma once

#include <curl/curl.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <random>
#include <thread>

#include "nax/core/at_fork.hpp"
#include "nax/core/profile.hpp"
#include "nax/io/remote.hpp"
#include "nax/modules/storage/azure.hpp"
#include "nax/modules/storage/place.hpp"
#include "nax/modules/storage/response.hpp"
#include "nax/modules/storage/storage.hpp"

// Requests by libcurl, tried again where that may help. Handles, and with them connections, are kept.
NAX_BEGIN
namespace storage::detail {

using Clock = std::chrono::steady_clock;

// A connection that is kept, and what drives it.
struct Handle {
  CURL* easy = nullptr;
  CURLM* multi = nullptr;
  explicit operator bool() const { return easy && multi; }
};

class Handles {
 public:
  static Handles& instance() {
    static Handles* const handles = new Handles;
    return *handles;
  }
  Handle take() {
    const std::lock_guard lock(mutex_);
    // Connections of before a fork are the parent's: a child leaves them as they are, and closes none.
    if (const unsigned now = nax::detail::process_generation; now != generation_)
      idle_.clear(), generation_ = now;
    if (idle_.empty()) return {::curl_easy_init(), ::curl_multi_init()};
    const Handle handle = idle_.back();
    idle_.pop_back();
    return handle;
  }
  void give(Handle handle) {
    ::curl_easy_reset(handle.easy);  // keeps connections
    const std::lock_guard lock(mutex_);
    idle_.push_back(handle);
  }

 private:
  Handles() {
    ::curl_global_init(CURL_GLOBAL_DEFAULT);
    generation_ = nax::detail::process_generation;
  }
  nax::detail::ForkMutex mutex_;
  std::vector<Handle> idle_;
  unsigned generation_ = 0;
};

inline std::size_t take_body(char* data, std::size_t size, std::size_t count, void* to) {
  auto& response = *static_cast<Response*>(to);
  auto& body = response.body;
  response.received += size * count;
  try {
    body.insert(body.end(), data, data + size * count);
  } catch (...) {
    return 0;  // no memory: curl gives up
  }
  return size * count;
}
inline std::size_t take_header(char* data, std::size_t size, std::size_t count, void* to) {
  auto& response = *static_cast<Response*>(to);
  response.received += size * count;
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

// A request's end: an answer, a failure of curl's, no byte for as long as the options allow, no time left, or
// a loop that was left meanwhile.
enum class End { answered, failed, stalled, late, left };

// Has the loop been left that this thread reads for?
inline bool is_left() {
  return io::detail::reads_for && io::detail::reads_for->load(std::memory_order_relaxed);
}

// A store's answer that no further attempt would change.
struct StoreError : IoError {
  StoreError(const std::string& text, long answered, std::string name)
      : IoError(text), status(answered), code(std::move(name)) {}
  long status;
  std::string code;  // of stores: NoSuchKey, ...; empty where the answer has none
};
// Whether the store means its answer for now alone, whatever the status is.
inline bool may_pass(const std::string& code) {
  for (const char* passing :
       {"RequestTimeout", "SlowDown", "InternalError", "ServiceUnavailable", "Throttling",
        "ThrottlingException", "RequestLimitExceeded", "OperationAborted"})
    if (code == passing) return true;
  return false;
}

// Seconds that stores' clocks are ahead of this machine's, as far as they have complained.
inline std::atomic<std::int64_t>& clock_difference() {
  static std::atomic<std::int64_t> seconds{0};
  return seconds;
}
inline std::time_t store_time() { return std::time(nullptr) + clock_difference(); }
// Learns from a refusal whose date is further from ours than stores allow; false for others.
inline bool learns_time(const Response& response) {
  constexpr std::int64_t most = 300;
  const std::time_t theirs = ::curl_getdate(response.header("date").c_str(), nullptr);
  if (theirs < 0 || std::abs(theirs - store_time()) <= most) return false;
  clock_difference() = theirs - std::time(nullptr);
  return true;
}

// Drives the transfer to its end; looks twenty times a second whether it is still wanted.
inline End drive(Handle handle, double timeout, Clock::time_point deadline, const Response& response,
                 CURLcode& code) {
  auto moved = Clock::now();
  std::uint64_t received = response.received;
  for (int running = 1;;) {
    if (::curl_multi_perform(handle.multi, &running) != CURLM_OK) return End::failed;
    if (running == 0) break;
    const auto now = Clock::now();
    curl_off_t sent = 0;
    ::curl_easy_getinfo(handle.easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    const std::uint64_t passed = response.received + static_cast<std::uint64_t>(sent);
    if (passed != received) received = passed, moved = now;
    if (is_left()) return End::left;
    if (now >= deadline) return End::late;
    if (now - moved > std::chrono::duration<double>(timeout)) return End::stalled;
    ::curl_multi_poll(handle.multi, nullptr, 0, 50, nullptr);
  }
  int left = 0;
  const CURLMsg* const message = ::curl_multi_info_read(handle.multi, &left);
  code = message ? message->data.result : CURLE_FAILED_INIT;
  return code == CURLE_OK ? End::answered : End::failed;
}

// A body to send; none where `data` is null.
struct Body {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
};

// One attempt; `code` is curl's where it failed.
inline End attempt(const std::string& url, const char* method, const Pairs& headers, double timeout,
                   Clock::time_point deadline, bool follow, Response& response, CURLcode& code,
                   const Body& body = {}) {
  code = CURLE_FAILED_INIT;
  const Handle handle = Handles::instance().take();
  if (!handle) return End::failed;
  CURL* const easy = handle.easy;
  curl_slist* list = nullptr;
  for (const auto& [name, value] : headers) list = ::curl_slist_append(list, (name + ": " + value).c_str());
  ::curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  ::curl_easy_setopt(easy, CURLOPT_NOBODY, std::string_view(method) == "HEAD" ? 1L : 0L);
  if (body.data) {
    for (const char* no : {"Expect:", "Content-Type:"}) list = ::curl_slist_append(list, no);
    ::curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.data);
    ::curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size));
  }
  if (body.data || std::string_view(method) == "DELETE")
    ::curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
  ::curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
  ::curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, follow ? 1L : 0L);
  ::curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, follow ? 0L : 1L);  // a key may have /../ in it
  ::curl_easy_setopt(easy, CURLOPT_MAXREDIRS, 5L);
  ::curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, static_cast<long>(timeout * 1e3)));
  ::curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
  ::curl_easy_setopt(easy, CURLOPT_WRITEDATA, &response);
  ::curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
  ::curl_easy_setopt(easy, CURLOPT_HEADERDATA, &response);
  ::curl_easy_setopt(easy, CURLOPT_USERAGENT, "nax");
  if (const std::string file = certificates(); !file.empty())
    ::curl_easy_setopt(easy, CURLOPT_CAINFO, file.c_str());
  End end = End::failed;
  if (::curl_multi_add_handle(handle.multi, easy) == CURLM_OK) {
    end = drive(handle, timeout, deadline, response, code);
    ::curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &response.status);
    ::curl_multi_remove_handle(handle.multi, easy);
  }
  ::curl_slist_free_all(list);
  Handles::instance().give(handle);
  return end;
}

// Ends early where the loop is left or the deadline comes.
inline void wait_before_retry(const Options& options, int failures, const Response& response,
                              Clock::time_point deadline) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  double longest = options.backoff;
  for (int i = 1; i < failures && longest < 10; ++i) longest *= 2;
  longest = std::min(longest, 10.0);
  double seconds = std::uniform_real_distribution<double>(longest / 2, longest)(random);
  const std::string asked = response.header("retry-after");
  if (!asked.empty() && asked.find_first_not_of("0123456789") == std::string::npos && asked.size() < 4)
    seconds = std::max(seconds, std::min(std::stod(asked), 60.0));
  const auto wanted =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  const auto until = std::min(wanted, deadline);
  for (auto now = Clock::now(); now < until && !is_left(); now = Clock::now())
    std::this_thread::sleep_for(std::min<Clock::duration>(until - now, std::chrono::milliseconds(10)));
}

inline Clock::time_point deadline_of(const Options& options) {
  const double most = 1e9;  // seconds, which the clock can count
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(options.deadline, most)));
}

struct Range {
  std::int64_t first = 0, size = -1;  // below 0: all of the object
};

// The request.
struct Request {
  const char* method = "GET";
  Pairs query;
  std::string path;  // encoded
  Range range = {};
  Pairs headers = {};  // more of them, names in lower case
  Body body = {};
};

// The answer: of the 200s, whole, or 304 where the request has a condition. Throws IoError naming the object,
// the last failure, and how often it was tried; at the deadline, which counts retries in. `fine(response)`
// says what is wrong with an answer, for another try.
template <class Fine>
Response ask(const char* function, Place place, const Request& request, const Options& options,
             const Fine& fine) {
  const auto& [method, query, path, range, more_headers, body] = request;
  const bool reads = std::string_view(method) == "GET" || std::string_view(method) == "HEAD";
  const bool has_condition = !more_headers.empty() && more_headers[0].first == "if-none-match";
  const std::string payload =
      place.credentials ? hex(sha256({reinterpret_cast<const char*>(body.data), body.size})) : "";
  bool is_moved = false, is_late = false;
  const nax::detail::profile::Span span(nax::detail::profile::Kind::data, "request to the store");
  const Clock::time_point deadline = deadline_of(options);
  for (int failures = 0;; ++failures) {
    Response response;
    Pairs headers;
    if (range.size >= 0)
      headers.emplace_back(
          place.scheme == "az" ? "x-ms-range" : "Range",
          "bytes=" + std::to_string(range.first) + "-" + std::to_string(range.first + range.size - 1));
    Pairs extra = more_headers;
    if (place.scheme == "s3" && reads && !place.is_list(query))
      extra.emplace_back("x-amz-checksum-mode", "ENABLED");
    if (place.scheme == "az") {
      extra.insert(extra.end(), headers.begin(), headers.end());
      headers = azure_headers(place.account, place.account_key, method, path, query, body.size, store_time(),
                              extra);
    } else if (place.credentials) {
      for (auto& header : signed_headers(place.credentials, place.region, method, place.host, path, query,
                                         store_time(), extra, payload))
        headers.push_back(std::move(header));
    } else {
      for (auto& header : extra) headers.push_back(std::move(header));
      if (!place.bearer.empty()) headers.emplace_back("Authorization", "Bearer " + place.bearer);
    }
    std::string url = place.base + path;
    const std::string text = place.is_store ? query_text(query) : place.query;
    if (!text.empty()) url += "?" + text;
    if (!place.sas.empty()) url += (text.empty() ? "?" : "&") + place.sas;
    CURLcode code;
    const End end =
        attempt(url, method, headers, options.timeout, deadline, !place.is_store, response, code, body);
    bool again = true;
    std::string failure, error_code;
    if (end == End::left) {
      raise<IoError>({function, ": '", place.shown, "': the loop was left"});
    } else if (end == End::late) {
      failure = "no answer within the deadline";
    } else if (end == End::stalled) {
      failure = "the answer stalled";
    } else if (end == End::failed) {
      failure = ::curl_easy_strerror(code);  // which says nothing of the request
      again = may_pass(code);
    } else if (has_condition && response.status == 304) {
      return response;
    } else if (response.status == 200 || response.status == 206 ||
               (!reads && response.status >= 201 && response.status <= 204)) {
      failure = fine(response);
      if (failure.empty()) return response;
    } else if (const std::string region = response.header("x-amz-bucket-region");
               place.scheme == "s3" && response.status < 500 && !is_moved && is_region(region) &&
               region != place.region) {
      is_moved = true;  // the bucket lies elsewhere: asked there at once
      Regions::instance().learn(place.bucket, region);
      place = place_of(function, place.shown);
      --failures;
      continue;
    } else {
      failure = "the server answers " + std::to_string(response.status);
      const auto codes =
          xml_texts({reinterpret_cast<const char*>(response.body.data()), response.body.size()}, "Code");
      if (place.is_store && !codes.empty() && codes[0].size() < 64) error_code = codes[0];
      if (!error_code.empty()) failure += " (" + error_code + ")";
      // Redirects are followed, except one whose headers were cut short.
      const bool is_cut = !place.is_store && response.status / 100 == 3;
      again = may_pass(response.status) || may_pass(error_code) || is_cut;
      if (!again && !is_late && (response.status == 400 || response.status == 403) &&
          (place.credentials || !place.account_key.empty()))
        again = is_late = learns_time(response);
    }
    if (!again)
      throw StoreError(nax::detail::text_of({function, ": '", place.shown, "': ", failure}), response.status,
                       error_code);
    if (end != End::late && failures < options.retries)
      wait_before_retry(options, failures + 1, response, deadline);
    if (is_left()) raise<IoError>({function, ": '", place.shown, "': the loop was left"});
    const bool late = Clock::now() >= deadline;
    if (late || failures >= options.retries)
      raise<IoError>({function, ": '", place.shown, "': ", failure, " (tried ", failures + 1, " times",
                      late ? ", until the deadline)" : ")"});
  }
}

}  // namespace storage::detail
NAX_END
