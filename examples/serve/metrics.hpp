#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

// Counters of the server, and their text for Prometheus.
namespace serve {

// Counts whole numbers in sixteen buckets an octave. Any thread may add; nothing waits or allocates.
class Histogram {
 public:
  void add(std::uint64_t value);
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  std::uint64_t sum() const { return sum_.load(std::memory_order_relaxed); }
  // How many values are less than a power of two from 16 on.
  std::uint64_t below(std::uint64_t power) const;
  // The value that a share q of all values does not exceed, at most a sixteenth too high; 0 without values.
  std::uint64_t quantile(double q) const;

 private:
  static constexpr std::size_t buckets = 16 * 29;  // up to 2^32 - 1, which stands for greater ones
  static std::size_t bucket_of(std::uint64_t value);
  static std::uint64_t greatest_of(std::size_t bucket);

  std::array<std::atomic<std::uint64_t>, buckets> counts_{};
  std::atomic<std::uint64_t> count_{0}, sum_{0};
};

// Answers to /predict by their HTTP status.
class StatusCounts {
 public:
  void add(int status);
  std::uint64_t of(int status) const { return counts_[index(status)].load(std::memory_order_relaxed); }

  static constexpr int statuses[] = {200, 400, 415, 500, 503};

 private:
  static std::size_t index(int status);

  std::array<std::atomic<std::uint64_t>, std::size(statuses)> counts_{};
};

struct Metrics {
  StatusCounts requests;
  Histogram microseconds;  // of answers with status 200: from the body read to the answer ready
  std::atomic<std::uint64_t> rows{0}, batches{0}, reloads{0}, failed_reloads{0};
};

// Values that are measured when the text is made.
struct Gauges {
  std::int64_t waiting_rows = 0;
  std::uint64_t memory_in_use = 0, memory_cached = 0;  // bytes
};

// In Prometheus' text format, version 0.0.4.
std::string prometheus_text(const Metrics& metrics, const Gauges& gauges);

}  // namespace serve
