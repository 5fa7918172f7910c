#include "serve/http.hpp"

#include <gtest/gtest.h>
#include <httplib.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "serve/models.hpp"

namespace serve_http_test {
using namespace serve_models;
using nlohmann::json;

constexpr const char* raw = "application/octet-stream";

struct Running {
  std::string path;
  serve::Service service;
  serve::HttpServer http;

  explicit Running(const std::string& name, serve::HttpOptions options = {})
      : path(saved(name)),
        service({.model = {.path = path}, .max_batch = 8, .max_wait = std::chrono::microseconds(100)}),
        http(service, options) {}
  static std::string saved(const std::string& name) {
    const std::string path = file(name + ".safetensors");
    nax::io::save_safetensors(path, layers(0));
    return path;
  }
  httplib::Client client() const {
    httplib::Client client("127.0.0.1", http.port());
    client.set_keep_alive(true);
    client.set_tcp_nodelay(true);
    return client;
  }
};

// Rows as a raw body, and back.
std::string bytes(std::span<const float> x) {
  return {reinterpret_cast<const char*>(x.data()), x.size_bytes()};
}
std::vector<float> floats(const std::string& body) {
  std::vector<float> x(body.size() / sizeof(float));
  if (!x.empty()) std::memcpy(x.data(), body.data(), body.size());
  return x;
}

double metric(const Running& server, const std::string& name) {
  auto client = server.client();
  const auto answer = client.Get("/metrics");
  if (!answer) return -1;
  EXPECT_EQ(answer->get_header_value("Content-Type"), "text/plain; version=0.0.4");
  const std::size_t at = answer->body.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(answer->body.substr(at + name.size() + 2));
}

TEST(ServeHttp, AnswersRawAndJsonAlike) {
  Running server("alike");
  auto client = server.client();
  const Array<float> x = examples(3);
  const std::vector<float> want = direct(layers(0), x);
  const auto by_bytes = client.Post("/predict", bytes(x.to_vector()), raw);
  ASSERT_TRUE(by_bytes);
  EXPECT_EQ(by_bytes->status, 200);
  EXPECT_EQ(by_bytes->get_header_value("Content-Type"), raw);
  EXPECT_TRUE(close(floats(by_bytes->body), want));

  json instances = json::array();
  for (int i = 0; i < 3; ++i) instances.push_back(x(i).to_vector());
  const auto by_json = client.Post("/predict", json{{"instances", instances}}.dump(), "application/json");
  ASSERT_TRUE(by_json);
  const json answer = json::parse(by_json->body);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = answer["predictions"][i].get<std::vector<float>>();
    EXPECT_TRUE(close(row, std::span(want).subspan(4 * i, 4)));
    EXPECT_EQ(answer["classes"][i], std::max_element(row.begin(), row.end()) - row.begin());
  }
}

TEST(ServeHttp, ErrorsDescribeTheRequest) {
  Running server("wrong");
  auto client = server.client();
  const auto error = [&](const std::string& body, const char* type, int status) {
    const auto answer = client.Post("/predict", body, type);
    EXPECT_TRUE(answer && answer->status == status) << body;
    return answer ? json::parse(answer->body)["error"].get<std::string>() : "";
  };
  EXPECT_EQ(error("12345", raw, 400), "a body of 5 bytes is no rows of 12 float32");
  EXPECT_EQ(error("", raw, 400), "there are no rows");
  EXPECT_EQ(error("{\"instances\": [[1, 2]]}", "application/json", 400),
            "an instance is no list of 12 numbers");
  EXPECT_EQ(error("{\"instances\": [[1,2,3,4,5,6,7,8,9,10,11,\"a\"]]}", "application/json", 400),
            "an instance has an element that is no number");
  for (const char* body : {"{", "[]", "{}", "{\"instances\": 3}"})
    EXPECT_NE(error(body, "application/json; charset=utf-8", 400).find("\"instances\""), std::string::npos);
  error("x", "text/plain", 415);
  EXPECT_EQ(metric(server, "nax_serve_requests_total{code=\"400\"}"), 8);
  EXPECT_EQ(metric(server, "nax_serve_requests_total{code=\"415\"}"), 1);
  EXPECT_EQ(metric(server, "nax_serve_requests_total{code=\"200\"}"), 0);
  const auto health = client.Get("/health");
  ASSERT_TRUE(health);
  EXPECT_EQ(json::parse(health->body), (json{{"inputs", 12}, {"classes", 4}}));
}

