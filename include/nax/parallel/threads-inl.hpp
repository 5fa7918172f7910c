#pragma once

#include "nax/core/thread_pool-inl.hpp"
#include "nax/parallel/threads.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<ArrayBase> ThreadCommunicator::all_gather(int rank, const Collective& call,
                                                                 const ArrayBase& x) {
  device_data(x);  // gathers its shards
  finish_stream();
  std::vector<ArrayBase> everyone;
  meet(
      rank, call, {x}, [] {},
      [&] {
        for (const Post& post : posts_) everyone.push_back(post.arrays[0]);
      });
  return everyone;
}

NAX_ENGINE std::vector<ArrayBase> ThreadCommunicator::all_reduce(int rank, const Collective& call,
                                                                 const std::vector<ArrayBase>& x,
                                                                 const std::vector<Combine>& combine) {
  std::vector<ArrayBase> results;
  std::vector<std::vector<ArrayBase>> everyone;
  const bool here = on_accelerator(current_device);
  for (const ArrayBase& one : x) device_data(one);  // gathers its shards
  finish_stream();
  meet(
      rank, call, x,
      [&] {
        results_.clear();
        if (here) return;
        for (const ArrayBase& one : x) results_.push_back(allocate(one.dtype(), layout_of(one)));
      },
      [&] {
        results = results_;
        for (const Post& post : posts_) everyone.push_back(post.arrays);
      });
  for (std::size_t i = 0; i < x.size(); ++i)
    if (here)
      results.push_back(reduce_here(layout_of(x[i]), i, everyone, combine[i]));
    else
      reduce_slice(rank, i, everyone, results[i], combine[i]);
  finish_stream();
  meet(
      rank, call, {}, [] {}, [] {});
  // Hidden axes are numbered by each thread for itself.
  for (std::size_t i = 0; i < x.size(); ++i)
    ArrayAccess::layout(results[i]) = Layout::contiguous(layout_of(x[i]));
  return results;
}

NAX_ENGINE void ThreadCommunicator::agree(int rank, const Collective& call, std::vector<ArrayBase> arrays,
                                          FunctionRef<void()> once) {
  meet(rank, call, std::move(arrays), once, [] {});
}

NAX_ENGINE std::vector<ArrayBase> ThreadCommunicator::make_once(
    int rank, const Collective& call, std::vector<ArrayBase> arrays,
    FunctionRef<std::vector<ArrayBase>(const std::vector<std::vector<ArrayBase>>& everyone)> once) {
  std::vector<ArrayBase> results;
  finish_stream();
  meet(
      rank, call, std::move(arrays),
      [&] {
        std::vector<std::vector<ArrayBase>> everyone;
        for (const Post& post : posts_) everyone.push_back(post.arrays);
        results_ = once(everyone);
      },
      [&] { results = results_; });
  return results;
}

NAX_ENGINE void ThreadCommunicator::name_missing(const char* function) {
  if (std::exchange(named_, meeting_.load()) == meeting_) return;
  std::string missing;
  for (std::size_t rank = 0; rank < posts_.size(); ++rank)
    if (posts_[rank].meeting != meeting_)
      missing += (missing.empty() ? "" : ", ") +
                 (devices_ ? to_string((*devices_)[rank]) : "device " + std::to_string(rank));
  std::fprintf(stderr, "nax: %s: %s has not come after %s; the other devices wait for it\n", function,
               missing.c_str(), timeout_text().c_str());
}

NAX_ENGINE void ThreadCommunicator::meet(int rank, const Collective& call, std::vector<ArrayBase> arrays,
                                         FunctionRef<void()> open, FunctionRef<void()> read) {
  if (left_by_fork())
    raise<DeviceError>(
        {call.function, ": the process was forked within pmap's function, without the other devices"});
  const profile::Span span(profile::Kind::collective, call.function);
  const auto deadline = deadline_from_now();  // may throw, which nothing may once the others count on this
  std::unique_lock lock(mutex_);
  // A meeting closes when all have read; the next begins only then.
  changed_.wait(lock, [&] { return reading_ == 0 || aborted_ || incomplete_; });
  check(call.function);
  posts_[static_cast<std::size_t>(rank)] = {call.function, call.how, std::move(arrays), meeting_};
  ++arrived_;
  if (arrived_ + left_ > size_ || (left_ > 0 && arrived_ + left_ == size_)) incomplete_ = true;
  if (arrived_ == size_) {
    check_alike();
    if (!mismatch_.empty()) {
      changed_.notify_all();
      if (types_differ_) throw TypeError(mismatch_);
      throw ShapeError(mismatch_);
    }
    open();
    arrived_ = 0;
    reading_ = size_;
    ++meeting_;
    changed_.notify_all();
  } else {
    const std::uint64_t this_meeting = meeting_;
    if (incomplete_) changed_.notify_all();
    lock.unlock();  // the others are near, as a rule
    threads::wait_awake([&] { return meeting_.load(std::memory_order_relaxed) != this_meeting; });
    lock.lock();
    const auto over = [&] {
      return meeting_ != this_meeting || aborted_ || incomplete_ || !mismatch_.empty();
    };
    if (!over() && !changed_.wait_until(lock, deadline, over)) {
      name_missing(call.function);
      changed_.wait(lock, over);
    }
    if (meeting_ == this_meeting) check(call.function);
  }
  read();
  if (--reading_ > 0) return;
  for (Post& post : posts_) post.arrays.clear();
  results_.clear();
  changed_.notify_all();
}

