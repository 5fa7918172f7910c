#pragma once

#include <cstdio>
#include <system_error>

#include "nax/io/checkpoints.hpp"

NAX_BEGIN
namespace io {

NAX_ENGINE void Checkpoints::append(detail::NamedArrays& arrays, std::string name, ArrayBase array) {
  arrays.emplace_back(std::move(name), std::move(array));
}

NAX_ENGINE void Checkpoints::join() {
  if (writer_.joinable()) writer_.join();
  done_.store(false, std::memory_order_relaxed);
}

NAX_ENGINE void Checkpoints::wait() {
  join();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

NAX_ENGINE std::vector<CheckpointEntry> Checkpoints::contents(std::int64_t step) {
  wait();
  detail::CheckpointReader reader(folder_, step);
  std::vector<CheckpointEntry> all;
  for (const std::string& name : reader.names()) all.push_back(reader.entry(name));
  return all;
}

NAX_ENGINE bool Checkpoints::pass_over(std::int64_t step, const IoError& error, bool has_another) {
  try {
    detail::CheckpointReader(folder_, step).check();
    return false;
  } catch (const IoError&) {
  }
  if (has_another) {
    std::fprintf(stderr, "%s; the checkpoint before it is tried\n", error.what());
    folder_.set_aside(step);
  }
  return true;
}

NAX_ENGINE void Checkpoints::check_own(std::int64_t step) {
  wait();
  detail::CheckpointReader reader(folder_, step);
  if (reader.is_own()) reader.check();
}

NAX_ENGINE Checkpoints::~Checkpoints() {
  join();
  if (!error_) return;
  try {
    std::rethrow_exception(error_);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "Checkpoints: the last save failed\n");
  }
}

NAX_ENGINE void Checkpoints::write_apart(std::int64_t step, const detail::NamedArrays& arrays) noexcept {
  try {
    folder_.write(step, arrays);
  } catch (...) {
    error_ = std::current_exception();
  }
  done_.store(true, std::memory_order_release);
}

NAX_ENGINE void Checkpoints::write(std::int64_t step, detail::NamedArrays arrays) {
  if (folder_.options().async) {
    const auto held = std::make_shared<detail::NamedArrays>(std::move(arrays));
    try {
      writer_ = std::thread([this, step, held] { write_apart(step, *held); });
      return;
    } catch (const std::system_error&) {  // the system has no more threads
      arrays = std::move(*held);
    }
  }
  folder_.write(step, arrays);
}

}  // namespace io
NAX_END
