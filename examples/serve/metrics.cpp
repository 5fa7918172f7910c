#include "metrics.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <string_view>

namespace serve {

// Values below 16 have a bucket each; above, the leading bit chooses sixteen and the next four bits one.
std::size_t Histogram::bucket_of(std::uint64_t value) {
  if (value < 16) return value;
  const auto octave = static_cast<std::size_t>(std::bit_width(value)) - 5;
  return std::min(16 * octave + static_cast<std::size_t>(value >> octave), buckets - 1);
}

std::uint64_t Histogram::greatest_of(std::size_t bucket) {
  if (bucket < 32) return bucket;
  const std::size_t octave = bucket / 16 - 1;
  return ((std::uint64_t{16} + bucket % 16 + 1) << octave) - 1;
}

void Histogram::add(std::uint64_t value) {
  counts_[bucket_of(value)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
  count_.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t Histogram::below(std::uint64_t power) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < bucket_of(power); ++i) total += counts_[i].load(std::memory_order_relaxed);
  return total;
}

std::uint64_t Histogram::quantile(double q) const {
  std::uint64_t all = 0;  // counted here, since values may be added meanwhile
  for (const auto& count : counts_) all += count.load(std::memory_order_relaxed);
  if (all == 0) return 0;
  const auto rank =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(all))));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets; ++i)
    if ((seen += counts_[i].load(std::memory_order_relaxed)) >= rank) return greatest_of(i);
  return greatest_of(buckets - 1);
}

std::size_t StatusCounts::index(int status) {
  const auto* const found = std::find(std::begin(statuses), std::end(statuses), status);
  return static_cast<std::size_t>(found - std::begin(statuses)) % std::size(statuses);
}

void StatusCounts::add(int status) { counts_[index(status)].fetch_add(1, std::memory_order_relaxed); }

namespace {

class Text {
 public:
  void head(std::string_view name, std::string_view type, std::string_view help) {
    text_.append("# HELP ").append(name).append(" ").append(help);
    text_.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
  }
  template <class N>
  void line(std::string_view name, N value) {
    text_.append(name).append(" ").append(number(value)).append("\n");
  }
  template <class N>
  void only(std::string_view name, std::string_view type, std::string_view help, N value) {
    head(name, type, help);
    line(name, value);
  }
  template <class N>
  static std::string number(N value) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

constexpr double second = 1e6;  // microseconds; division gives the nearest number, which prints shortest

}  // namespace

std::string prometheus_text(const Metrics& metrics, const Gauges& gauges) {
  Text text;
  text.head("nax_serve_requests_total", "counter", "Answers to /predict by their status.");
  for (const int status : StatusCounts::statuses)
    text.line("nax_serve_requests_total{code=\"" + Text::number(status) + "\"}", metrics.requests.of(status));

  const Histogram& times = metrics.microseconds;
  const std::string name = "nax_serve_request_seconds";
  text.head(name, "histogram", "Time from a request's body to its answer.");
  const std::uint64_t count = times.count();  // first, so that no bucket shows fewer
  const double sum = static_cast<double>(times.sum()) / second;
  std::uint64_t all = 0;
  for (std::uint64_t edge = 64; edge <= 1 << 20; edge *= 2) {
    all = times.below(edge);
    text.line(name + "_bucket{le=\"" + Text::number(static_cast<double>(edge) / second) + "\"}", all);
  }
  text.line(name + "_bucket{le=\"+Inf\"}", std::max(all, count));
  text.line(name + "_sum", sum);
  text.line(name + "_count", std::max(all, count));
  text.head("nax_serve_request_seconds_quantile", "gauge", "Percentiles of those times since the start.");
  for (const double q : {0.5, 0.9, 0.99, 0.999})
    text.line("nax_serve_request_seconds_quantile{quantile=\"" + Text::number(q) + "\"}",
              static_cast<double>(times.quantile(q)) / second);

  text.only("nax_serve_rows_total", "counter", "Examples computed.", metrics.rows.load());
  text.only("nax_serve_batches_total", "counter", "Batches computed.", metrics.batches.load());
  text.only("nax_serve_reloads_total", "counter", "Models put in place of another.", metrics.reloads.load());
  text.only("nax_serve_failed_reloads_total", "counter", "Reloads that kept the model as it was.",
            metrics.failed_reloads.load());
  text.only("nax_serve_waiting_rows", "gauge", "Examples that wait for a batch.", gauges.waiting_rows);
  text.only("nax_memory_in_use_bytes", "gauge", "Memory of arrays.", gauges.memory_in_use);
  text.only("nax_memory_cached_bytes", "gauge", "Memory held for arrays to come.", gauges.memory_cached);
  return text.take();
}

}  // namespace serve
