#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// An HTTP server on the loopback with objects, ranges and S3's lists, and faults on request.
class Loopback {
 public:
  struct Request {
    std::string method, path, query;
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
  };
  enum class Fault { none, answer_503, cut_headers, cut_body, close_at_once, wrong_byte, stall_body, drip };

  Loopback() {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 64);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept(); });
  }
  ~Loopback() {
    stop_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
      const std::lock_guard lock(mutex_);
      for (const int connection : connections_) ::shutdown(connection, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
  }

  std::string base() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::map<std::string, std::string> objects;  // by path; set before the first request
  std::function<Fault(int request)> fault;     // of the n-th request
  // Answers requests that are not for objects; empty for those that are. Called after the faults.
  std::function<std::optional<std::string>(const Request&)> other;
  bool knows_ranges = true;
  int latency_ms = 0;
  // GETs are held back until as many of them wait at once, for 3 s at most; then they are answered.
  int gather = 0;
  std::size_t page = 1000;
  std::map<std::string, std::string> more_headers;
  std::map<std::string, std::string> etags, head_headers;  // by path; of answers to HEAD alone
  std::size_t part_bytes = 0;                              // of objects that were uploaded in parts

  int requests() const { return count_; }
  int connections() const { return accepted_; }
  // How many GETs waited at once; begins anew.
  int most_gathered() {
    const std::lock_guard lock(mutex_);
    return std::exchange(most_gathered_, 0);
  }
  std::vector<Request> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  void accept() {
    while (!stop_) {
      const int connection = ::accept(listener_, nullptr, nullptr);
      if (connection < 0) continue;
      ++accepted_;
      const std::lock_guard lock(mutex_);
      connections_.push_back(connection);
      threads_.emplace_back([this, connection] { serve(connection); });
    }
  }
  static void send(int connection, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t put = ::send(connection, text.data() + done, text.size() - done, MSG_NOSIGNAL);
      if (put <= 0) return;
      done += static_cast<std::size_t>(put);
    }
  }
  void serve(int connection) {
    std::string pending;
    for (;;) {
      std::size_t end;
      while ((end = pending.find("\r\n\r\n")) == std::string::npos) {
        char buffer[4096];
        const ssize_t got = ::recv(connection, buffer, sizeof buffer, 0);
        if (got <= 0) return close(connection);
        pending.append(buffer, static_cast<std::size_t>(got));
      }
      Request request = parsed(pending.substr(0, end + 2));
      pending.erase(0, end + 4);
      const auto length = request.headers.find("content-length");
      const std::size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
      while (pending.size() < size) {
        char buffer[4096];
        const ssize_t got = ::recv(connection, buffer, sizeof buffer, 0);
        if (got <= 0) return close(connection);
        pending.append(buffer, static_cast<std::size_t>(got));
      }
      request.body = pending.substr(0, size);
      pending.erase(0, size);
      if (!answer(connection, request)) return close(connection);
    }
  }
  void close(int connection) {
    const std::lock_guard lock(mutex_);
    std::erase(connections_, connection);
    ::close(connection);
  }
  static Request parsed(const std::string& text) {
    Request request;
    const std::size_t line = text.find("\r\n"), first = text.find(' '), last = text.rfind(' ', line);
    const std::string target = text.substr(first + 1, last - first - 1);
    request.method = text.substr(0, first);
    request.path = target.substr(0, target.find('?'));
    if (target.find('?') != std::string::npos) request.query = target.substr(target.find('?') + 1);
    for (std::size_t at = line + 2; at < text.size();) {
      const std::size_t next = text.find("\r\n", at), colon = text.find(':', at);
      std::string name = text.substr(at, colon - at);
      for (char& c : name) c = static_cast<char>(std::tolower(c));
      request.headers[name] = text.substr(colon + 2, next - colon - 2);
      at = next + 2;
    }
    return request;
  }
  void wait_for_others() {
    std::unique_lock lock(mutex_);
    most_gathered_ = std::max(most_gathered_, ++gathered_);
    if (most_gathered_ >= gather) all_there_.notify_all();
    all_there_.wait_for(lock, std::chrono::seconds(3), [&] { return most_gathered_ >= gather; });
    --gathered_;
  }
  bool answer(int connection, const Request& request) {
    const int number = count_++;
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back(request);
    }
    if (latency_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(latency_ms));
    if (gather > 0 && request.method == "GET") wait_for_others();
    const Fault what = fault ? fault(number) : Fault::none;
    if (what == Fault::close_at_once) return false;
    if (what == Fault::answer_503) {
      send(connection, "HTTP/1.1 503 Slow Down\r\nContent-Length: 4\r\n\r\nslow");
      return true;
    }
    if (const auto own = other ? other(request) : std::nullopt) {
      send(connection,
           what == Fault::cut_headers || what == Fault::cut_body ? own->substr(0, own->size() / 2) : *own);
      return what != Fault::cut_headers && what != Fault::cut_body;
    }
    std::string body, status = "200 OK", extra;
    if (request.query.find("list-type=2") != std::string::npos) {
      body = list(request);
    } else if (const auto found = objects.find(request.path); found == objects.end()) {
      status = "404 Not Found";
      body = "<Error><Code>NoSuchKey</Code></Error>";
    } else {
      body = found->second;
      for (const auto& [name, value] : more_headers) extra += name + ": " + value + "\r\n";
      if (const auto etag = etags.find(request.path); etag != etags.end())
        extra += "ETag: \"" + etag->second + "\"\r\n";
      if (request.method == "HEAD") {
        for (const auto& [name, value] : head_headers) extra += name + ": " + value + "\r\n";
        const std::size_t size = request.query == "partNumber=1" && part_bytes > 0 ? part_bytes : body.size();
        send(connection,
             "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n" + extra + "\r\n");
        return true;
      }
      unsigned long long begin = 0, last = 0;
      const auto range = request.headers.find("range");
      if (knows_ranges && range != request.headers.end() &&
          std::sscanf(range->second.c_str(), "bytes=%llu-%llu", &begin, &last) == 2) {
        const std::size_t total = body.size();
        if (begin >= total) {
          status = "416 Range Not Satisfiable", body.clear();
        } else {
          body = body.substr(begin, last - begin + 1);
          status = "206 Partial Content";
          extra += "Content-Range: bytes " + std::to_string(begin) + "-" +
                   std::to_string(begin + body.size() - 1) + "/" + std::to_string(total) + "\r\n";
        }
      }
    }
    if (what == Fault::wrong_byte && !body.empty()) body[body.size() / 2] ^= 1;
    std::string text =
        "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + extra + "\r\n";
    if (what == Fault::cut_headers) return send(connection, text.substr(0, text.size() / 2)), false;
    if (what == Fault::cut_body) return send(connection, text + body.substr(0, body.size() / 2)), false;
    if (what == Fault::stall_body || what == Fault::drip) {
      send(connection, text + body.substr(0, body.size() / 2));
      for (std::size_t at = body.size() / 2; !stop_ && at < body.size(); ++at) {
        if (what == Fault::drip) send(connection, body.substr(at, 1));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      return false;
    }
    send(connection, text + body);
    return true;
  }
  std::string etag_of(const std::string& path) const {
    const auto etag = etags.find(path);
    return etag == etags.end() ? "" : "<ETag>&quot;" + etag->second + "&quot;</ETag>";
  }
  // A page of the objects whose paths begin with that of the bucket and the prefix.
  std::string list(const Request& request) const {
    const auto value = [&](const std::string& name) {
      const std::size_t at = ("&" + request.query).find("&" + name + "=");
      if (at == std::string::npos) return std::string();
      const std::size_t begin = at + name.size() + 1;
      return request.query.substr(begin, request.query.find('&', begin) - begin);
    };
    const auto decoded = [](std::string text) {
      for (std::size_t at; (at = text.find("%2F")) != std::string::npos;) text.replace(at, 3, "/");
      return text;
    };
    const std::string prefix = request.path + decoded(value("prefix")),
                      after = decoded(value("continuation-token"));
    std::string xml = "<?xml version=\"1.0\"?><ListBucketResult><EncodingType>url</EncodingType>";
    std::size_t n = 0;
    std::string last;
    for (const auto& [path, body] : objects) {
      if (path.compare(0, prefix.size(), prefix) != 0) continue;
      const std::string key = path.substr(request.path.size());
      if (!after.empty() && key <= after) continue;
      if (n++ == page)
        return xml + "<IsTruncated>true</IsTruncated><NextContinuationToken>" + last +
               "</NextContinuationToken></ListBucketResult>";
      xml += "<Contents><Key>" + key + "</Key><Size>" + std::to_string(body.size()) + "</Size>" +
             etag_of(path) + "</Contents>";
      last = key;
    }
    return xml + "<IsTruncated>false</IsTruncated></ListBucketResult>";
  }

  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<int> count_{0}, accepted_{0};
  std::mutex mutex_;
  std::condition_variable all_there_;
  int gathered_ = 0, most_gathered_ = 0;
  std::vector<int> connections_;
  std::vector<Request> seen_;
  std::thread acceptor_;
  std::vector<std::thread> threads_;
};
