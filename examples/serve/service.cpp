#include "service.hpp"

#include <algorithm>

namespace serve {

Service::Service(const ServiceOptions& options)
    : options_(options.model),
      model_(std::make_shared<const Mlp>(load_mlp(options.model))),
      in_(model_->in()),
      out_(model_->out()),
      batcher_({.in = in_, .out = out_, .max_batch = options.max_batch, .max_wait = options.max_wait},
               [this](std::int64_t rows, std::span<const float> in, std::span<float> out) {
                 compute(rows, in, out);
               }) {}

std::shared_ptr<const Mlp> Service::model() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

void Service::compute(std::int64_t rows, std::span<const float> in, std::span<float> out) {
  const std::shared_ptr<const Mlp> model = this->model();  // the whole batch by one model
  const nax::Array<float> y = (*model)(nax::asarray(in.data(), {rows, in_}));
  std::copy_n(y.data(), out.size(), out.data());
  metrics_.rows.fetch_add(static_cast<std::uint64_t>(rows), std::memory_order_relaxed);
  metrics_.batches.fetch_add(1, std::memory_order_relaxed);
}

void Service::reload() {
  const std::lock_guard one(reloading_);
  try {
    auto next = std::make_shared<const Mlp>(load_mlp(options_));
    if (next->in() != in_ || next->out() != out_)
      throw nax::ValueError("serve: " + options_.path + " now has " + std::to_string(next->in()) +
                            " inputs and " + std::to_string(next->out()) + " classes, not " +
                            std::to_string(in_) + " and " + std::to_string(out_));
    {
      const std::lock_guard lock(mutex_);
      model_.swap(next);
    }
    metrics_.reloads.fetch_add(1, std::memory_order_relaxed);
  } catch (...) {
    metrics_.failed_reloads.fetch_add(1, std::memory_order_relaxed);
    throw;
  }
}

std::string Service::metrics_text() const {
  const nax::MemoryStats memory = nax::memory_stats();
  return prometheus_text(
      metrics_,
      {.waiting_rows = batcher_.waiting(), .memory_in_use = memory.in_use, .memory_cached = memory.cached});
}

}  // namespace serve