NAX_ENGINE void ThreadCommunicator::check_alike() {
  const Post& first = posts_[0];
  for (std::size_t d = 1; d < posts_.size(); ++d) {
    const Post& other = posts_[d];
    if (std::strcmp(first.function, other.function) != 0) {
      mismatch_ = std::string(first.function) + ": device 0 is in " + first.function + ", device " +
                  std::to_string(d) + " in " + other.function;
      return;
    }
    if (first.how != other.how) {
      mismatch_ = std::string(first.function) + ": devices differ: device 0 is in " + first.function +
                  first.how.substr(0, 400) + ", device " + std::to_string(d) + " in " + other.function +
                  other.how.substr(0, 400);
      return;
    }
    for (std::size_t i = 0; i < first.arrays.size() && i < other.arrays.size(); ++i) {
      if (first.arrays[i].dtype() != other.arrays[i].dtype()) {
        mismatch_ =
            text_of({first.function, ": types differ between devices: ", dtype_name(first.arrays[i].dtype()),
                     " on device 0, ", dtype_name(other.arrays[i].dtype()), " on device ", d});
        types_differ_ = true;
        return;
      }
      if (!(layout_of(first.arrays[i]).shape == layout_of(other.arrays[i]).shape)) {
        mismatch_ = std::string(first.function) +
                    ": shapes differ between devices: " + to_string(first.arrays[i].shape()) +
                    " on device 0, " + to_string(other.arrays[i].shape()) + " on device " + std::to_string(d);
        return;
      }
    }
    if (first.arrays.size() != other.arrays.size()) {
      mismatch_ = std::string(first.function) + ": trees differ between devices";
      return;
    }
  }
}

NAX_ENGINE ArrayBase ThreadCommunicator::reduce_here(const Layout& own, std::size_t array,
                                                     const std::vector<std::vector<ArrayBase>>& everyone,
                                                     const Combine& combine) {
  const auto of = [&](std::size_t device) {
    ArrayBase one = everyone[device][array];
    ArrayAccess::layout(one) = own;  // its hidden axes as this thread numbers them
    return one.device() == current_device ? one : moved(one, current_device);
  };
  ArrayBase sum = of(0);
  for (std::size_t d = 1; d < everyone.size(); ++d) sum = combine.arrays(sum, of(d));
  if (combine.scale) sum = combine.scale(sum, 1.0 / static_cast<double>(everyone.size()));
  // Its own memory, also where there is one device only.
  return everyone.size() == 1 ? moved(sum, current_device) : sum;
}

NAX_ENGINE void ThreadCommunicator::reduce_slice(int rank, std::size_t array,
                                                 const std::vector<std::vector<ArrayBase>>& everyone,
                                                 const ArrayBase& result, const Combine& combine) const {
  const std::int64_t n = layout_of(result).size();
  const std::int64_t element = static_cast<std::int64_t>(dtype_size(result.dtype()));
  const bool alone = n < 4096;
  if (alone && static_cast<int>(array) % size_ != rank) return;
  const std::int64_t part = alone ? n : (n + size_ - 1) / size_;
  const std::int64_t begin = alone ? 0 : std::min(n, part * rank), end = std::min(n, begin + part);
  constexpr std::int64_t block = 4096;  // a block of the result stays in L1 while all are added to it
  for (std::int64_t at = begin; at < end; at += block) {
    const std::int64_t count = std::min(block, end - at);
    char* to = raw_data(result) + at * element;
    std::memcpy(to, raw_data(everyone[0][array]) + at * element, static_cast<std::size_t>(count * element));
    for (int d = 1; d < size_; ++d)
      combine.on_host(raw_data(everyone[static_cast<std::size_t>(d)][array]) + at * element, to, 1, count);
    if (combine.scale_on_host) combine.scale_on_host(to, 1.0 / size_, count);
  }
}

}  // namespace detail
NAX_END
