// Compiled into every program that links nax::mpi: processes, and pmap over them.
#include "nax/devices/mpi/communicator.hpp"
#include "nax/devices/mpi/processes.hpp"
#include "nax/parallel/distributed.hpp"

NAX_BEGIN
namespace detail::mpi {
namespace {

class Launcher final : public ProcessLauncher, public ProcessCommunicatorProvider {
 public:
  Processes* start() override {
    if (ended_)
      raise<DeviceError>(
          {"distributed::initialize: MPI cannot be started again after distributed::shutdown"});
    int initialized = 0;
    MPI_Initialized(&initialized);
    int level = MPI_THREAD_SINGLE;
    if (!initialized) {
      // A program started without a launcher is one process, and need not wait for MPI to find that out.
      if (launched_processes().count == 1 && !std::getenv("PMIX_RANK") && !std::getenv("PMI_RANK"))
        return nullptr;
      const Watchdog watchdog(collective_timeout(), "distributed::initialize: waited " + timeout_text() +
                                                        " in MPI_Init: a process has not come");
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
      finalizes_ = true;
    } else {
      MPI_Query_thread(&level);
    }
    if (level < MPI_THREAD_SERIALIZED)
      raise<DeviceError>(
          {"distributed::initialize: MPI must be initialised with MPI_THREAD_SERIALIZED or more"});
    int index = 0, count = 1;
    check(MPI_Comm_size(MPI_COMM_WORLD, &count), "MPI_Comm_size");
    check(MPI_Comm_rank(MPI_COMM_WORLD, &index), "MPI_Comm_rank");
    if (count > 1) {
      if (processes_) raise<DeviceError>({"distributed::initialize: has failed before"});
      processes_ = new MpiProcesses(index, count);  // threads may use it until the process ends
    }
    end_in_time();
    if (count == 1) return nullptr;
    processes_->connect();
    share_devices();
    return processes_;
  }
  // All are here: they have come through a barrier.
  void stop() override { end(true); }

  std::unique_ptr<Communicator> connect(const std::vector<Device>& devices, const std::string& axis_name,
                                        ThreadCommunicator& threads) override {
    if (!processes_ || ended_) return nullptr;
    std::vector<int> counts;
    const Span span = begin_span(*processes_, devices, axis_name, counts);
    if (nccl_provider)
      if (auto cards = nccl_provider->connect(devices, threads, &span)) return cards;
    return std::make_unique<ProcessCommunicator>(threads, span, std::move(counts));
  }

  static Launcher& launcher() {
    static Launcher* const one = new Launcher;
    return *one;
  }

 private:
  // How many devices of each platform there are, process by process.
  void share_devices() {
    const int mine[platform_count] = {device_count(Platform::cpu), device_count(Platform::cuda)};
    const auto all =
        processes_->exchange(processes_->begin_run("distributed::initialize"), "distributed::initialize",
                             std::to_string(mine[0]) + " " + std::to_string(mine[1]));
    auto* const table = new ProcessTable;
    table->index = processes_->index();
    for (const std::string& text : all) {
      char* end = nullptr;
      table->devices[0].push_back(static_cast<int>(std::strtol(text.c_str(), &end, 10)));
      table->devices[1].push_back(static_cast<int>(std::strtol(end, nullptr, 10)));
    }
    process_table = table;
  }
  // Says farewell when main ends, or before, when a program that initialises MPI itself calls MPI_Finalize:
  // that one destroys the attributes of MPI_COMM_SELF first.
  void end_in_time() {
    if (ends_in_time_) return;
    ends_in_time_ = true;
    pid_ = nax::detail::os::process_id();
    std::atexit([] { launcher().end(false); });
    int key = 0;
    check(MPI_Comm_create_keyval(
              MPI_COMM_NULL_COPY_FN,
              [](MPI_Comm, int, void*, void*) -> int {
                if (launcher().processes_) launcher().processes_->leave(false);
                return MPI_SUCCESS;
              },
              &key, nullptr),
          "MPI_Comm_create_keyval");
    check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  }
  // A process that was forked from this one has nothing to end.
  void end(bool nearby) {
    if (ended_ || nax::detail::os::process_id() != pid_) return;
    ended_ = true;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized) return;
    if (processes_) processes_->leave(nearby);
    if (!finalizes_) return;
    const Watchdog watchdog(time_to_finalize(),
                            "distributed::shutdown: MPI_Finalize waits for a process that has not come");
    MPI_Finalize();
  }
  static std::chrono::duration<double> time_to_finalize() {
    try {
      return collective_timeout();
    } catch (const ValueError&) {
      return std::chrono::seconds(300);
    }
  }

  MpiProcesses* processes_ = nullptr;
  std::int64_t pid_ = 0;  // of the process that has joined
  bool finalizes_ = false, ends_in_time_ = false, ended_ = false;
};

const bool provided =
    (process_launcher = &Launcher::launcher(), process_provider = &Launcher::launcher(), true);

}  // namespace
}  // namespace detail::mpi
NAX_END
