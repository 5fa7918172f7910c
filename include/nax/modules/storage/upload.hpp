#pragma once

#include "nax/modules/storage/checksums.hpp"
#include "nax/modules/storage/http.hpp"

// Uploads: at once, or in parts that the store puts together when all of them are there.
NAX_BEGIN
namespace storage::detail {

inline std::string any_answer(const Response&) { return ""; }

// Of a body, for the store to check: Amazon's header, or Google's.
inline Pairs checksum_header(const Place& place, const Body& body) {
  const std::string sum = sum_text(crc32c_sum(body.data, body.size), false);
  if (place.scheme == "gs") return {{"x-goog-hash", "crc32c=" + sum}};
  return {{"x-amz-checksum-crc32c", sum}};
}

// An upload in parts, which is aborted unless it is completed.
class PartsUpload {
 public:
  PartsUpload(const char* function, const Place& place, const Options& options)
      : function_(function), place_(place), options_(options) {
    Pairs headers;
    if (place.scheme == "s3") headers = {{"x-amz-checksum-algorithm", "CRC32C"}};
    const Response begun =
        ask(function_, place_, request("POST", {{"uploads", ""}}, headers, nothing()), options_,
            [](const Response& r) -> std::string {
              return xml_texts(text_of(r), "UploadId").empty() ? "the answer names no upload" : "";
            });
    id_ = xml_unescaped(xml_texts(text_of(begun), "UploadId")[0]);
  }
  PartsUpload(const PartsUpload&) = delete;
  PartsUpload& operator=(const PartsUpload&) = delete;
  ~PartsUpload() {
    if (is_complete_) return;
    Options few = options_;
    few.retries = std::min(few.retries, 3), few.deadline = std::min(few.deadline, 30.0);
    try {
      ask(function_, place_, request("DELETE", {{"uploadId", id_}}, {}, {}), few, any_answer);
    } catch (const std::exception&) {  // the store's own rules sweep what is left
    }
  }

  // Any thread may send its part.
  std::string send(std::size_t number, const Body& body) {
    const Pairs query = {{"partNumber", std::to_string(number)}, {"uploadId", id_}};
    const Response answer = ask(function_, place_, request("PUT", query, checksum_header(place_, body), body),
                                options_, [](const Response& r) -> std::string {
                                  return r.header("etag").empty() ? "the answer has no ETag" : "";
                                });
    return answer.header("etag");
  }

  // `sums` are the parts' checksums, `etags` the answers to them.
  void complete(const std::vector<std::string>& etags, const std::vector<std::string>& sums) {
    std::string xml = "<CompleteMultipartUpload>";
    for (std::size_t i = 0; i < etags.size(); ++i) {
      xml += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + etags[i] + "</ETag>";
      if (place_.scheme == "s3") xml += "<ChecksumCRC32C>" + sums[i] + "</ChecksumCRC32C>";
      xml += "</Part>";
    }
    xml += "</CompleteMultipartUpload>";
    const Body body{reinterpret_cast<const std::uint8_t*>(xml.data()), xml.size()};
    try {
      // A store may find out that it fails when it has said 200 already.
      ask(function_, place_, request("POST", {{"uploadId", id_}}, {}, body), options_,
          [](const Response& r) -> std::string {
            return xml_texts(text_of(r), "ETag").empty() ? "the store could not put the parts together" : "";
          });
    } catch (const StoreError& error) {
      // It was put together by an attempt whose answer was lost.
      if (error.code != "NoSuchUpload" || !is_there(etags)) throw;
    }
    is_complete_ = true;
  }

