#pragma once

#include <CLI/CLI.hpp>
#include <fstream>
#include <nax/nax.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// The frame of a program that trains: the options that all have, a log, and steps on several devices.
namespace examples {

// Options, with the program's own defaults; the program adds others to `app`.
struct Training {
  std::int64_t steps, batch_size;
  double lr;
  std::int64_t devices = 1, seed = 0;
  std::string platform = "cpu", log = "";

  void add_to(CLI::App& app) {
    app.option_defaults()->always_capture_default();
    app.add_option("--steps", steps, "steps of training")->check(CLI::NonNegativeNumber);
    app.add_option("--batch-size", batch_size, "examples a step, on all devices together")
        ->check(CLI::PositiveNumber);
    app.add_option("--lr", lr, "learning rate")->check(CLI::NonNegativeNumber);
    app.add_option("--devices", devices, "devices that share each batch")->check(CLI::Range(1, 256));
    app.add_option("--platform", platform, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
    app.add_option("--seed", seed, "of everything drawn");
    app.add_option("--log", log, "file for losses, one JSON object a line");
  }

  // The devices to train on. Called before anything is computed.
  std::vector<nax::Device> open() const {
    if (batch_size % devices != 0) throw nax::ValueError("--batch-size does not divide by --devices");
    if (platform == "cpu") nax::set_cpu_device_count(static_cast<int>(devices));
    std::vector<nax::Device> all = nax::local_devices(platform);
    if (static_cast<std::int64_t>(all.size()) < devices)
      throw nax::ValueError("--devices: " + platform + " has " + std::to_string(all.size()) + " here");
    all.resize(static_cast<std::size_t>(devices));
    return all;
  }
};

// Writes to the file given by --log, or nowhere.
class Log {
 public:
  explicit Log(const std::string& path) {
    if (!path.empty()) file_.open(path);
    if (!file_) throw nax::IoError("--log: cannot write " + path);
  }
  void write(const nlohmann::json& entry) { file_ << entry << '\n'; }

 private:
  std::ofstream file_;
};

// One step on several devices: update(state, batch...) returns {next state, loss}, and averages gradients
// along the axis "devices". Each device keeps a copy of the state, and gets its share of the first axis of
// every array of the batch.
template <class State, class Update>
class OnDevices {
 public:
  OnDevices(const std::vector<nax::Device>& devices, const State& first, Update update)
      : count_(static_cast<std::int64_t>(devices.size())),
        step_(make(devices, std::move(update))),
        state_(nax::device_put_replicated(first, devices)) {}

  // The mean loss of the batch, before the step.
  template <class... Batch>
  double operator()(const Batch&... batch) {
    nax::Array<float> losses;  // the same on all devices
    std::tie(state_, losses) = step_(std::move(state_), shared_out(batch)...);
    return losses(0).item();
  }
  // The state, on the host.
  State state() const {
    return nax::tree::map(
        [](const auto& copies) { return nax::device_put(copies(0), nax::devices("cpu")[0]); }, state_);
  }

 private:
  static auto make(const std::vector<nax::Device>& devices, Update update) {
    return nax::pmap(
        [update = std::move(update)](State state, const auto&... batch) {  // by value: written over
          auto [next, loss] = update(std::move(state), batch...);
          return std::pair{std::move(next), nax::Array<float>(nax::pmean(loss, "devices"))};
        },
        {.axis_name = "devices", .devices = devices});
  }
  template <class T>
  nax::Array<T> shared_out(const nax::Array<T>& x) const {
    nax::Shape shape = x.shape();
    shape[0] /= count_;
    shape.insert(0, count_);
    return x.reshape(shape);
  }

  std::int64_t count_;
  decltype(make({}, std::declval<Update>())) step_;
  State state_;
};

}  // namespace examples
