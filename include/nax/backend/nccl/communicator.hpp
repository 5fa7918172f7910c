#pragma once

#include <cstring>
#include <deque>

#include "nax/backend/nccl/buckets.hpp"
#include "nax/backend/nccl/clique.hpp"
#include "nax/collective/span.hpp"
#include "nax/collective/threads.hpp"
#include "nax/core/function_ref.hpp"
#include "nax/expr/as_dtype.hpp"
#include "nax/numpy/views/copy.hpp"

// The communicator of a run whose devices are cards of their own: their threads agree on a collective, then
// each puts its part on its stream, and NCCL does the rest.
//
// The agreement, a meeting of the threads on the host, is where shapes and types are compared, so that NCCL
// never sees calls that differ; nobody puts anything on a stream before all have come. From then on only NCCL
// can fail. Whoever learns of it (by a call's result, an asynchronous error, or the time that it takes) first
// aborts the communicators of all devices, which ends the kernels that wait, and then throws. Everybody else
// who waits, for a meeting or for a stream, throws as well; the next run has communicators of its own.
namespace nax::inline NAX_ABI::detail::nccl {

class NcclCommunicator final : public Communicator, public BlockCommunicator {
 public:
  NcclCommunicator(const std::vector<Device>& devices, ThreadCommunicator& threads, const Span* span)
      : devices_(devices), threads_(threads), pending_(devices.size()) {
    if (span) span_ = *span;
    size_ = span ? span->size : threads.size();
    int rank = first();
    for (Pending& one : pending_) one.communicator = this, one.rank = rank++;
  }
  ~NcclCommunicator() override {
    if (clique_ && clique_->is_usable())
      CliqueCache::instance().put(devices_, size_, first(), std::move(clique_));
  }

  int size() const override { return size_; }
  int first() const override { return span_.first; }
  BlockCommunicator* blocks() override { return this; }

  std::vector<ArrayBase> all_gather(int rank, const char* function, const ArrayBase& x) override {
    const ArrayBase all = gather_blocks(rank, function, x);
    std::vector<ArrayBase> everyone;
    for (int d = 0; d < size(); ++d) everyone.push_back(part_of(all, d, layout_of(x)));
    return everyone;
  }

  std::vector<ArrayBase> all_reduce(int rank, const char* function, const std::vector<ArrayBase>& x,
                                    const std::vector<Combine>& combine) override {
    std::vector<ArrayBase> mine, results(x.size()), gathered(x.size());
    std::vector<Wire> wires;
    for (std::size_t i = 0; i < x.size(); ++i) {
      wires.push_back(wire_of(x[i].dtype(), combine[i]));
      mine.push_back(as_dtype(here(x[i]), wires[i].stored));
    }
    agree(rank, function, x);
    struct Message {
      ArrayBase from, to;
      Wire wire;
    };
    std::vector<Message> messages;
    for (const Bucket& bucket : make_buckets(mine, wires)) {
      const bool alone = bucket.arrays.size() == 1;
      const ArrayBase from = alone ? mine[bucket.arrays[0]] : packed(bucket, mine);
      const ArrayBase to = alone ? allocate_like(from) : from;
      messages.push_back({from, to, bucket.wire});
      for (std::size_t k = 0; k < bucket.arrays.size(); ++k)
        results[bucket.arrays[k]] =
            view(to, Layout::contiguous(layout_of(mine[bucket.arrays[k]])), alone ? 0 : bucket.places[k]);
    }
    for (std::size_t i = 0; i < x.size(); ++i)
      if (layout_of(x[i]).size() == 0)
        results[i] = allocate_like(mine[i]);
      else if (wires[i].gathered)
        gathered[i] = allocate_blocks(mine[i]);
    group(rank, [&](ncclComm_t comm, cudaStream_t stream) {
      for (const Message& message : messages)
        call("ncclAllReduce", ncclAllReduce(device_data(message.from), device_data(message.to),
                                            static_cast<std::size_t>(layout_of(message.from).size()) *
                                                static_cast<std::size_t>(message.wire.parts),
                                            message.wire.type, message.wire.op, comm, stream));
      for (std::size_t i = 0; i < x.size(); ++i)
        if (ArrayAccess::buffer(gathered[i]))
          call("ncclAllGather", ncclAllGather(device_data(mine[i]), device_data(gathered[i]),
                                              bytes_of(mine[i]), ncclInt8, comm, stream));
    });
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (ArrayAccess::buffer(gathered[i])) {
        ArrayBase sum = part_of(gathered[i], 0, layout_of(x[i]));
        for (int d = 1; d < size(); ++d)
          sum = combine[i].arrays(sum, part_of(gathered[i], d, layout_of(x[i])));
        results[i] = size() == 1 ? allocate_copy(sum) : sum;
      }
      results[i] = as_dtype(results[i], x[i].dtype());
    }
    return results;
  }

