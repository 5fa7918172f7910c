#pragma once

#include <memory>
#include <string>
#include <thread>

#include "service.hpp"

// The service by HTTP:
//
//   POST /predict  {"instances": [[0.5, ...], ...]}  ->  {"predictions": [[0.1, ...], ...], "classes": [3,
//   ...]}
//                  or little-endian float32 rows as application/octet-stream, answered in kind
//   POST /reload   puts the file's present model in place; 500 with the reason where that fails. httplib
//                  wants a Content-Length: curl -d '' .../reload
//   GET /metrics   in Prometheus' text format
//   GET /health    the model's file and sizes
//
// Errors are {"error": "..."}. Each connection has a thread of its own while it is open.
namespace serve {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 0;          // 0: any that is free
  int connections = 64;  // threads; further connections wait
};

class HttpServer {
 public:
  // Listens when it returns. Throws std::runtime_error where the port is not free.
  HttpServer(Service& service, const HttpOptions& options);
  ~HttpServer();

  int port() const { return port_; }
  // Takes no more connections, answers what has been sent, and returns. One thread calls it.
  void stop();

 private:
  class Listener;
  void listen(const HttpOptions& options);

  std::unique_ptr<Listener> server_;
  int port_ = -1;
  std::thread listener_;
};

}  // namespace serve
