#pragma once

#include <cstdlib>
#include <cstring>

#include "nax/parallel/span.hpp"
#include "nax/parallel/threads.hpp"

// The communicator of a run over all processes: threads combine within a process, and one of them meets the
// other processes while the rest wait. Arrays on GPUs go by way of the host.
NAX_BEGIN
namespace detail::mpi {

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

class ProcessCommunicator final : public Communicator, public BlockCommunicator {
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

  BlockCommunicator* blocks() override { return this; }

  std::vector<ArrayBase> all_gather(int rank, const Collective& call, const ArrayBase& x) override {
    const ArrayBase all = gather_blocks(rank, call, x);
    std::vector<ArrayBase> everyone;
    for (int d = 0; d < size_; ++d)
      everyone.push_back(view(all, Layout::contiguous(layout_of(x)), d * layout_of(x).size()));
    return everyone;
  }

  std::vector<ArrayBase> all_reduce(int rank, const Collective& call, const std::vector<ArrayBase>& x,
                                    const std::vector<Combine>& combine) override {
    const std::vector<ArrayBase> sums = threads_.all_reduce(rank - first_, call, x, plain(combine));
    std::vector<ArrayBase> results = threads_.make_once(
        rank - first_, call, sums, [&](const std::vector<std::vector<ArrayBase>>& everyone) {
          agree_across(span_, call, everyone[0]);
          return reduce(call.function, everyone[0], combine);
        });
    for (std::size_t i = 0; i < x.size(); ++i) {
      ArrayAccess::layout(results[i]) = Layout::contiguous(layout_of(x[i]));
      results[i] = placed(results[i]);
    }
    return results;
  }

  ArrayBase gather_blocks(int rank, const Collective& call, const ArrayBase& x) override {
    const ArrayBase all = once(rank, call, x, [&](const std::vector<ArrayBase>& mine) {
      const ArrayBase blocks = blocks_like(x, size_);
      agree_across(span_, call, std::vector<ArrayBase>(1, x));
      const std::size_t one = bytes_of(x);
      std::vector<std::size_t> bytes;
      for (const int count : counts_) bytes.push_back(static_cast<std::size_t>(count) * one);
      char* to = raw_data(blocks) + static_cast<std::size_t>(first_) * one;
      for (const ArrayBase& block : mine) read_elements(block, to), to += one;
      if (one > 0) processes_.all_gather(run_, call.function, blocks, bytes);
      return std::vector<ArrayBase>(1, blocks);
    })[0];
    return placed(all);
  }

  // Each process reduces all blocks, and they reduce those of each.
  ArrayBase reduce_scatter(int rank, const Collective& call, const ArrayBase& x,
                           const Combine& combine) override {
    const std::vector<ArrayBase> own(1, x);  // nvcc drops the braces of lists of one
    const ArrayBase sum =
        threads_.all_reduce(rank - first_, call, own, plain(std::vector<Combine>(1, combine)))[0];
    const ArrayBase parts = once(rank, call, sum, [&](const std::vector<ArrayBase>& mine) {
      const ArrayBase from = on_host(mine[0]);
      const ArrayBase to = blocks_like(block_of(x, 0), local());
      agree_across(span_, call, own);
      std::vector<std::int64_t> counts;
      for (const int count : counts_) counts.push_back(count * layout_of(x).size() / size_);
      if (bytes_of(from) > 0)
        processes_.reduce_scatter(run_, call.function, from, to, counts, combine.on_host);
      if (combine.scale_on_host) combine.scale_on_host(raw_data(to), 1.0 / size_, layout_of(to).size());
      return std::vector<ArrayBase>(1, to);
    })[0];
    return placed(block_of(parts, rank - first_));
  }