  ArrayBase gather_blocks(int rank, const char* function, const ArrayBase& x) override {
    const ArrayBase mine = here(x);
    agree(rank, function, {x});
    const ArrayBase all = allocate_blocks(mine);
    if (layout_of(all).size() == 0) return all;
    group(rank, [&](ncclComm_t comm, cudaStream_t stream) {
      call("ncclAllGather",
           ncclAllGather(device_data(mine), device_data(all), bytes_of(mine), ncclInt8, comm, stream));
    });
    return all;
  }

  ArrayBase reduce_scatter(int rank, const char* function, const ArrayBase& x,
                           const Combine& combine) override {
    const Wire wire = wire_of(x.dtype(), combine);
    if (wire.gathered)
      raise<TypeError>({function, ": has no reduction of ", dtype_name(x.dtype()), " by NCCL"});
    const ArrayBase mine = as_dtype(here(x), wire.stored);
    agree(rank, function, {x});
    const ArrayBase part = allocate_part(mine);
    if (layout_of(part).size() > 0)
      group(rank, [&](ncclComm_t comm, cudaStream_t stream) {
        call("ncclReduceScatter", ncclReduceScatter(device_data(mine), device_data(part),
                                                    static_cast<std::size_t>(layout_of(part).size()) *
                                                        static_cast<std::size_t>(wire.parts),
                                                    wire.type, wire.op, comm, stream));
      });
    return as_dtype(part, x.dtype());
  }

  ArrayBase all_to_all(int rank, const char* function, const ArrayBase& x) override {
    const ArrayBase mine = here(x);
    agree(rank, function, {x});
    const ArrayBase result = allocate_like(mine);
    const std::size_t bytes = bytes_of(mine) / static_cast<std::size_t>(size());
    if (bytes > 0)
      group(rank, [&](ncclComm_t comm, cudaStream_t stream) {
        for (int d = 0; d < size(); ++d) {
          const std::size_t at = static_cast<std::size_t>(d) * bytes;
          call("ncclSend", ncclSend(device_data(mine) + at, bytes, ncclInt8, d, comm, stream));
          call("ncclRecv", ncclRecv(device_data(result) + at, bytes, ncclInt8, d, comm, stream));
        }
      });
    return result;
  }

  ArrayBase permute(int rank, const char* function, const ArrayBase& x,
                    const std::vector<std::pair<int, int>>& pairs) override {
    const ArrayBase mine = here(x);
    agree(rank, function, {x});
    const ArrayBase result = allocate_like(mine);
    bool takes_part = false, receives = false;
    for (const auto& [from, to] : pairs) {
      takes_part = takes_part || from == rank || to == rank;
      receives = receives || to == rank;
    }
    if (!receives) clear_elements(result);
    const std::size_t bytes = bytes_of(mine);
    if (takes_part && bytes > 0)
      group(rank, [&](ncclComm_t comm, cudaStream_t stream) {
        for (const auto& pair : pairs) {
          if (pair.first == rank)
            call("ncclSend", ncclSend(device_data(mine), bytes, ncclInt8, pair.second, comm, stream));
          if (pair.second == rank)
            call("ncclRecv", ncclRecv(device_data(result), bytes, ncclInt8, pair.first, comm, stream));
        }
      });
    return result;
  }

  void work_together(int rank, const char* function, const void* mine,
                     FunctionRef<void(const std::vector<const void*>&)> work) override {
    threads_.work_together(rank - first(), function, mine, work);
  }

  // A device's last collectives have ended when its program has.
  void finish(int rank) override {
    wait(rank);
    cuda::watch_streams(nullptr);
    threads_.finish(rank - first());
  }
  void leave(int rank) override { threads_.leave(rank - first()); }
  void abort(const char* why) noexcept override {
    cuda::watch_streams(nullptr);
    abort_all();
    if (span_.processes) span_.processes->fail(span_.run, why);
  }

