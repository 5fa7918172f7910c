// Compiled into every program that links nax::mpi: processes, and pmap over them.
#include "nax/backend/mpi/communicator.hpp"
#include "nax/backend/mpi/processes.hpp"
#include "nax/distributed/distributed.hpp"

namespace nax::inline NAX_ABI::detail::mpi {
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
      // A program that nobody launched is one process, and need not wait for MPI to find that out.
      if (launched_processes().count == 1 && !std::getenv("PMIX_RANK") && !std::getenv("PMI_RANK"))
        return nullptr;
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
      finalizes_ = true;
    } else {
      MPI_Query_thread(&level);
    }
    if (level < MPI_THREAD_SERIALIZED)
      raise<DeviceError>(
          {"distributed::initialize: MPI must be initialised with MPI_THREAD_SERIALIZED or more"});
    if (!at_exit_) at_exit_ = (std::atexit([] { launcher().end(); }), true);
    int count = 1;
    check(MPI_Comm_size(MPI_COMM_WORLD, &count), "MPI_Comm_size");
    if (count == 1) return nullptr;
    processes_ = new MpiProcesses;  // threads may use it until the process ends
    share_devices();
    return processes_;
  }
  void stop() override { end(); }

  std::unique_ptr<Communicator> connect(const std::vector<Device>& devices, const std::string& axis_name,
                                        ThreadCommunicator& threads) override {
    if (!processes_) return nullptr;
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
    const auto all = processes_->exchange(processes_->begin_run(), "distributed::initialize",
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
  void end() {
    if (ended_) return;
    ended_ = true;
    if (processes_) processes_->leave();
    processes_ = nullptr;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalizes_ && !finalized) MPI_Finalize();
  }

  MpiProcesses* processes_ = nullptr;
  bool finalizes_ = false, at_exit_ = false, ended_ = false;
};

const bool provided =
    (process_launcher = &Launcher::launcher(), process_provider = &Launcher::launcher(), true);

}  // namespace
}  // namespace nax::inline NAX_ABI::detail::mpi