// No request is lost while models change: each has the answer of one of the models.
TEST(ServeHttp, LosesNoRequestDuringReloads) {
  Running server("reload");
  const std::vector<float> x = examples(16).to_vector();
  std::vector<std::vector<float>> want;
  for (int seed = 0; seed < 4; ++seed) want.push_back(direct(layers(seed), examples(16)));
  std::atomic<bool> done{false};
  std::atomic<int> answers{0};
  {
    std::vector<std::jthread> callers;
    for (std::size_t caller = 0; caller < 6; ++caller)
      callers.emplace_back([&, caller] {
        auto client = server.client();
        for (std::size_t k = 0; !done; ++k, ++answers) {
          const std::size_t i = (caller * 5 + k) % 16;
          const auto answer = client.Post("/predict", bytes(std::span(x).subspan(12 * i, 12)), raw);
          if (!answer || answer->status != 200) {
            ADD_FAILURE() << (answer ? answer->body : to_string(answer.error()));
            continue;
          }
          const auto got = floats(answer->body);
          EXPECT_TRUE(std::any_of(want.begin(), want.end(), [&](const auto& all) {
            return close(got, std::span(all).subspan(4 * i, 4));
          }));
        }
      });
    auto client = server.client();
    for (int seed = 1; seed < 4; ++seed) {
      const int until = answers + 60;
      while (answers < until) std::this_thread::yield();
      nax::io::save_safetensors(server.path, layers(seed));
      const auto answer = client.Post("/reload");
      EXPECT_TRUE(answer && answer->status == 200);
    }
    done = true;
  }
  EXPECT_EQ(metric(server, "nax_serve_requests_total{code=\"200\"}"), answers);
  EXPECT_EQ(metric(server, "nax_serve_rows_total"), answers);
  EXPECT_EQ(metric(server, "nax_serve_request_seconds_count"), answers);
  EXPECT_EQ(metric(server, "nax_serve_reloads_total"), 3);
  EXPECT_GT(metric(server, "nax_serve_request_seconds_quantile{quantile=\"0.99\"}"), 0);

  std::remove(server.path.c_str());
  auto client = server.client();
  const auto failed = client.Post("/reload");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->status, 500);
  EXPECT_NE(json::parse(failed->body)["error"].get<std::string>().find(server.path), std::string::npos);
  const auto still = client.Post("/predict", bytes(std::span(x).subspan(0, 12)), raw);
  EXPECT_TRUE(still && close(floats(still->body), std::span(want[3]).subspan(0, 4)));
}

TEST(ServeHttp, StopAnswersWaitingRequestsAndFreesThePort) {
  const std::string path = Running::saved("stop");
  serve::Service service(
      {.model = {.path = path}, .max_batch = 8, .max_wait = std::chrono::milliseconds(300)});
  serve::HttpServer http(service, {});
  std::atomic<bool> answered{false};
  std::jthread caller([&] {
    httplib::Client client("127.0.0.1", http.port());
    const auto answer = client.Post("/predict", bytes(examples(1).to_vector()), raw);
    answered = answer && answer->status == 200;
  });
  while (service.waiting() == 0) std::this_thread::yield();
  http.stop();
  caller.join();
  EXPECT_TRUE(answered);
  EXPECT_NO_THROW(serve::HttpServer(service, {.port = http.port()}));
}

TEST(ServeHttp, AnAddressThatIsNotHereIsAnError) {
  Running server("address");
  EXPECT_THROW(serve::HttpServer(server.service, {.host = "192.0.2.1"}), std::runtime_error);
}

}  // namespace serve_http_test
