#pragma once

#include <cstdlib>
#include <cstring>

#include "nax/collective/span.hpp"
#include "nax/collective/threads.hpp"

// The communicator of a run over all processes: threads combine within a process, and one of them meets the
// other processes while the rest wait. Arrays on GPUs go by way of the host.
namespace nax::inline NAX_ABI::detail::mpi {

// A new run over all processes. Throws where they do not begin the same one; `counts` becomes the number of
// devices of each.
inline Span begin_span(Processes& processes, const std::vector<Device>& devices, const std::string& axis_name,
                       std::vector<int>& counts) {
  Span span{&processes, processes.begin_run("pmap"), 0, 0};
  try {
    const auto all = processes.exchange(
        span.run, "pmap",
        to_string(devices[0]).substr(0, 3) + axis_name + "\n" + std::to_string(devices.size()));
    const std::string& mine = all[static_cast<std::size_t>(processes.index())];
    for (int p = 0; p < static_cast<int>(all.size()); ++p) {
      const std::string& text = all[static_cast<std::size_t>(p)];
      const std::size_t end = text.rfind('\n');
      if (end == std::string::npos || text.substr(0, end) != mine.substr(0, mine.rfind('\n')))
        raise<ValueError>({"pmap: process ", processes.index(), " begins a pmap over axis '", axis_name,
                           "', process ", p, " does something else"});
      counts.push_back(static_cast<int>(std::strtol(text.c_str() + end + 1, nullptr, 10)));
      if (p < processes.index()) span.first += counts.back();
      span.size += counts.back();
    }
  } catch (const std::exception& error) {
    processes.fail(span.run, error.what());
    throw;
  }
  return span;
}

class ProcessCommunicator final : public Communicator {
 public:
  ProcessCommunicator(ThreadCommunicator& threads, const Span& span, std::vector<int> counts)
      : threads_(threads),
        span_(span),
        processes_(*span.processes),
        run_(span.run),
        counts_(std::move(counts)),
        size_(span.size),
        first_(span.first) {}

  int size() const override { return size_; }
  int first() const override { return first_; }

  std::vector<ArrayBase> all_gather(int rank, const char* function, const ArrayBase& x) override {
    const auto once = [&](const std::vector<std::vector<ArrayBase>>& everyone) {
      agree_across(span_, function, everyone[0]);
      const std::size_t one = bytes_of(everyone[0][0]);
      Frame frame;
      frame.shape = layout_of(everyone[0][0]).shape;
      frame.shape.insert(0, size_);
      const ArrayBase all = allocate(x.dtype(), frame, host_device());
      std::vector<std::size_t> bytes;
      for (const int count : counts_) bytes.push_back(static_cast<std::size_t>(count) * one);
      char* to = raw_data(all) + static_cast<std::size_t>(first_) * one;
      for (const auto& arrays : everyone) {
        read_elements(arrays[0], to);
        to += one;
      }
      if (one > 0) processes_.all_gather(run_, function, all, bytes);
      return std::vector<ArrayBase>(1, all);
    };
    finish(x);
    const ArrayBase all = threads_.make_once(rank - first_, function, {x}, once)[0];
    std::vector<ArrayBase> everyone;
    for (int d = 0; d < size_; ++d)
      everyone.push_back(placed(view(all, Layout::contiguous(layout_of(x)), d * layout_of(x).size())));
    return everyone;
  }

  std::vector<ArrayBase> all_reduce(int rank, const char* function, const std::vector<ArrayBase>& x,
                                    const std::vector<Combine>& combine) override {
    std::vector<Combine> plain = combine;
    for (Combine& one : plain) one.waits = nullptr, one.scale_on_host = nullptr, one.scale = nullptr;
    const std::vector<ArrayBase> sums = threads_.all_reduce(rank - first_, function, x, plain);
    std::vector<ArrayBase> results = threads_.make_once(
        rank - first_, function, sums, [&](const std::vector<std::vector<ArrayBase>>& everyone) {
          agree_across(span_, function, everyone[0]);
          return reduce(function, everyone[0], combine);
        });
    for (std::size_t i = 0; i < x.size(); ++i) {
      ArrayAccess::layout(results[i]) = Layout::contiguous(layout_of(x[i]));
      results[i] = placed(results[i]);
    }
    return results;
  }

  void work_together(int rank, const char* function, const void* mine,
                     FunctionRef<void(const std::vector<const void*>&)> work) override {
    threads_.work_together(rank - first_, function, mine, work);
  }

  void finish(int rank) override { threads_.finish(rank - first_); }
  void leave(int rank) override { threads_.leave(rank - first_); }
  void abort(const char* why) noexcept override {
    threads_.abort();
    processes_.fail(run_, why);
  }

 private:
  static void finish(const ArrayBase& x) {
    if (!on_accelerator(x)) raw_data(x);
  }

  // Arrays that are combined alike travel in one piece.
  std::vector<ArrayBase> reduce(const char* function, const std::vector<ArrayBase>& sums,
                                const std::vector<Combine>& combine) {
    std::vector<ArrayBase> results(sums.size());
    std::vector<bool> done(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (done[i]) continue;
      const std::size_t element = dtype_size(sums[i].dtype());
      std::vector<std::size_t> alike;
      Frame frame;
      frame.shape.push_back(0);
      for (std::size_t k = i; k < sums.size(); ++k)
        if (sums[k].dtype() == sums[i].dtype() && combine[k].on_host == combine[i].on_host &&
            combine[k].scale_on_host == combine[i].scale_on_host) {
          alike.push_back(k);
          frame.shape[0] += (layout_of(sums[k]).size() + 15) / 16 * 16;  // each where packets like it
        }
      const ArrayBase block = allocate(sums[i].dtype(), frame, host_device());
      char* const data = raw_data(block);
      std::memset(data, 0, bytes_of(block));
      std::int64_t at = 0;
      for (const std::size_t k : alike) {
        read_elements(sums[k], data + static_cast<std::size_t>(at) * element);
        results[k] = view(block, Layout::contiguous(layout_of(sums[k])), at);
        at += (layout_of(sums[k]).size() + 15) / 16 * 16;
        done[k] = true;
      }
      if (at == 0) continue;
      processes_.all_reduce(run_, function, block, combine[i].on_host);
      if (combine[i].scale_on_host) combine[i].scale_on_host(data, 1.0 / size_, at);
    }
    return results;
  }

  ThreadCommunicator& threads_;
  const Span span_;
  Processes& processes_;
  const std::uint64_t run_;
  const std::vector<int> counts_;  // of devices, process by process
  const int size_, first_;
};

}  // namespace nax::inline NAX_ABI::detail::mpi