  // From process to process go the blocks of all its devices for all devices there.
  ArrayBase all_to_all(int rank, const Collective& call, const ArrayBase& x) override {
    const std::vector<ArrayBase> results = once(rank, call, x, [&](const std::vector<ArrayBase>& mine) {
      const auto devices = static_cast<std::size_t>(local());
      const std::size_t one = bytes_of(x) / static_cast<std::size_t>(size_);
      const ArrayBase from = blocks_like(x, local()), to = blocks_like(x, local()),
                      arrived = local() == 1 ? to : blocks_like(x, local());
      agree_across(span_, call, std::vector<ArrayBase>(1, x));
      std::vector<std::size_t> bytes;
      for (const int count : counts_) bytes.push_back(static_cast<std::size_t>(count) * devices * one);
      std::vector<ArrayBase> results;
      for (int d = 0; d < local(); ++d) results.push_back(block_of(to, d));
      if (one == 0) return results;
      std::vector<const char*> rows;
      std::vector<ArrayBase> here;
      for (const ArrayBase& array : mine) rows.push_back(raw_data(here.emplace_back(on_host(array))));
      char* out = raw_data(from);
      for_each_process([&](std::size_t begin, std::size_t end) {
        for (const char* row : rows) {
          std::memcpy(out, row + begin * one, (end - begin) * one);
          out += (end - begin) * one;
        }
      });
      processes_.all_to_all(run_, call.function, from, arrived, bytes, bytes,
                            static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_) * one);
      if (local() == 1) return results;
      const char* in = raw_data(arrived);
      for_each_process([&](std::size_t begin, std::size_t end) {
        for (std::size_t source = begin; source < end; ++source)
          for (const ArrayBase& result : results) {
            std::memcpy(raw_data(result) + source * one, in, one);
            in += one;
          }
      });
      return results;
    });
    return placed(results[static_cast<std::size_t>(rank - first_)]);
  }

  ArrayBase permute(int rank, const Collective& call, const ArrayBase& x,
                    const std::vector<std::pair<int, int>>& pairs) override {
    const ArrayBase all = once(rank, call, x, [&](const std::vector<ArrayBase>& mine) {
      const ArrayBase from = blocks_like(x, local()), to = blocks_like(x, local());
      agree_across(span_, call, std::vector<ArrayBase>(1, x));
      const std::size_t one = bytes_of(x);
      clear_elements(to);
      for (int d = 0; d < local(); ++d)
        read_elements(mine[static_cast<std::size_t>(d)], raw_data(from) + static_cast<std::size_t>(d) * one);
      std::vector<Processes::Parcel> parcels;
      for (const auto& [source, target] : pairs) {
        const std::size_t out = static_cast<std::size_t>(source - first_) * one,
                          in = static_cast<std::size_t>(target - first_) * one;
        if (is_local(source) && is_local(target))
          std::memcpy(raw_data(to) + in, raw_data(from) + out, one);
        else if (is_local(source))
          parcels.push_back({process_of(target), false, out, one});
        else if (is_local(target))
          parcels.push_back({process_of(source), true, in, one});
      }
      if (one > 0) processes_.send(run_, call.function, from, to, parcels);
      return std::vector<ArrayBase>(1, to);
    })[0];
    return placed(block_of(all, rank - first_));
  }

  void finish(int rank) override { threads_.finish(rank - first_); }
  void leave(int rank) override { threads_.leave(rank - first_); }
  void end(const std::string&) override { finish_across(span_); }
  void abort(const char* why) noexcept override {
    threads_.abort();
    processes_.fail(run_, why);
  }

 private:
  int local() const { return threads_.size(); }
  bool is_local(int device) const { return device >= first_ && device < first_ + local(); }
  int process_of(int device) const {
    int process = 0;
    for (int end = counts_[0]; device >= end; end += counts_[static_cast<std::size_t>(process)]) ++process;
    return process;
  }
  // f(first device, device after the last) of each process.
  template <class F>
  void for_each_process(const F& f) const {
    std::size_t begin = 0;
    for (const int count : counts_) {
      f(begin, begin + static_cast<std::size_t>(count));
      begin += static_cast<std::size_t>(count);
    }
  }

  static std::vector<Combine> plain(std::vector<Combine> combine) {
    for (Combine& one : combine) one.scale_on_host = nullptr, one.scale = nullptr;
    return combine;
  }
  // `n` blocks like x, on the host.
  static ArrayBase blocks_like(const ArrayBase& x, int n) {
    Frame frame;
    frame.shape = layout_of(x).shape;
    frame.shape.insert(0, n);
    return allocate(x.dtype(), frame, host_device());
  }
  static ArrayBase block_of(const ArrayBase& blocks, int number) {
    Frame frame;
    frame.shape = layout_of(blocks).shape;
    frame.shape.erase(0);
    const std::int64_t size = frame.size();
    return view(blocks, Layout::contiguous(std::move(frame)), number * size);
  }
  // Calls `make` in one thread, with the arrays of this process' devices.
  template <class Make>
  std::vector<ArrayBase> once(int rank, const Collective& call, const ArrayBase& x, const Make& make) {
    device_data(x);  // gathers its shards
    return threads_.make_once(rank - first_, call, std::vector<ArrayBase>(1, x),
                              [&](const std::vector<std::vector<ArrayBase>>& everyone) {
                                std::vector<ArrayBase> mine;
                                for (const auto& arrays : everyone) mine.push_back(arrays[0]);
                                return make(mine);
                              });
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

}  // namespace detail::mpi
NAX_END