 private:
  // What a device is waiting for.
  struct Pending final : cuda::StreamWatch {
    NcclCommunicator* communicator = nullptr;
    int rank = 0;
    const char* function = nullptr;  // null when nothing is
    std::vector<Dims> shapes;
    std::chrono::steady_clock::time_point deadline;
    cuda::StreamMark end;  // of the collective; what the program computes then may take its time

    void check() override { communicator->check(rank); }
  };
  struct Failed {
    const char* call;
    ncclResult_t code;
  };

  static ArrayBase allocate_like(const ArrayBase& x) { return allocate(x.dtype(), layout_of(x), x.device()); }
  static ArrayBase allocate_copy(const ArrayBase& x) { return moved(x, x.device()); }
  ArrayBase allocate_blocks(const ArrayBase& x) const {
    Frame frame;
    frame.shape = layout_of(x).shape;
    frame.shape.insert(0, size());
    return allocate(x.dtype(), frame, x.device());
  }
  static ArrayBase allocate_part(const ArrayBase& x) {
    Frame frame;
    frame.shape = layout_of(x).shape;
    frame.shape.erase(0);
    return allocate(x.dtype(), frame, x.device());
  }
  // One of the blocks, with the axes of `layout`.
  static ArrayBase part_of(const ArrayBase& blocks, int number, const Layout& layout) {
    return view(blocks, Layout::contiguous(layout), number * layout.size());
  }
  static ArrayBase here(const ArrayBase& x) {
    return x.device() == current_device ? x : moved(x, current_device);
  }

  void agree(int rank, const char* function, const std::vector<ArrayBase>& arrays) {
    Pending& mine = pending_of(rank);
    mine.function = function;
    mine.shapes.clear();
    for (const ArrayBase& x : arrays) mine.shapes.push_back(layout_of(x).shape);
    threads_.agree(rank - first(), function, arrays, [&] {
      if (span_.processes) agree_across(span_, function, arrays);
      if (!clique_) connect();
    });
    mine.deadline = deadline_from_now();
  }

  // In one thread, while the others wait; of several processes, in one thread of each.
  void connect() {
    clique_ = CliqueCache::instance().take(devices_, size_, first());
    if (!span_.processes) {
      if (!clique_) clique_ = std::make_unique<Clique>(devices_, size_, 0, new_unique_id());
      return;
    }
    // All have it from an earlier run, or all make a new one.
    bool all_have = true;
    for (const std::string& one : span_.processes->exchange(span_.run, "pmap", clique_ ? "has" : "has not"))
      all_have = all_have && one == "has";
    if (all_have) return;
    if (clique_) clique_->abort();
    ncclUniqueId id{};
    std::string mine;
    if (span_.processes->index() == 0) {
      id = new_unique_id();
      mine.assign(id.internal, sizeof id.internal);
    }
    const auto ids = span_.processes->exchange(span_.run, "pmap", mine);
    std::memcpy(id.internal, ids[0].data(), std::min(ids[0].size(), sizeof id.internal));
    clique_ = std::make_unique<Clique>(devices_, size_, first(), id);
  }

  Pending& pending_of(int rank) { return pending_[static_cast<std::size_t>(rank - first())]; }
  const Pending& pending_of(int rank) const { return pending_[static_cast<std::size_t>(rank - first())]; }

  static void call(const char* name, ncclResult_t code) {
    if (code != ncclSuccess && code != ncclInProgress) throw Failed{name, code};
  }
  // `calls` as one group on this thread's stream. Returns when NCCL has taken them.
  template <class Calls>
  void group(int rank, const Calls& calls) {
    Clique::Member& member = clique_->at(rank - first());
    const cudaStream_t stream = cuda::stream_for_collectives(member.device);
    ncclResult_t ended = ncclSuccess;
    try {
      const std::lock_guard lock(member.mutex);
      if (!member.comm) throw_aborted(rank);
      call("ncclGroupStart", ncclGroupStart());
      try {
        calls(member.comm, stream);
      } catch (...) {
        ncclGroupEnd();
        throw;
      }
      ended = ncclGroupEnd();
      call("ncclGroupEnd", ended);
    } catch (const Failed& failed) {
      fail(rank, nccl_error(failed.call, failed.code, nullptr));
    }
    // It says so itself when it is done with the calls; until then it must not be given more.
    while (ended == ncclInProgress && !settled(rank)) std::this_thread::yield();
    pending_of(rank).end.put(stream);
    if (cuda::kernels_follow_streams)
      cuda::watch_streams(&pending_of(rank));
    else
      wait(rank);
  }

