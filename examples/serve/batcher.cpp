#include "batcher.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace serve {

Batcher::Batcher(const BatcherOptions& options, Compute compute)
    : options_(options), compute_(std::move(compute)) {
  if (options.in < 1 || options.out < 1 || options.max_batch < 1 || options.max_wait.count() < 0)
    throw std::invalid_argument(
        "Batcher: rows, results and batches have sizes of 1 or more, waits of 0 or more");
  in_.resize(static_cast<std::size_t>(options.max_batch * options.in));
  out_.resize(static_cast<std::size_t>(options.max_batch * options.out));
  pieces_.reserve(static_cast<std::size_t>(options.max_batch));
  thread_ = std::thread([this] { run(); });
}

void Batcher::operator()(std::span<const float> in, std::span<float> out) {
  const auto width = static_cast<std::size_t>(options_.in);
  const std::size_t rows = in.size() / width;
  if (rows == 0 || rows * width != in.size() || out.size() != rows * static_cast<std::size_t>(options_.out))
    throw std::invalid_argument("Batcher: " + std::to_string(in.size()) + " numbers in and " +
                                std::to_string(out.size()) + " out are no rows of " +
                                std::to_string(options_.in) + " and " + std::to_string(options_.out));
  Request request{in, out, static_cast<std::int64_t>(rows), Clock::now() + options_.max_wait};
  std::unique_lock lock(mutex_);
  if (stopping_) throw Stopped();
  (last_ ? last_->next : first_) = &request;
  last_ = &request;
  const bool was_empty = waiting_ == 0;
  waiting_ += request.rows;
  // The thread looks at the first deadline and at a full batch; what comes between need not wake it.
  if (was_empty || waiting_ >= options_.max_batch) work_.notify_one();
  request.changed.wait(lock, [&] { return request.done; });
  if (request.error) std::rethrow_exception(request.error);
}

void Batcher::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    work_.notify_one();
  }
  std::call_once(joined_, [this] { thread_.join(); });
}

std::int64_t Batcher::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void Batcher::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [&] { return first_ || stopping_; });
    if (!first_) return;
    work_.wait_until(lock, first_->deadline, [&] { return stopping_ || waiting_ >= options_.max_batch; });
    gather();
    lock.unlock();
    const std::exception_ptr error = compute();
    lock.lock();
    finish(error);
  }
}

// Takes the next batch off the list.
void Batcher::gather() {
  pieces_.clear();
  rows_ = 0;
  while (first_ && rows_ < options_.max_batch) {
    Request& request = *first_;
    const std::int64_t rows = std::min(request.rows - request.taken, options_.max_batch - rows_);
    pieces_.push_back({&request, request.taken, rows});
    request.taken += rows;
    rows_ += rows;
    if (request.taken < request.rows) break;
    first_ = request.next;
  }
  if (!first_) last_ = nullptr;
  waiting_ -= rows_;
}

// Without the lock: callers neither leave nor touch their rows before finish().
std::exception_ptr Batcher::compute() {
  try {
    float* in = in_.data();
    for (const Piece& piece : pieces_)
      in = std::copy_n(piece.request->in.data() + piece.first * options_.in, piece.rows * options_.in, in);
    compute_(rows_, std::span(in_).first(static_cast<std::size_t>(rows_ * options_.in)),
             std::span(out_).first(static_cast<std::size_t>(rows_ * options_.out)));
    const float* out = out_.data();
    for (const Piece& piece : pieces_) {
      std::copy_n(out, piece.rows * options_.out, piece.request->out.data() + piece.first * options_.out);
      out += piece.rows * options_.out;
    }
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

// Wakes the callers whose rows are all computed, and those that have failed.
void Batcher::finish(const std::exception_ptr& error) {
  for (const Piece& piece : pieces_) {
    Request& request = *piece.request;
    request.finished += piece.rows;
    if (error && request.taken < request.rows) {  // the first of the list: its other rows are dropped
      waiting_ -= request.rows - request.taken;
      first_ = request.next;
      if (!first_) last_ = nullptr;
    }
    if (!error && request.finished < request.rows) continue;
    request.error = error;
    request.done = true;
    request.changed.notify_one();  // under the lock, since the request ends with its caller
  }
}

}  // namespace serve
