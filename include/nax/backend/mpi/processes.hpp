#pragma once

#include <map>
#include <mutex>
#include <thread>

#include "nax/backend/mpi/inbox.hpp"
#include "nax/collective/processes.hpp"
#include "nax/collective/timeout.hpp"

// Processes that MPI brings together.
//
// Nothing here waits in MPI itself: every wait looks whether a process has sent that it failed, and at the
// clock. Before elements travel all processes have agreed on the collective, so that one that fails in its
// own program is heard of while MPI's collectives have not begun, and the next run is as good as the first.
// What goes wrong after that leaves MPI's collectives out of step: then all later calls refuse.
namespace nax::inline NAX_ABI::detail::mpi {

class MpiProcesses final : public Processes {
 public:
  // Of MPI_COMM_WORLD, which is initialised.
  MpiProcesses() : messages_(duplicate()), elements_(duplicate()), inbox_(messages_) {
    MPI_Comm_rank(elements_, &index_);
    char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
    int length = 0;
    MPI_Get_processor_name(name, &length);
    hosts_ = exchange(begin_run(), "distributed::initialize", name);
  }
  int index() const override { return index_; }
  int count() const override { return inbox_.count(); }

  std::uint64_t begin_run() override {
    const std::lock_guard lock(mutex_);
    failed_ = false;
    return ++run_;
  }

  std::vector<std::string> exchange(std::uint64_t run, const char* function,
                                    const std::string& mine) override {
    const std::lock_guard lock(mutex_);
    refuse_if_broken(function);
    inbox_.send_to_all({run, Kind::collective, mine});
    std::vector<std::string> all(static_cast<std::size_t>(count()));
    std::vector<bool> here(all.size());
    all[static_cast<std::size_t>(index_)] = mine;
    here[static_cast<std::size_t>(index_)] = true;
    std::size_t missing = all.size() - 1;
    const bool done = wait([&] {
      for (int p = 0; p < count(); ++p) {
        if (here[static_cast<std::size_t>(p)]) continue;
        drop_old(p, run);
        auto& arrived = inbox_.from(p);
        if (arrived.empty()) continue;
        const Message first = arrived.front();
        refuse_failed(function, p, run, first);
        if (first.run > run)
          raise<DeviceError>(
              {function, ": ", name(p), " has gone on, while others wait for it in this collective"});
        arrived.pop_front();
        all[static_cast<std::size_t>(p)] = first.text;
        here[static_cast<std::size_t>(p)] = true;
        --missing;
      }
      return missing == 0;
    });
    if (!done) {
      std::string who;
      for (int p = 0; p < count(); ++p)
        if (!here[static_cast<std::size_t>(p)]) who += (who.empty() ? "" : ", ") + name(p);
      give_up(run, std::string(function) + ": waited " + timeout_text() + " for " + who);
    }
    return all;
  }

  void all_reduce(std::uint64_t run, const char* function, void* data, std::int64_t count,
                  std::size_t element,
                  void (*combine)(const void*, void*, std::int64_t, std::int64_t)) override {
    const std::lock_guard lock(mutex_);
    refuse_if_broken(function);
    combining() = combine;
    constexpr std::int64_t most = std::int64_t{1} << 28;
    for (std::int64_t at = 0; at < count; at += most) {
      MPI_Request request;
      begin(run,
            MPI_Iallreduce(MPI_IN_PLACE, static_cast<char*>(data) + at * static_cast<std::int64_t>(element),
                           static_cast<int>(std::min(most, count - at)), type_of(element), operation(),
                           elements_, &request),
            "MPI_Iallreduce");
      finish(run, function, request);
    }
  }

  void all_gather(std::uint64_t run, const char* function, char* all,
                  const std::vector<std::size_t>& bytes) override {
    const std::lock_guard lock(mutex_);
    refuse_if_broken(function);
    std::size_t total = 0;
    for (const std::size_t one : bytes) total += one;
    MPI_Request request;
    if (total <= std::size_t{1} << 30) {
      std::vector<int> counts, places;
      for (const std::size_t one : bytes) {
        places.push_back(counts.empty() ? 0 : places.back() + counts.back());
        counts.push_back(static_cast<int>(one));
      }
      begin(run,
            MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts.data(), places.data(), MPI_BYTE,
                            elements_, &request),
            "MPI_Iallgatherv");
      return finish(run, function, request);
    }
    for (int p = 0; p < count(); ++p) {  // MPI counts in int
      constexpr std::size_t most = std::size_t{1} << 30;
      const std::size_t here = bytes[static_cast<std::size_t>(p)];
      for (std::size_t at = 0; at < here; at += most) {
        begin(run,
              MPI_Ibcast(all + at, static_cast<int>(std::min(most, here - at)), MPI_BYTE, p, elements_,
                         &request),
              "MPI_Ibcast");
        finish(run, function, request);
      }
      all += here;
    }
  }

