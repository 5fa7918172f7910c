#pragma once

#include <algorithm>
#include <mutex>
#include <numeric>
#include <thread>

#include "nax/devices/mpi/element_types.hpp"
#include "nax/devices/mpi/end_of_job.hpp"
#include "nax/devices/mpi/in_flight.hpp"
#include "nax/devices/mpi/inbox.hpp"
#include "nax/parallel/processes.hpp"
#include "nax/parallel/timeout.hpp"

// Processes that MPI brings together.
//
// Nothing here waits in MPI itself: every wait looks whether a process has sent that it failed, and at the
// clock. Before elements travel all processes have agreed on the collective, so that one that fails in its
// own program is heard of while MPI's collectives have not begun, and the next run is as good as the first.
// An error after that leaves MPI's collectives out of step: all later calls refuse, and the end of the
// program ends the job.
//
// A process may end one of MPI's collectives, and go on to fail or to leave, before another has seen that
// collective's end. So messages carry how many have ended in the sender: what it says after the collective
// in which this process still is does not concern that one.
NAX_BEGIN
namespace detail::mpi {

class MpiProcesses final : public Processes {
 public:
  // Of MPI_COMM_WORLD, which is initialised.
  MpiProcesses(int index, int count) : index_(index), inbox_(index, count) {}

  // Meets the others. What it throws leaves MPI with requests for this object, which therefore must live on.
  void connect() {
    {
      auto lock = enter("distributed::initialize");
      messages_ = duplicate(lock);
      elements_ = duplicate(lock);
      inbox_.open(messages_);
    }
    char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
    int length = 0;
    MPI_Get_processor_name(name, &length);
    hosts_ = exchange(begin_run("distributed::initialize"), "distributed::initialize", name);
  }

  int index() const override { return index_; }
  int count() const override { return inbox_.count(); }
  // Is this another process, which was forked from the one that has joined?
  bool is_forked() const { return nax::detail::os::process_id() != pid_; }

  std::uint64_t begin_run(const char* function) override {
    refuse_if_forked(function);
    const std::lock_guard lock(mutex_);
    if (!failed_) finished_ = run_;
    failed_ = false;
    return ++run_;
  }

  std::vector<std::string> exchange(std::uint64_t run, const char* function,
                                    const std::string& mine) override {
    auto lock = enter(function);
    inbox_.send_to_all({run, ended_, Kind::collective, mine});
    std::vector<std::string> all(static_cast<std::size_t>(count()));
    std::vector<bool> here(all.size());
    all[static_cast<std::size_t>(index_)] = mine;
    here[static_cast<std::size_t>(index_)] = true;
    std::size_t missing = all.size() - 1;
    bool others_are_late = false;
    const bool done = wait(lock, [&] {
      for (int p = 0; p < count(); ++p) {
        if (here[static_cast<std::size_t>(p)]) continue;
        const Message* const first = first_from(p, run);
        if (!first) continue;
        if (first->kind == Kind::late) return others_are_late = true;
        const std::string why = failure(p, *first);
        if (first->kind == Kind::broken || (first->kind == Kind::failed && first->run < run))
          give_up(run, std::string(function) + ": " + why);
        if (!why.empty() && (first->kind == Kind::left || first->run == run))
          raise<DeviceError>({function, ": ", why});
        if (first->run > run)
          raise<DeviceError>(
              {function, ": ", name(p), " has gone on, while others wait for it in this collective"});
        all[static_cast<std::size_t>(p)] = first->text;
        here[static_cast<std::size_t>(p)] = true;
        inbox_.from(p).pop_front();
        --missing;
      }
      return missing == 0;
    });
    if (!done || others_are_late) {
      const std::string silent = silent_processes(lock, run);
      give_up(run, std::string(function) + ": waited " + timeout_text() + " for " +
                       (silent.empty() ? names([&](int p) { return !here[static_cast<std::size_t>(p)]; })
                                       : silent));
    }
    return all;
  }

  void all_reduce(std::uint64_t run, const char* function, const ArrayBase& elements,
                  CombineRun combine) override {
    const std::size_t element = dtype_size(elements.dtype());
    const std::int64_t n = layout_of(elements).size(), most = largest_transfer;
    for (std::int64_t at = 0; at < n; at += most)
      perform(run, function, [&](InFlight& call) {
        char* const data = call.keep(elements) + at * static_cast<std::int64_t>(element);
        check(MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(std::min(most, n - at)),
                             types_.of_size(element), types_.operation(combine), elements_, call.request()),
              "MPI_Iallreduce");
      });
  }