 private:
  static std::string_view text_of(const Response& r) {
    return {reinterpret_cast<const char*>(r.body.data()), r.body.size()};
  }
  static Body nothing() {
    static constexpr std::uint8_t none = 0;
    return {&none, 0};
  }
  Request request(const char* method, Pairs query, Pairs headers, const Body& body) const {
    return {method, std::move(query), place_.object_path(), {}, std::move(headers), body};
  }
  // Is the object the one of these parts? Its ETag is then the MD5 of theirs.
  bool is_there(const std::vector<std::string>& etags) const {
    std::vector<std::uint8_t> digests;
    for (const std::string& etag : etags)
      for (std::size_t i = 1; i + 2 < etag.size(); i += 2)
        digests.push_back(static_cast<std::uint8_t>(std::strtoul(etag.substr(i, 2).c_str(), nullptr, 16)));
    const std::string expected = "\"" + sum_text(md5_sum(digests.data(), digests.size()), true) + "-" +
                                 std::to_string(etags.size()) + "\"";
    return ask(function_, place_, {"HEAD", {}, place_.object_path()}, options_, any_answer).header("etag") ==
           expected;
  }
  const char* function_;
  const Place& place_;
  const Options& options_;
  std::string id_;
  bool is_complete_ = false;
};

// f(i) for all i below n, by as many threads as the options have connections.
template <class F>
void for_each_parallel(std::size_t n, const Options& options, const F& f) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  const std::atomic<bool>* const loop = io::detail::reads_for;
  const auto work = [&] {
    const io::detail::ReadsFor reading(loop);
    try {
      for (std::size_t i; !failed && (i = next.fetch_add(1)) < n;) f(i);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  try {
    for (std::size_t i = 1; i < std::min(n, static_cast<std::size_t>(options.connections)); ++i)
      threads.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads: fewer do it
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

// A blob in blocks, which are part of nothing before their list is there; the store sweeps those of a failed
// upload. Every block goes with its MD5, and the whole blob's is kept for its readers.
inline void write_blob(const char* function, const Place& place, const io::Bytes& object,
                       const Options& options) {
  static constexpr std::uint8_t none = 0;
  const auto md5 = [](const Body& body) { return sum_text(md5_sum(body.data, body.size), false); };
  const auto put = [&](const Pairs& query, Pairs headers, const Body& body) {
    headers.emplace_back("content-md5", md5(body));
    ask(function, place, {"PUT", query, place.object_path(), {}, std::move(headers), body}, options,
        any_answer);
  };
  const auto step = static_cast<std::size_t>(options.upload_part_bytes);
  const Body whole{object.empty() ? &none : object.data(), object.size()};
  if (object.size() <= step) return put({}, {{"x-ms-blob-type", "BlockBlob"}}, whole);
  const std::size_t blocks = (object.size() + step - 1) / step;
  if (blocks > 50'000)  // of Azure
    raise<IoError>({function, ": '", place.shown, "': ", static_cast<std::int64_t>(object.size()),
                    " bytes are more than 50000 parts of upload_part_bytes"});
  for_each_parallel(blocks, options, [&](std::size_t i) {
    put({{"comp", "block"}, {"blockid", block_name(i)}}, {},
        {object.data() + i * step, std::min(step, object.size() - i * step)});
  });
  const std::string list = block_list(blocks);
  put({{"comp", "blocklist"}}, {{"x-ms-blob-content-md5", md5(whole)}},
      {reinterpret_cast<const std::uint8_t*>(list.data()), list.size()});
}

inline void write_object(const char* function, const Place& place, const io::Bytes& object,
                         const Options& options) {
  if (place.scheme == "az") return write_blob(function, place, object, options);
  static constexpr std::uint8_t none = 0;
  const auto step = static_cast<std::size_t>(options.upload_part_bytes);
  if (object.size() <= step) {
    const Body body{object.empty() ? &none : object.data(), object.size()};
    ask(function, place, {"PUT", {}, place.object_path(), {}, checksum_header(place, body), body}, options,
        any_answer);
    return;
  }
  const std::size_t parts = (object.size() + step - 1) / step;
  if (parts > 10'000)  // of S3
    raise<IoError>({function, ": '", place.shown, "': ", static_cast<std::int64_t>(object.size()),
                    " bytes are more than 10000 parts of upload_part_bytes"});
  PartsUpload upload(function, place, options);
  std::vector<std::string> etags(parts), sums(parts);
  for_each_parallel(parts, options, [&](std::size_t i) {
    const Body body{object.data() + i * step, std::min(step, object.size() - i * step)};
    sums[i] = sum_text(crc32c_sum(body.data, body.size), false);
    etags[i] = upload.send(i + 1, body);
  });
  upload.complete(etags, sums);
}

}  // namespace storage::detail
NAX_END
