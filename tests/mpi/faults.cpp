// One of the processes that faults.sh starts: faults FAULT PLACE RANK STEP SEED DEVICES END. Process RANK
// meets the fault at a step of a program of collectives; all check what they get, and that no memory changes
// afterwards.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <nax/nax.hpp>
#include <string>
#include <thread>

namespace {

using namespace nax;
using A = Array<float>;

constexpr int steps = 12;
std::string fault, spot;
int faulty = 0, step_of_fault = 0, now = 0, wrong = 0;

void expect(bool good, const char* what) {
  if (good) return;
  ++wrong;
  std::fprintf(stderr, "process %d, step %d: WRONG %s\n", distributed::process_index(), now, what);
}
bool is_all(const A& x, float value) { return x.size() > 0 && all(x == value).item(); }

// A child, in a process that other threads may be at work in: it only sleeps, and lets its parent go on.
void continue_later() {
  const pid_t parent = getpid();
  if (fork() != 0) return;
  sleep(5);  // longer than the others wait
  kill(parent, SIGCONT);
  _exit(0);
}
void strike() {
  if (fault == "kill") kill(getpid(), SIGKILL);
  if (fault == "term") kill(getpid(), SIGTERM);
  if (fault == "pause") continue_later();
  if (fault == "stop" || fault == "pause") kill(getpid(), SIGSTOP);
  if (fault == "exit") std::exit(3);
  if (fault == "throw") throw std::runtime_error("the fault");
  if (fault == "fork") {
    const pid_t child = fork();
    if (child == 0) std::exit(0);  // as if it were the process itself
    waitpid(child, nullptr, 0);
  }
}
void meet_fault(const char* here) {
  if (spot == here && now == step_of_fault && distributed::process_index() == faulty) strike();
}

// One collective over all devices, of which device d gives d + 1.
void step(int kind, std::int64_t width) {
  const int n = device_count(), local = local_device_count();
  int first = 0;
  for (const Device device : devices())
    first += distributed::process_index(device) < distributed::process_index();
  const A x = (arange<float>(local) + static_cast<float>(first + 1)).reshape({local, 1, 1}) *
              ones<float>({local, n, width});
  std::vector<std::pair<int, int>> cycle;
  for (int i = 0; i < n; ++i) cycle.emplace_back(i, (i + 1) % n);
  const float total = static_cast<float>(n * (n + 1) / 2);
  const A y = pmap(
      [&](const A& x) -> A {
        if (axis_index("i").item() == first + local - 1) meet_fault("inside");
        if (kind == 0) return psum(x, "i");
        if (kind == 1) return pmax(x, "i");
        if (kind == 2) return all_gather(x, "i");
        if (kind == 3) return psum_scatter(x, "i");
        if (kind == 4) return all_to_all(x, "i", 0, 0);
        return ppermute(x, "i", cycle);
      },
      {.axis_name = "i"})(x);
  for (int d = 0; d < local; ++d) {
    const A mine = y(d);
    if (kind == 0 || kind == 3) expect(is_all(mine, total), "sum");
    if (kind == 1) expect(is_all(mine, static_cast<float>(n)), "maximum");
    if (kind == 2 || kind == 4)
      for (int s = 0; s < n; ++s) expect(is_all(mine(s), static_cast<float>(s + 1)), "part");
    if (kind == 5) expect(is_all(mine, static_cast<float>((first + d + n - 1) % n + 1)), "permutation");
  }
}

// After an error: memory that is taken now belongs to no collective.
void watch_memory(std::chrono::milliseconds time) {
  std::vector<A> arrays;
  for (int i = 0; i < 40; ++i) arrays.push_back(full({1 + i % 4, 1000 * (1 + i % 8)}, 7.f));
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {  // MPI moves on in its calls
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  for (const A& one : arrays) expect(is_all(one, 7.f), "memory");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return 64;
  fault = argv[1], spot = argv[2], faulty = std::atoi(argv[3]), step_of_fault = std::atoi(argv[4]);
  const unsigned seed = static_cast<unsigned>(std::atoi(argv[5]));
  const bool shuts_down = argv[7] == std::string("shutdown");
  set_cpu_device_count(std::atoi(argv[6]));
  try {
    distributed::initialize();
    if (spot == "anywhere" && distributed::process_index() == faulty)
      std::thread([seed] {
        std::this_thread::sleep_for(std::chrono::microseconds(seed * 7919 % 150000));
        strike();
      }).detach();
    for (unsigned k = seed; now < steps; ++now, ++k) {
      meet_fault("between");
      try {
        step(static_cast<int>(k % 6), 1 + (k * 7919) % 5000);
      } catch (const DeviceError& error) {
        if (fault != "throw" || std::string(error.what()).find("the fault") == std::string::npos) throw;
      }
    }
    if (shuts_down) distributed::shutdown();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "process %d, step %d: ERROR %s\n", distributed::process_index(), now, error.what());
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized) watch_memory(std::chrono::milliseconds(fault == "pause" ? 4000 : 200));
    return wrong ? 1 : 0;  // as a program that goes on as if nothing were wrong
  }
  if (!wrong) std::fprintf(stderr, "all right\n");
  return wrong ? 1 : 0;
}
