#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

// Joins the rows of concurrent callers into batches for one function.
//
// A batch begins when `max_batch` rows wait, or when the oldest caller has waited for `max_wait`. Rows are
// taken in the order in which their callers came; a caller with many rows may be spread over batches. All
// memory is allocated by the constructor: callers lend their rows, and wait on their own stacks.
namespace serve {

// Thrown to callers that come after stop().
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("the server is stopping") {}
};

struct BatcherOptions {
  std::int64_t in = 0, out = 0;             // numbers of a row, and of its result
  std::int64_t max_batch = 64;              // rows
  std::chrono::microseconds max_wait{200};  // 0: takes what is there
};

class Batcher {
 public:
  // Writes the results of `rows` rows. One thread calls it.
  using Compute = std::function<void(std::int64_t rows, std::span<const float> in, std::span<float> out)>;

  // Throws std::invalid_argument.
  Batcher(const BatcherOptions& options, Compute compute);
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;
  ~Batcher() { stop(); }

  // Computes the results of some rows and returns when they are written. Throws what the function threw,
  // Stopped, and std::invalid_argument for sizes that are no rows. Any thread may call it.
  void operator()(std::span<const float> in, std::span<float> out);

  // Refuses new callers, computes what waits at once, and ends. Any thread may call it, more than once.
  void stop();

  // Rows that wait now.
  std::int64_t waiting() const;

 private:
  using Clock = std::chrono::steady_clock;

  // A caller that waits. Guarded by mutex_, but for the rows, which the caller leaves alone.
  struct Request {
    std::span<const float> in;
    std::span<float> out;
    std::int64_t rows;
    Clock::time_point deadline;
    std::int64_t taken = 0, finished = 0;  // rows
    std::exception_ptr error = nullptr;
    bool done = false;
    std::condition_variable changed = {};
    Request* next = nullptr;
  };
  // Rows of a request that are in the batch.
  struct Piece {
    Request* request;
    std::int64_t first, rows;
  };

  void run();
  void gather();
  std::exception_ptr compute();
  void finish(const std::exception_ptr& error);

  BatcherOptions options_;
  Compute compute_;
  std::vector<float> in_, out_;
  std::vector<Piece> pieces_;  // of the batch under way
  std::int64_t rows_ = 0;      // of the batch under way

  mutable std::mutex mutex_;
  std::condition_variable work_;
  Request *first_ = nullptr, *last_ = nullptr;  // those with rows that no batch has taken
  std::int64_t waiting_ = 0;
  bool stopping_ = false;
  std::once_flag joined_;
  std::thread thread_;
};

}  // namespace serve
