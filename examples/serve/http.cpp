#include "http.hpp"

#include <httplib.h>

#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace serve {
namespace {

static_assert(std::endian::native == std::endian::little, "raw bodies are read as they come");

// Numbers as float: read and written in their shortest form.
using Json =
    nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, float>;

constexpr const char* raw = "application/octet-stream";
constexpr const char* json = "application/json";

struct BadRequest : std::runtime_error {
  using runtime_error::runtime_error;
};

std::vector<float> rows_of_json(const std::string& body, std::int64_t width) {
  const Json document = Json::parse(body, nullptr, false);
  if (!document.is_object() || !document.contains("instances") || !document["instances"].is_array())
    throw BadRequest("the body is no JSON object with a list of \"instances\"");
  const Json& instances = document["instances"];
  std::vector<float> rows;
  rows.reserve(instances.size() * static_cast<std::size_t>(width));
  for (const Json& row : instances) {
    if (!row.is_array() || row.size() != static_cast<std::size_t>(width))
      throw BadRequest("an instance is no list of " + std::to_string(width) + " numbers");
    for (const Json& number : row) {
      if (!number.is_number()) throw BadRequest("an instance has an element that is no number");
      rows.push_back(number.get<float>());
    }
  }
  return rows;
}

std::vector<float> rows_of_bytes(const std::string& body, std::int64_t width) {
  const std::size_t row = static_cast<std::size_t>(width) * sizeof(float);
  if (body.size() % row != 0)
    throw BadRequest("a body of " + std::to_string(body.size()) + " bytes is no rows of " +
                     std::to_string(width) + " float32");
  std::vector<float> rows(body.size() / sizeof(float));
  if (!rows.empty()) std::memcpy(rows.data(), body.data(), body.size());
  return rows;
}

std::string json_of(const std::vector<float>& results, std::int64_t width) {
  Json predictions = Json::array(), classes = Json::array();
  for (auto row = results.begin(); row != results.end(); row += width) {
    predictions.push_back(std::vector<float>(row, row + width));
    classes.push_back(std::max_element(row, row + width) - row);
  }
  return Json{{"predictions", std::move(predictions)}, {"classes", std::move(classes)}}.dump();
}

void fail(httplib::Response& response, int status, const std::string& reason) {
  response.status = status;
  response.set_content(Json{{"error", reason}}.dump(-1, ' ', false, Json::error_handler_t::replace), json);
}

void answer(Service& service, const httplib::Request& request, httplib::Response& response) {
  const std::string type = request.get_header_value("Content-Type");
  const bool is_raw = type.starts_with(raw);
  if (!is_raw && !type.starts_with(json)) return fail(response, 415, std::string(json) + " or " + raw);
  const std::vector<float> in =
      is_raw ? rows_of_bytes(request.body, service.in()) : rows_of_json(request.body, service.in());
  if (in.empty()) throw BadRequest("there are no rows");
  std::vector<float> out(in.size() / static_cast<std::size_t>(service.in()) *
                         static_cast<std::size_t>(service.out()));
  service.predict(in, out);
  response.status = 200;
  if (is_raw)
    response.set_content(reinterpret_cast<const char*>(out.data()), out.size() * sizeof(float), raw);
  else
    response.set_content(json_of(out, service.out()), json);
}

void predict(Service& service, const httplib::Request& request, httplib::Response& response) {
  const auto start = std::chrono::steady_clock::now();
  try {
    answer(service, request, response);
  } catch (const BadRequest& error) {
    fail(response, 400, error.what());
  } catch (const Stopped& error) {
    fail(response, 503, error.what());
  } catch (const std::exception& error) {
    fail(response, 500, error.what());
  }
  Metrics& metrics = service.metrics();
  metrics.requests.add(response.status);
  if (response.status != 200) return;
  const auto time = std::chrono::steady_clock::now() - start;
  metrics.microseconds.add(
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count()));
}

void reload(Service& service, httplib::Response& response) {
  try {
    service.reload();
    response.set_content(Json{{"reloaded", true}}.dump(), json);
  } catch (const std::exception& error) {
    fail(response, 500, error.what());
  }
}

}  // namespace

class HttpServer::Listener : public httplib::Server {
 public:
  // httplib lets five connections wait to be accepted. The system drops the others, which try again a second
  // later.
  void let_more_wait() { ::listen(svr_sock_, SOMAXCONN); }
};

HttpServer::HttpServer(Service& service, const HttpOptions& options) : server_(std::make_unique<Listener>()) {
  Listener& server = *server_;
  const auto threads = static_cast<std::size_t>(options.connections);
  server.new_task_queue = [threads] { return new httplib::ThreadPool(threads); };
  server.set_tcp_nodelay(true);  // headers and body are two packets: the second must not wait for an answer
  server.set_keep_alive_max_count(std::numeric_limits<int>::max());
  server.set_payload_max_length(std::size_t{64} << 20);
  server.Post("/predict", [&service](const httplib::Request& request, httplib::Response& response) {
    predict(service, request, response);
  });
  server.Post("/reload", [&service](const httplib::Request&, httplib::Response& response) {
    reload(service, response);
  });
  server.Get("/metrics", [&service](const httplib::Request&, httplib::Response& response) {
    response.set_content(service.metrics_text(), "text/plain; version=0.0.4");
  });
  server.Get("/health", [&service](const httplib::Request&, httplib::Response& response) {
    response.set_content(Json{{"inputs", service.in()}, {"classes", service.out()}}.dump(), json);
  });
  listen(options);
}

void HttpServer::listen(const HttpOptions& options) {
  if (options.port == 0)
    port_ = server_->bind_to_any_port(options.host);
  else if (server_->bind_to_port(options.host, options.port))
    port_ = options.port;
  if (port_ < 0)
    throw std::runtime_error("cannot listen on " + options.host + ":" + std::to_string(options.port));
  server_->let_more_wait();
  listener_ = std::thread([this] { server_->listen_after_bind(); });
  while (!server_->is_running()) std::this_thread::yield();  // before that its stop() has no effect
}

HttpServer::~HttpServer() { stop(); }

void HttpServer::stop() {
  if (!listener_.joinable()) return;
  server_->stop();
  listener_.join();
}

}  // namespace serve