  void fail(std::uint64_t run, const char* why) noexcept override {
    try {
      const std::lock_guard lock(mutex_);
      tell_failed(run, why);
    } catch (...) {  // they will see by the time
    }
  }

  // Tells the others that they need not wait for this process any more, and lets the messages go out.
  void leave() noexcept {
    try {
      const std::lock_guard lock(mutex_);
      inbox_.send_to_all({run_, Kind::left, ""});
      for (int n = 0; n < 1000 && !inbox_.has_sent_all(); ++n) {
        inbox_.look();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    } catch (...) {
    }
  }

 private:
  static MPI_Comm duplicate() {
    MPI_Comm comm;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return comm;
  }
  std::string name(int process) const {
    std::string text = "process " + std::to_string(process);
    return hosts_.empty() ? text : text + " (" + hosts_[static_cast<std::size_t>(process)] + ")";
  }

  // Messages of runs that are over here.
  void drop_old(int process, std::uint64_t run) {
    auto& arrived = inbox_.from(process);
    while (!arrived.empty() && arrived.front().run < run && arrived.front().kind != Kind::left)
      arrived.pop_front();
  }
  void refuse_failed(const char* function, int process, std::uint64_t run, const Message& message) const {
    if (message.kind == Kind::left)
      raise<DeviceError>({function, ": ", name(process), " has ended, while others wait for it"});
    if (message.kind == Kind::failed && message.run == run)
      raise<DeviceError>({function, ": ", name(process), " failed: ", message.text});
  }
  // Calls done() until it is true; false where the time is over.
  template <class Done>
  bool wait(const Done& done) {
    const auto deadline = deadline_from_now();
    for (long n = 0;; ++n) {
      inbox_.look();
      if (done()) return true;
      if (n % 16 == 15 && std::chrono::steady_clock::now() > deadline) return false;
      if (n < 2000)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  void begin(std::uint64_t run, int code, const char* call) {
    try {
      check(code, call);
    } catch (const DeviceError& error) {
      give_up(run, error.what());
    }
  }
  void finish(std::uint64_t run, const char* function, MPI_Request& request) {
    std::string why;
    const bool done = wait([&] {
      int there = 0;
      const int code = MPI_Test(&request, &there, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) begin(run, code, "MPI_Test");
      if (there) return true;
      for (int p = 0; p < count(); ++p) {
        if (p == index_) continue;
        drop_old(p, run);
        // What has come after the agreement: this run's messages were taken from there.
        if (!inbox_.from(p).empty()) try {
            refuse_failed(function, p, run, inbox_.from(p).front());
          } catch (const DeviceError& error) {
            why = error.what();
          }
      }
      return !why.empty();
    });
    if (!why.empty()) give_up(run, why);
    if (!done) give_up(run, std::string(function) + ": MPI has not finished after " + timeout_text());
  }
  [[noreturn]] void give_up(std::uint64_t run, const std::string& why) {
    broken_ = why;
    tell_failed(run, why);
    throw DeviceError(why);
  }
  void tell_failed(std::uint64_t run, const std::string& why) {
    if (run != run_ || failed_) return;
    failed_ = true;
    inbox_.send_to_all({run, Kind::failed, why.substr(0, 2000)});
    inbox_.look();
  }
  void refuse_if_broken(const char* function) const {
    if (!broken_.empty())
      raise<DeviceError>({function, ": the processes are out of step since an earlier failure: ", broken_});
  }

  // Elements are bytes to MPI, and combined by nax's own functions, which all types have.
  MPI_Datatype type_of(std::size_t element) {
    auto [at, fresh] = types_.emplace(element, MPI_DATATYPE_NULL);
    if (fresh) {
      check(MPI_Type_contiguous(static_cast<int>(element), MPI_BYTE, &at->second), "MPI_Type_contiguous");
      check(MPI_Type_commit(&at->second), "MPI_Type_commit");
    }
    return at->second;
  }
  using Combining = void (*)(const void*, void*, std::int64_t, std::int64_t);
  static Combining& combining() {
    static Combining now = nullptr;
    return now;
  }
  static void combine_run(void* from, void* to, int* count, MPI_Datatype*) {
    combining()(from, to, 1, *count);
  }
  MPI_Op operation() {
    if (operation_ == MPI_OP_NULL) check(MPI_Op_create(combine_run, 1, &operation_), "MPI_Op_create");
    return operation_;
  }

  std::mutex mutex_;  // MPI is called by one thread at a time
  MPI_Comm messages_, elements_;
  Inbox inbox_;
  int index_ = 0;
  std::vector<std::string> hosts_;
  std::uint64_t run_ = 0;
  bool failed_ = false;  // the others have been told so, of this run
  std::string broken_;
  std::map<std::size_t, MPI_Datatype> types_;
  MPI_Op operation_ = MPI_OP_NULL;
};

}  // namespace nax::inline NAX_ABI::detail::mpi