  void all_gather(std::uint64_t run, const char* function, const ArrayBase& all,
                  const std::vector<std::size_t>& bytes) override {
    const auto most = static_cast<std::size_t>(largest_transfer);
    if (total(bytes) <= most)
      return perform(run, function, [&](InFlight& call) {
        const auto [counts, places] = counts_and_places(call, bytes);
        check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, call.keep(all), counts, places, MPI_BYTE,
                              elements_, call.request()),
              "MPI_Iallgatherv");
      });
    std::size_t place = 0;
    for (int p = 0; p < count(); ++p) {
      const std::size_t here = bytes[static_cast<std::size_t>(p)];
      for (std::size_t at = 0; at < here; at += most)
        perform(run, function, [&](InFlight& call) {
          check(MPI_Ibcast(call.keep(all) + place + at, static_cast<int>(std::min(most, here - at)), MPI_BYTE,
                           p, elements_, call.request()),
                "MPI_Ibcast");
        });
      place += here;
    }
  }

  void reduce_scatter(std::uint64_t run, const char* function, const ArrayBase& from, const ArrayBase& to,
                      const std::vector<std::int64_t>& counts, CombineRun combine) override {
    const std::size_t element = dtype_size(from.dtype());
    const std::int64_t most = largest_transfer;
    if (layout_of(from).size() <= most)
      return perform(run, function, [&](InFlight& call) {
        check(MPI_Ireduce_scatter(
                  call.keep(from), call.keep(to), call.keep(std::vector<int>(counts.begin(), counts.end())),
                  types_.of_size(element), types_.operation(combine), elements_, call.request()),
              "MPI_Ireduce_scatter");
      });
    std::size_t place = 0;
    for (int p = 0; p < count(); ++p) {
      const std::int64_t here = counts[static_cast<std::size_t>(p)];
      for (std::int64_t at = 0; at < here; at += most)
        perform(run, function, [&](InFlight& call) {
          const std::size_t skipped = static_cast<std::size_t>(at) * element;
          check(
              MPI_Ireduce(call.keep(from) + place + skipped, p == index_ ? call.keep(to) + skipped : nullptr,
                          static_cast<int>(std::min(most, here - at)), types_.of_size(element),
                          types_.operation(combine), p, elements_, call.request()),
              "MPI_Ireduce");
        });
      place += static_cast<std::size_t>(here) * element;
    }
  }

  void send(std::uint64_t run, const char* function, const ArrayBase& from, const ArrayBase& to,
            const std::vector<Parcel>& parcels) override {
    const auto most = static_cast<std::size_t>(largest_transfer);
    perform(run, function, [&](InFlight& call) {
      char* const out = call.keep(from);
      char* const in = call.keep(to);
      for (const auto& [process, comes, place, bytes] : parcels)
        for (std::size_t at = 0; at < bytes; at += most) {
          const int n = static_cast<int>(std::min(most, bytes - at));
          if (comes)
            check(MPI_Irecv(in + place + at, n, MPI_BYTE, process, 0, elements_, call.request()),
                  "MPI_Irecv");
          else
            check(MPI_Isend(out + place + at, n, MPI_BYTE, process, 0, elements_, call.request()),
                  "MPI_Isend");
        }
    });
  }

  void all_to_all(std::uint64_t run, const char* function, const ArrayBase& from, const ArrayBase& to,
                  const std::vector<std::size_t>& sent, const std::vector<std::size_t>& received,
                  std::size_t all) override {
    if (all <= static_cast<std::size_t>(largest_transfer))  // on which all decide alike
      return perform(run, function, [&](InFlight& call) {
        const auto [counts, places] = counts_and_places(call, sent);
        const auto [coming, there] = counts_and_places(call, received);
        check(MPI_Ialltoallv(call.keep(from), counts, places, MPI_BYTE, call.keep(to), coming, there,
                             MPI_BYTE, elements_, call.request()),
              "MPI_Ialltoallv");
      });
    std::vector<Parcel> parcels;
    std::size_t out = 0, in = 0;
    for (int p = 0; p < count(); ++p) {
      parcels.push_back({p, true, in, received[static_cast<std::size_t>(p)]});
      parcels.push_back({p, false, out, sent[static_cast<std::size_t>(p)]});
      in += received[static_cast<std::size_t>(p)], out += sent[static_cast<std::size_t>(p)];
    }
    send(run, function, from, to, parcels);
  }

  void fail(std::uint64_t run, const char* why) noexcept override {
    if (is_forked()) return;
    try {
      const std::lock_guard lock(mutex_);
      if (!left_) tell(run, Kind::failed, why);
    } catch (...) {  // they will see by the time
    }
  }

  // Tells the others that they need not wait for this process any more, and waits until all have said so: no
  // longer than the timeout where they are known to be `near`. Ends a job that is out of step.
  void leave(bool nearby) noexcept {
    try {
      std::unique_lock lock(mutex_);
      if (left_) return;
      left_ = true;
      if (!broken_.empty())
        abort_job(name(index_) + " ends all processes, which are out of step: " + broken_);
      inbox_.send_to_all({run_, ended_, Kind::left, ""});
      const auto deadline = deadline_from_now();
      for (int n = 0;; ++n) {
        inbox_.look();
        const std::string who = those_that_stay();
        if (inbox_.has_sent_all() && who.empty()) return;
        if (nearby && std::chrono::steady_clock::now() > deadline)
          abort_job("distributed::shutdown: waited " + timeout_text() + " for the end of " + who);
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::microseconds(n < 1000 ? 100 : 5000));
        lock.lock();
      }
    } catch (const std::exception& error) {
      abort_job(std::string("distributed::shutdown: ") + error.what());
    }
  }

 private:
  void refuse_if_forked(const char* function) const {
    if (is_forked())
      raise<DeviceError>({function, ": this process was forked from ", name(index_),
                          ", and cannot meet the others in its place"});
  }
  // The mutex, for a function that talks to the others. (In a forked process it is as its holder left it.)
  std::unique_lock<std::mutex> enter(const char* function) {
    refuse_if_forked(function);
    std::unique_lock lock(mutex_);
    if (!broken_.empty())
      raise<DeviceError>({function, ": the processes are out of step since an earlier failure: ", broken_});
    return lock;
  }
  MPI_Comm duplicate(std::unique_lock<std::mutex>& lock) {
    made_.push_back(MPI_COMM_NULL);
    InFlight call;
    check(MPI_Comm_idup(MPI_COMM_WORLD, &made_.back(), call.request()), "MPI_Comm_idup");
    if (!wait(lock, [&] { return call.ended(); })) {
      broken_ = "distributed::initialize: waited " + timeout_text() + " for all processes to come";
      throw DeviceError(broken_);
    }
    check(MPI_Comm_set_errhandler(made_.back(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return made_.back();
  }
  std::string name(int process) const {
    std::string text = "process " + std::to_string(process);
    return hosts_.empty() ? text : text + " (" + hosts_[static_cast<std::size_t>(process)] + ")";
  }

  // Names the processes for which `are` holds.
  template <class Are>
  std::string names(const Are& are) const {
    std::string who;
    for (int p = 0; p < count(); ++p)
      if (p != index_ && are(p)) who += (who.empty() ? "" : ", ") + name(p);
    return who;
  }
  // Tells the others that this process waits no longer, and names those that do not say so too, within a
  // second: those that wait for the same processes do.
  std::string silent_processes(std::unique_lock<std::mutex>& lock, std::uint64_t run) {
    tell(run, Kind::late, "");
    const auto end = std::chrono::steady_clock::now() +
                     std::min<std::chrono::duration<double>>(collective_timeout(), std::chrono::seconds(1));
    while (true) {
      inbox_.look();
      std::string who = names([&](int p) {
        const auto& arrived = inbox_.from(p);
        return std::none_of(arrived.begin(), arrived.end(),
                            [&](const Message& m) { return m.kind != Kind::collective && m.run >= run; });
      });
      if (who.empty() || std::chrono::steady_clock::now() > end) return who;
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      lock.lock();
    }
  }

  // The first message of a process that this run has not read, without those of runs that are over here. (A
  // failure of the run before counts where that one ended well here: the steps of the processes then differ.)
  const Message* first_from(int process, std::uint64_t run) {
    auto& arrived = inbox_.from(process);
    while (!arrived.empty() && arrived.front().run < run &&
           (arrived.front().kind == Kind::collective ||
            (arrived.front().kind == Kind::failed && arrived.front().run != finished_)))
      arrived.pop_front();
    return arrived.empty() ? nullptr : &arrived.front();
  }
  // Empty for one that is none.
  std::string failure(int process, const Message& message) const {
    switch (message.kind) {
      case Kind::collective:
        return "";
      case Kind::failed:
        return name(process) +
               (message.run == finished_ ? " failed in a pmap that had ended well here: " : " failed: ") +
               message.text;
      case Kind::broken:
        return name(process) + " is out of step: " + message.text;
      case Kind::late:
        return name(process) + " has waited too long";
      case Kind::left:
        return name(process) + " has ended, while others wait for it";
    }
    return "";
  }

  // Calls done() until it is true; false where the time is over. Other threads may call this object
  // meanwhile.
  template <class Done>
  bool wait(std::unique_lock<std::mutex>& lock, const Done& done) {
    const auto deadline = deadline_from_now();
    for (long n = 0;; ++n) {
      if (left_) throw DeviceError("distributed: this process is ending");
      inbox_.look();
      if (done()) return true;
      if (n % 16 == 15 && std::chrono::steady_clock::now() > deadline) return false;
      lock.unlock();
      if (n < 2000)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      lock.lock();
    }
  }

  static std::size_t total(const std::vector<std::size_t>& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
  }
  static std::pair<const int*, const int*> counts_and_places(InFlight& call,
                                                             const std::vector<std::size_t>& bytes) {
    std::vector<int> places(bytes.size());
    for (std::size_t p = 1; p < bytes.size(); ++p) places[p] = places[p - 1] + static_cast<int>(bytes[p - 1]);
    return {call.keep(std::vector<int>(bytes.begin(), bytes.end())), call.keep(std::move(places))};
  }

  // One of MPI's collectives: `begin` calls it, with the memory and the requests of `call`.
  template <class Begin>
  void perform(std::uint64_t run, const char* function, const Begin& begin) {
    auto lock = enter(function);
    InFlight call;
    std::string why;
    try {
      begin(call);
      bool others_are_late = false;
      const bool done = wait(lock, [&] {
        if (call.ended()) return true;
        for (int p = 0; p < count() && why.empty() && !others_are_late; ++p)
          if (const Message* const first = p == index_ ? nullptr : first_from(p, run))
            if (first->ended <= ended_) {
              others_are_late = first->kind == Kind::late;
              if (!others_are_late) why = failure(p, *first);
            }
        return others_are_late || !why.empty();
      });
      if (!done || others_are_late) {
        const std::string silent = silent_processes(lock, run);
        why = "MPI has not finished after " + timeout_text() +
              (silent.empty() ? "" : ": there is no answer from " + silent);
      }
    } catch (const std::exception& error) {
      why = error.what();
    }
    if (!why.empty()) give_up(run, std::string(function) + ": " + why);
    ++ended_;
  }

  [[noreturn]] void give_up(std::uint64_t run, const std::string& why) {
    broken_ = why;
    failed_ = false;
    if (!left_) tell(run, Kind::broken, why);
    throw DeviceError(why);
  }
  // Once a run.
  void tell(std::uint64_t run, Kind kind, const std::string& why) {
    if (run != run_ || failed_) return;
    failed_ = true;
    inbox_.send_to_all({run, ended_, kind, why});
    inbox_.look();
  }
  // The processes that have not left.
  std::string those_that_stay() {
    std::string who;
    for (int p = 0; p < count(); ++p) {
      if (p == index_) continue;
      auto& arrived = inbox_.from(p);
      while (!arrived.empty() && arrived.front().kind != Kind::left) arrived.pop_front();
      if (arrived.empty()) who += (who.empty() ? "" : ", ") + name(p);
    }
    return who;
  }

  std::mutex mutex_;  // MPI is called by one thread at a time
  const std::int64_t pid_ = nax::detail::os::process_id();
  const int index_;
  MPI_Comm messages_ = MPI_COMM_NULL, elements_ = MPI_COMM_NULL;
  std::deque<MPI_Comm> made_;  // where MPI puts them
  Inbox inbox_;
  std::vector<std::string> hosts_;
  std::uint64_t run_ = 0, ended_ = 0;
  std::uint64_t finished_ = 0;  // the last run that ended without a failure here
  bool failed_ = false;         // the others have been told so, of this run
  bool left_ = false;
  std::string broken_;
  ElementTypes types_;
};

}  // namespace detail::mpi
NAX_END