  // Until all on this thread's stream is done.
  void wait(int rank) {
    Pending& mine = pending_of(rank);
    if (!mine.function || !clique_) return;
    const cudaStream_t stream = cuda::stream_for_collectives(clique_->at(rank - first()).device);
    for (long n = 0; !cuda::is_done(stream); ++n) {
      check(rank);
      if (n < 1000)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    settled(rank);
    mine.function = nullptr;
  }
  // Throws where what this device waits for will not come.
  void check(int rank) {
    settled(rank);
    if (!pending_of(rank).end.passed() && std::chrono::steady_clock::now() > pending_of(rank).deadline)
      fail(rank, "not done after " + timeout_text());
  }
  // Has NCCL taken this device's last calls? Throws where something is wrong.
  bool settled(int rank) {
    Clique::Member& member = clique_->at(rank - first());
    ncclResult_t state = ncclSuccess, asked = ncclSuccess;
    std::string text;
    {
      const std::lock_guard lock(member.mutex);
      if (!member.comm) throw_aborted(rank);
      asked = ncclCommGetAsyncError(member.comm, &state);
      if (asked != ncclSuccess) state = asked;
      if (state != ncclSuccess && state != ncclInProgress)
        text = nccl_error("ncclCommGetAsyncError", state, member.comm);
    }
    if (!text.empty()) fail(rank, text);
    if (state == ncclInProgress && std::chrono::steady_clock::now() > pending_of(rank).deadline)
      fail(rank, "NCCL has not begun after " + timeout_text());
    return state == ncclSuccess;
  }

  // "psum on cuda:1 (2 of 4), shapes (3,), (2, 3)"
  std::string where(int rank) const {
    const Pending& mine = pending_of(rank);
    std::string text = std::string(mine.function ? mine.function : "collective") + " on " +
                       to_string(devices_[static_cast<std::size_t>(rank - first())]) + " (" +
                       std::to_string(rank + 1) + " of " + std::to_string(size()) + "), " +
                       (mine.shapes.size() == 1 ? "shape" : "shapes");
    const std::size_t shown = std::min<std::size_t>(mine.shapes.size(), 8);
    for (std::size_t i = 0; i < shown; ++i)
      text += (i ? ", " : " ") + nax::to_string(Shape(mine.shapes[i].begin(), mine.shapes[i].end()));
    if (shown < mine.shapes.size()) text += " and " + std::to_string(mine.shapes.size() - shown) + " more";
    return text;
  }
  void abort_all() noexcept {
    if (clique_) clique_->abort();
    threads_.abort();
  }
  [[noreturn]] void fail(int rank, const std::string& text) {
    abort_all();
    raise<DeviceError>({where(rank), ": ", text});
  }
  [[noreturn]] void throw_aborted(int rank) const {
    throw MeetingAborted(where(rank) + ": another device failed");
  }

  const std::vector<Device> devices_;
  ThreadCommunicator& threads_;
  Span span_;  // no processes where the run is of this one alone
  int size_ = 0;
  std::unique_ptr<Clique> clique_;  // made in the first collective
  std::deque<Pending> pending_;
};

// The communicator of devices that are cards of their own, unless NAX_NCCL is 0. (Several devices of one
// card, as NAX_CUDA_DEVICES makes them, combine in its memory.)
class NcclProvider final : public CommunicatorProvider {
 public:
  std::unique_ptr<Communicator> connect(const std::vector<Device>& devices, ThreadCommunicator& threads,
                                        const Span* span) override {
    const char* choice = std::getenv("NAX_NCCL");
    if (choice && std::string(choice) == "0") return nullptr;
    std::vector<int> cards;
    for (const Device device : devices) {
      if (!on_accelerator(device)) return nullptr;
      const int card = cuda::card_for_collectives(device);
      if (std::find(cards.begin(), cards.end(), card) != cards.end()) return nullptr;
      cards.push_back(card);
    }
    return std::make_unique<NcclCommunicator>(devices, threads, span);
  }
};

}  // namespace nax::inline NAX_ABI::detail::nccl
