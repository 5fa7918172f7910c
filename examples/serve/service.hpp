#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "batcher.hpp"
#include "metrics.hpp"
#include "model.hpp"

// A model that answers, and is replaced while it does; without HTTP.
namespace serve {

struct ServiceOptions {
  ModelOptions model;
  std::int64_t max_batch = 64;
  std::chrono::microseconds max_wait{200};
};

class Service {
 public:
  // Loads the model. Throws as load_mlp.
  explicit Service(const ServiceOptions& options);

  std::int64_t in() const { return in_; }
  std::int64_t out() const { return out_; }

  // The probabilities of some rows. Any thread may call it; throws as Batcher's call.
  void predict(std::span<const float> in, std::span<float> out) { batcher_(in, out); }

  // Loads the model again. Batches that begin afterwards use it; where loading throws, or the model has
  // other numbers of inputs or classes (nax::ValueError), all goes on with the one there is. Any thread may
  // call it.
  void reload();

  // Answers those who wait, and refuses those who come.
  void stop() { batcher_.stop(); }
  // Rows that wait for a batch.
  std::int64_t waiting() const { return batcher_.waiting(); }

  Metrics& metrics() { return metrics_; }
  std::string metrics_text() const;

 private:
  std::shared_ptr<const Mlp> model() const;
  void compute(std::int64_t rows, std::span<const float> in, std::span<float> out);

  const ModelOptions options_;
  Metrics metrics_;
  mutable std::mutex mutex_;  // of model_
  std::shared_ptr<const Mlp> model_;
  const std::int64_t in_, out_;
  std::mutex reloading_;  // one reload at a time
  Batcher batcher_;       // last: its thread uses all else
};

}  // namespace serve
