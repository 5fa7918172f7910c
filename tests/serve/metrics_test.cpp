#include "serve/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace serve_metrics_test {
using serve::Histogram;

TEST(Histogram, QuantilesAreThoseOfTheSortedValues) {
  std::mt19937_64 bits(1);
  std::lognormal_distribution<double> draw(6, 2);
  std::vector<std::uint64_t> values(10'000);
  Histogram histogram;
  for (std::uint64_t& value : values) histogram.add(value = static_cast<std::uint64_t>(draw(bits)));
  std::sort(values.begin(), values.end());
  for (const double q : {0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * 10'000)) - 1;
    EXPECT_GE(histogram.quantile(q), values[rank]) << q;
    EXPECT_LE(static_cast<double>(histogram.quantile(q)), static_cast<double>(values[rank]) * 17 / 16) << q;
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t value : values) sum += value;
  EXPECT_EQ(histogram.sum(), sum);
  EXPECT_EQ(histogram.count(), 10'000u);
  for (std::uint64_t power = 16; power <= 1 << 20; power *= 2)
    EXPECT_EQ(
        histogram.below(power),
        static_cast<std::uint64_t>(std::lower_bound(values.begin(), values.end(), power) - values.begin()));
}

TEST(Histogram, TakesEveryValue) {
  Histogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0u);
  for (std::uint64_t value = 0; value < 32; ++value) {
    Histogram one;
    one.add(value);
    EXPECT_EQ(one.quantile(0.5), value);  // small ones exactly
  }
  histogram.add(~std::uint64_t{0});
  EXPECT_EQ(histogram.quantile(1), (std::uint64_t{1} << 32) - 1);  // the greatest it knows
}

TEST(Histogram, CountsOfSeveralThreadsAddUp) {
  Histogram histogram;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (std::uint64_t value = 0; value < 10'000; ++value) histogram.add(value);
      });
  }
  EXPECT_EQ(histogram.count(), 40'000u);
  EXPECT_EQ(histogram.below(1024), 4 * 1024u);
}

TEST(Metrics, TextIsPrometheus) {
  serve::Metrics metrics;
  for (const int status : {200, 200, 200, 400, 503}) metrics.requests.add(status);
  for (const std::uint64_t time : {50, 100, 3000}) metrics.microseconds.add(time);
  metrics.rows = 7;
  const std::string text = serve::prometheus_text(metrics, {.waiting_rows = 2, .memory_in_use = 1024});

  const std::regex comment(R"(# (HELP \w+ .+|TYPE \w+ (counter|gauge|histogram)))");
  const std::regex sample(R"re((\w+(\{\w+="[^"]+"\})?) ([0-9.e+-]+))re");
  std::map<std::string, double> samples;
  std::set<std::string> typed;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, comment)) {
      typed.insert(line.substr(7, line.find(' ', 7) - 7));
    } else {
      ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
      EXPECT_TRUE(samples.emplace(match[1], std::stod(match[3])).second) << line << " is there twice";
      const std::string name = line.substr(0, line.find_first_of("{ "));
      const bool known = std::any_of(typed.begin(), typed.end(),
                                     [&](const std::string& prefix) { return name.starts_with(prefix); });
      EXPECT_TRUE(known) << line << " has no TYPE before it";
    }
  }
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(samples["nax_serve_requests_total{code=\"200\"}"], 3);
  EXPECT_EQ(samples["nax_serve_requests_total{code=\"400\"}"], 1);
  EXPECT_EQ(samples["nax_serve_requests_total{code=\"503\"}"], 1);
  EXPECT_EQ(samples["nax_serve_request_seconds_bucket{le=\"6.4e-05\"}"], 1);
  EXPECT_EQ(samples["nax_serve_request_seconds_bucket{le=\"0.000128\"}"], 2);
  EXPECT_EQ(samples["nax_serve_request_seconds_bucket{le=\"+Inf\"}"], 3);
  EXPECT_EQ(samples["nax_serve_request_seconds_count"], 3);
  EXPECT_NEAR(samples["nax_serve_request_seconds_sum"], 0.00315, 1e-12);
  EXPECT_NEAR(samples["nax_serve_request_seconds_quantile{quantile=\"0.99\"}"], 0.003, 0.0002);
  EXPECT_EQ(samples["nax_serve_rows_total"], 7);
  EXPECT_NE(text.find("_bucket{le=\"0.000128\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("nax_serve_request_seconds_sum 0.00315\n"), std::string::npos) << text;
  EXPECT_EQ(samples["nax_serve_waiting_rows"], 2);
  EXPECT_EQ(samples["nax_memory_in_use_bytes"], 1024);
}

}  // namespace serve_metrics_test
