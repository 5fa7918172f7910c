#pragma once

#include <cstring>
#include <deque>
#include <numeric>
#include <optional>

#include "nax/core/function_ref.hpp"
#include "nax/devices/nccl/clique.hpp"
#include "nax/devices/nccl/flights.hpp"
#include "nax/devices/nccl/reduction.hpp"
#include "nax/parallel/span.hpp"
#include "nax/parallel/threads.hpp"

// The communicator of a run whose devices are cards of their own: their threads agree on a collective, one of
// them puts every device's part on the streams, and NCCL does the rest.
//
// All this happens on the device's second stream (cuda::CommunicationScope): it waits for what a collective
// reads, and nothing that the device computes waits for it, but who reads a result. A reduction of many
// arrays goes by groups of buckets, in the order in which the arrays are complete; devices agree on the order
// first.
//
// A thread allocates what its part needs, and packs it, before it agrees: memory that is not there, or that
// is waited for, holds up no collective that others have begun. The agreement, a meeting of the threads on
// the host, is where shapes and types are compared, so that NCCL never sees calls that differ. The last to
// come launches all ranks of this process in one group, and only one run does so at a time: two runs over the
// same cards give each of them their collectives in the same order. From then on only NCCL can fail. The
// thread that learns of it (by a call's result, an asynchronous error, or the time that it takes) first
// aborts the communicators of all devices, which ends the kernels that wait, and then throws. Every other
// thread that waits, for a meeting or for a stream, throws as well; the next run has communicators of its
// own.
NAX_BEGIN
namespace detail::nccl {

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
    if (!clique_) return;
    if (!clique_->is_usable())
      Flights::of_this_thread().forget(*clique_);  // the caller is told of this run's failure
    else
      CliqueCache::instance().put(devices_, size_, first(), std::move(clique_));
  }

  int size() const override { return size_; }
  int first() const override { return span_.first; }
  BlockCommunicator* blocks() override { return this; }

  std::vector<ArrayBase> all_gather(int rank, const Collective& collective, const ArrayBase& x) override {
    const ArrayBase all = gather_blocks(rank, collective, x);
    std::vector<ArrayBase> everyone;
    for (int d = 0; d < size(); ++d) everyone.push_back(part_of(all, d, layout_of(x)));
    return everyone;
  }

  bool overlaps() const override { return cuda::kernels_follow_streams; }

  // Group by group on the communication stream: each waits for its own arrays, and what the program computes
  // later waits for those of its results that it reads.
  std::vector<ArrayBase> all_reduce(int rank, const Collective& collective, const std::vector<ArrayBase>& x,
                                    const std::vector<Combine>& combine) override {
    Reduction reduction(x, combine);
    const bool grouped = reduction.groups() > 1;  // of one order for all: all devices find the same
    if (grouped) reduction.plan(agree_on_order(rank, collective, x));
    {
      const cuda::CommunicationScope beside(device_of(rank));
      reduction.allocate(device_of(rank), size());
      for (std::size_t group = 0; group < reduction.groups(); ++group) {
        reduction.pack(group);
        together(
            rank, collective, x,
            [&](ncclComm_t comm, cudaStream_t stream) { reduction.launch(comm, stream); }, grouped);
        reduction.note(group);
      }
    }
    return reduction.results(size());
  }

  ArrayBase gather_blocks(int rank, const Collective& collective, const ArrayBase& x) override {
    const cuda::CommunicationScope beside(device_of(rank));
    const ArrayBase mine = here(x), all = allocate_blocks(mine, size());
    const char* const from = device_data(mine);
    char* const to = device_data(all);
    together(rank, collective, {x}, [&](ncclComm_t comm, cudaStream_t stream) {
      if (layout_of(all).size() == 0) return;
      call("ncclAllGather", ncclAllGather(from, to, bytes_of(mine), ncclInt8, comm, stream));
    });
    return all;
  }

  ArrayBase reduce_scatter(int rank, const Collective& collective, const ArrayBase& x,
                           const Combine& combine) override {
    const Wire wire = wire_of(x.dtype(), combine);
    if (wire.gathered)
      raise<TypeError>({collective.function, ": has no reduction of ", dtype_name(x.dtype()), " by NCCL"});
    const cuda::CommunicationScope beside(device_of(rank));
    const ArrayBase mine = as_dtype(here(x), wire.stored), part = allocate_part(mine);
    const char* const from = device_data(mine);
    char* const to = device_data(part);
    together(rank, collective, {x}, [&](ncclComm_t comm, cudaStream_t stream) {
      if (layout_of(part).size() > 0)
        call("ncclReduceScatter", ncclReduceScatter(from, to,
                                                    static_cast<std::size_t>(layout_of(part).size()) *
                                                        static_cast<std::size_t>(wire.parts),
                                                    wire.type, wire.op, comm, stream));
    });
    return as_dtype(part, x.dtype());
  }

  ArrayBase all_to_all(int rank, const Collective& collective, const ArrayBase& x) override {
    const cuda::CommunicationScope beside(device_of(rank));
    const ArrayBase mine = here(x), result = allocate_like(mine);
    const char* const from = device_data(mine);
    char* const to = device_data(result);
    const std::size_t bytes = bytes_of(mine) / static_cast<std::size_t>(size());
    together(rank, collective, {x}, [&](ncclComm_t comm, cudaStream_t stream) {
      if (bytes > 0)
        for (int d = 0; d < size(); ++d) {
          const std::size_t at = static_cast<std::size_t>(d) * bytes;
          call("ncclSend", ncclSend(from + at, bytes, ncclInt8, d, comm, stream));
          call("ncclRecv", ncclRecv(to + at, bytes, ncclInt8, d, comm, stream));
        }
    });
    return result;
  }

  ArrayBase permute(int rank, const Collective& collective, const ArrayBase& x,
                    const std::vector<std::pair<int, int>>& pairs) override {
    const cuda::CommunicationScope beside(device_of(rank));
    const ArrayBase mine = here(x), result = allocate_like(mine);
    const char* const from = device_data(mine);
    char* const to = device_data(result);
    bool receives = false;
    for (const auto& pair : pairs) receives = receives || pair.second == rank;
    if (!receives) clear_elements(result);
    const std::size_t bytes = bytes_of(mine);
    together(rank, collective, {x}, [&](ncclComm_t comm, cudaStream_t stream) {
      if (bytes > 0)
        for (const auto& pair : pairs) {
          if (pair.first == rank)
            call("ncclSend", ncclSend(from, bytes, ncclInt8, pair.second, comm, stream));
          if (pair.second == rank) call("ncclRecv", ncclRecv(to, bytes, ncclInt8, pair.first, comm, stream));
        }
    });
    return result;
  }

  // Of one process alone, collectives may be on their way when the program has ended, and the caller's thread
  // watches them. Of several, they have ended.
  void finish(int rank) override {
    if (!may_fly())
      wait(rank);
    else if (pending_of(rank).function)
      check_state(rank);
    cuda::watch_streams(nullptr);
    threads_.finish(rank - first());
  }
  void leave(int rank) override { threads_.leave(rank - first()); }
  void end(const std::string& axis_name) override {
    if (span_.processes) finish_across(span_);
    if (!may_fly() || !clique_) return;
    Flight flight{clique_, {}};
    for (const Pending& one : pending_)
      flight.devices.push_back(
          {one.function ? one.end : nullptr, "pmap: device " + to_string(device_of(one.rank)) +
                                                 " along axis '" + axis_name + "': " + where(one.rank)});
    Flights::of_this_thread().add(std::move(flight));
  }
  void abort(const char* why) noexcept override {
    cuda::watch_streams(nullptr);
    abort_all();
    if (span_.processes) span_.processes->fail(span_.run, why);
  }

 private:
  // The collective that a device waits for.
  struct Pending final : cuda::StreamWatch {
    NcclCommunicator* communicator = nullptr;
    int rank = 0;
    const char* function = nullptr;  // null when nothing is
    std::vector<Dims> shapes;
    std::chrono::steady_clock::time_point deadline;
    cudaStream_t stream = nullptr;   // of the device's thread
    std::vector<std::size_t> order;  // of the arrays that are to be reduced
    std::optional<FunctionRef<void(ncclComm_t, cudaStream_t)>>
        calls;            // that this device makes, while it waits
    std::string failure;  // of those calls
    // Of the collective; what the program computes then may take its time.
    std::shared_ptr<cuda::StreamMark> end = std::make_shared<cuda::StreamMark>();

    void check() override { communicator->check(rank); }
  };
  static ArrayBase allocate_part(const ArrayBase& x) {
    Frame frame;
    frame.shape = layout_of(x).shape;
    frame.shape.erase(0);
    return allocate(x.dtype(), frame, x.device());
  }

  // The order in which all devices pack these arrays: that of their moments, where all have the same.
  std::vector<std::size_t> agree_on_order(int rank, const Collective& collective,
                                          const std::vector<ArrayBase>& arrays) {
    std::vector<std::size_t>& mine = pending_of(rank).order;
    mine = cuda::order_of_moments(arrays);
    threads_.agree(rank - first(), collective, arrays, [&] {
      order_ = pending_.front().order;
      bool same = true;
      for (const Pending& one : pending_) same = same && one.order == order_;
      if (span_.processes) {
        agree_across(span_, collective, arrays);
        std::string text = same ? "" : "several";
        for (const std::size_t i : order_) text += ' ' + std::to_string(i);
        for (const std::string& one : span_.processes->exchange(span_.run, collective.function, text))
          same = same && one == text;
      }
      if (!same) std::iota(order_.begin(), order_.end(), std::size_t{0});
    });
    return order_;
  }

  // The collective of all devices, in which this one makes these calls: some device's thread does, so that
  // they know addresses, and no arrays. `agreed`: processes have compared the arrays before.
  void together(int rank, const Collective& collective, const std::vector<ArrayBase>& arrays,
                FunctionRef<void(ncclComm_t, cudaStream_t)> calls, bool agreed = false) {
    Pending& mine = pending_of(rank);
    mine.function = collective.function;
    mine.shapes.clear();
    for (const ArrayBase& x : arrays) mine.shapes.push_back(layout_of(x).shape);
    mine.stream = cuda::stream_for_collectives(device_of(rank));
    mine.calls = calls;
    threads_.agree(rank - first(), collective, arrays, [&] {
      if (span_.processes && !agreed) agree_across(span_, collective, arrays);
      if (!clique_) connect();
      launch(rank);
    });
    mine.deadline = deadline_from_now();
    if (!mine.failure.empty()) fail(rank, std::exchange(mine.failure, std::string()));
    if (launch_failed_) throw_aborted(rank);
    mine.end->put(device_of(rank), mine.stream);
    if (cuda::kernels_follow_streams)
      cuda::watch_streams(&mine);
    else
      wait(rank);
  }

  // In one thread, while the others wait: puts the calls of all devices of this process on their streams, as
  // one group. Returns when NCCL has taken them. What fails is left with the device whose call it was.
  void launch(int rank) {
    static std::mutex one_run_at_a_time;
    const std::lock_guard order(one_run_at_a_time);
    int at = rank;
    try {
      std::vector<std::unique_lock<std::mutex>> locks;
      for (Pending& one : pending_) locks.emplace_back(clique_->at(one.rank - first()).mutex);
      call("ncclGroupStart", ncclGroupStart());
      try {
        for (Pending& one : pending_) {
          Clique::Member& member = clique_->at((at = one.rank) - first());
          if (!member.comm) throw_aborted(at);
          [[maybe_unused]] const auto on = cuda::select_for_collectives(member.device);
          (*one.calls)(member.comm, one.stream);
        }
        at = rank;
      } catch (...) {
        ncclGroupEnd();
        throw;
      }
      const ncclResult_t ended = ncclGroupEnd();
      call("ncclGroupEnd", ended);
      locks.clear();
      // Communicators say themselves when they are done with the calls; until then they must not be given
      // more.
      if (ended == ncclInProgress)
        for (Pending& one : pending_) settle(at = one.rank);
    } catch (const Failed& failed) {
      launch_failed_ = true;
      pending_of(at).failure =
          failed.text.empty() ? nccl_error(failed.call, failed.code, nullptr) : failed.text;
    } catch (const MeetingAborted&) {  // the communicators are gone
      launch_failed_ = true;
    }
  }
  void settle(int rank) {
    const auto deadline = deadline_from_now();
    std::string text;
    const bool done = poll(deadline, [&] { return state_of(rank, text) != ncclInProgress; });
    if (!text.empty()) throw Failed{"", ncclSuccess, text};
    if (!done) throw Failed{"", ncclSuccess, "NCCL has not begun after " + timeout_text()};
  }

  // In one thread, while the others wait; of several processes, in one thread of each.
  void connect() {
    clique_ = CliqueCache::instance().take(devices_, size_, first());
    if (!span_.processes) {
      if (!clique_) clique_ = std::make_shared<Clique>(devices_, size_, 0, new_unique_id());
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
    clique_ = std::make_shared<Clique>(devices_, size_, first(), id);
  }

  bool may_fly() const { return cuda::kernels_follow_streams && !span_.processes; }
  Device device_of(int rank) const { return devices_[static_cast<std::size_t>(rank - first())]; }
  Pending& pending_of(int rank) { return pending_[static_cast<std::size_t>(rank - first())]; }
  const Pending& pending_of(int rank) const { return pending_[static_cast<std::size_t>(rank - first())]; }

  // Until all on this thread's stream is done.
  void wait(int rank) {
    Pending& mine = pending_of(rank);
    if (!mine.function || !clique_) return;
    for (long n = 0; !cuda::is_done(mine.stream) || !cuda::computed(device_of(rank)); ++n) {
      check(rank);
      if (n < 1000)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    check_state(rank);
    mine.function = nullptr;
  }
  // Throws where what this device waits for will not come.
  void check(int rank) {
    check_state(rank);
    if (!pending_of(rank).end->passed() && std::chrono::steady_clock::now() > pending_of(rank).deadline)
      fail(rank, "not done after " + timeout_text());
  }
  // Of the device's communicator; the text of an error, if that is one.
  ncclResult_t state_of(int rank, std::string& text) {
    const auto state = clique_->state_of(rank - first(), text);
    if (!state) throw_aborted(rank);
    return *state;
  }
  // Throws where something is wrong with this device's last calls.
  void check_state(int rank) {
    std::string text;
    state_of(rank, text);
    if (!text.empty()) fail(rank, text);
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
  std::shared_ptr<Clique> clique_;  // made in the first collective
  bool launch_failed_ = false;      // written in a meeting
  std::vector<std::size_t> order_;  // as well
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
    // One thread launches for all cards: a launch that blocks waits for those that come after it.
    const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
    if (blocking && std::string(blocking) == "1" && devices.size() > 1)
      throw DeviceError(
          "pmap: NCCL's collectives never end with CUDA_LAUNCH_BLOCKING=1 in the environment; unset it, or "
          "set "
          "NAX_NCCL=0");
    if (cuda::kernels_follow_streams) Flights::of_this_thread().check();
    return std::make_unique<NcclCommunicator>(devices, threads, span);
  }
};

}  // namespace detail::nccl
NAX_END
