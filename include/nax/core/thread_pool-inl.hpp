#pragma once

// The pool of threads that share out one operation.
//
// A parallel_for claims idle workers (up to its thread's limit) and works along. Each thread begins
// with a range of chunks of its own, then takes chunks from the ranges of others. When the chunks are gone
// the caller takes back each worker that has not begun yet (it was asleep, the machine is busy) and waits
// only for those that are inside a chunk: a worker that is slow to wake never stalls the caller. Each
// participant gets the same range every time, so its part of an array is in its core's cache for the next
// operation.
//
// A worker's state is one 32-bit word: (epoch << 2) | phase. The phases go idle -> reserved -> assigned ->
// running -> idle, the epoch grows with each claim, so a caller recognises its own claim. Callers move idle
// -> reserved (claim), reserved -> assigned (job written) and assigned -> idle (taken back); the worker moves
// assigned -> running -> idle. Both sides wait on that word, first spinning, then asleep. The pool is never
// destroyed and its threads are detached, so that static destructors may still use it.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "nax/core/at_fork.hpp"
#include "nax/core/error.hpp"
#include "nax/core/further_kernels.hpp"
#include "nax/core/thread_pool.hpp"

NAX_BEGIN
namespace detail::threads {

NAX_ENGINE void relax() noexcept;

// Waits awake until `done()`, for a while: at first on the spot, then letting others have the core. Whether
// it is done.
template <class Done>
bool wait_awake(const Done& done) noexcept {
  constexpr auto on_the_spot = std::chrono::microseconds(20), awake = std::chrono::microseconds(200);
  const auto start = std::chrono::steady_clock::now();
  for (auto waited = start - start; waited < awake; waited = std::chrono::steady_clock::now() - start) {
    for (int turn = 0; turn < 16; ++turn) {
      if (done()) return true;
      relax();
    }
    if (waited >= on_the_spot) std::this_thread::yield();
  }
  return false;
}

// Waits until the word differs from `value`, in the end asleep.
NAX_ENGINE std::uint32_t wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;

// The chunks of one parallel_for.
class Job {
 public:
  // For up to `threads` participants.
  Job(FunctionRef<void(std::int64_t, std::int64_t)> f, std::int64_t count, std::int64_t chunk, int threads)
      : call_(f), count_(count), chunk_(chunk), ranges_(std::min(threads, most_ranges)) {
    const std::int64_t chunks = count / chunk + (count % chunk != 0);
    for (int r = 0; r < ranges_; ++r) {
      next_[r].store(chunks * r / ranges_, std::memory_order_relaxed);
      end_[r] = chunks * (r + 1) / ranges_;
    }
  }

  // Participant `who` works on the range of that number, then on the remaining chunks of the others.
  void work(int who) noexcept;

  // Precondition: no thread works on the job any more.
  void rethrow() const {
    if (failed()) std::rethrow_exception(error_);
  }

 private:
  static constexpr int most_ranges = 64;  // further participants begin by helping

  bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  void call(std::int64_t begin) noexcept {
    try {
      call_(begin, std::min(begin + chunk_, count_));
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }

  const FunctionRef<void(std::int64_t begin, std::int64_t end)> call_;
  const std::int64_t count_, chunk_;
  const int ranges_;
  std::int64_t end_[most_ranges];                // a range's, in chunks
  std::atomic<std::int64_t> next_[most_ranges];  // the first chunk not taken
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;  // written by the thread that sets `failed_`
};

using nax_shared::inside_parallel;
inline constinit thread_local int first_worker =
    0;  // where this thread looks first: it meets warm caches again

class Worker {
 public:
  // Claims an idle worker for the job, as participant `who`; the result is what release() asks for, 0 if the
  // worker is busy.
  std::uint32_t claim(Job& job, int who) noexcept;

  // Takes the worker back if it has not begun, otherwise waits until it is done.
  void release(std::uint32_t claimed) noexcept {
    std::uint32_t now = claimed;
    if (state_.compare_exchange_strong(now, (claimed & ~3u) | idle, std::memory_order_acquire)) return;
    const std::uint32_t busy = (claimed & ~3u) | running;
    while (now == busy) now = wait_while(state_, busy);
  }

  void run() noexcept;

 private:
  static constexpr std::uint32_t idle = 0, reserved = 1, assigned = 2, running = 3;
  static std::uint32_t phase(std::uint32_t state) noexcept { return state & 3; }

  alignas(64) std::atomic<std::uint32_t> state_{idle};
  Job* job_ = nullptr;
  int who_ = 0;
};

class Pool {
 public:
  static constexpr int most = 512;

  static Pool& instance() {
    static Pool* const pool = make();
    return *pool;
  }

  int threads() const noexcept { return nax_shared::thread_count.load(std::memory_order_relaxed); }
  void set_threads(int count) {
    if (count < 1 || count > most)
      raise<ValueError>({"set_num_threads: between 1 and ", most, " threads are possible, not ", count});
    nax_shared::thread_count.store(count, std::memory_order_relaxed);
  }

  void run(Job& job, int helpers);
  // As nax_shared::ShareOut.
  static void share_out(void* object, nax_shared::Part* part, std::int64_t n, std::int64_t chunk,
                        int threads);

 private:
  // A child of fork() has no workers: it starts its own.
  static Pool* make();
  Pool();

  static int cores() {
    const int usable = os::usable_cores();
    return usable > 0 ? usable : static_cast<int>(std::thread::hardware_concurrency());
  }

  // Workers that exist, after starting more if this call may use more than there are idle ones. Several
  // callers at once are served from threads() - 1 workers in all: more would only take the cores from each
  // other.
  int grow(int wanted);

  std::atomic<int> started_{0};
  ForkMutex mutex_;
  std::atomic<Worker*> workers_[most] = {};
};

NAX_ENGINE void relax() noexcept {
#if defined(NAX_MSVC) && defined(_M_X64)
  _mm_pause();
#elif defined(NAX_MSVC)
  __yield();
#elif defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

NAX_ENGINE std::uint32_t wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  if (!wait_awake([&] { return word.load(std::memory_order_acquire) != value; }))
    word.wait(value, std::memory_order_acquire);
  return word.load(std::memory_order_acquire);
}

NAX_ENGINE void Job::work(int who) noexcept {
  for (int turn = 0; turn < ranges_; ++turn) {
    const int r = (who + turn) % ranges_;
    while (next_[r].load(std::memory_order_relaxed) < end_[r] && !failed()) {
      const std::int64_t i = next_[r].fetch_add(1, std::memory_order_relaxed);
      if (i < end_[r]) call(i * chunk_);
    }
  }
}

NAX_ENGINE std::uint32_t Worker::claim(Job& job, int who) noexcept {
  std::uint32_t now = state_.load(std::memory_order_relaxed);
  if (phase(now) != idle) return 0;
  const std::uint32_t epoch = now + 4;
  if (!state_.compare_exchange_strong(now, epoch | reserved, std::memory_order_acquire)) return 0;
  job_ = &job;
  who_ = who;
  state_.store(epoch | assigned, std::memory_order_release);
  state_.notify_all();
  return epoch | assigned;
}

NAX_ENGINE void Worker::run() noexcept {
  inside_parallel = true;
  std::uint32_t now = state_.load(std::memory_order_acquire);
  for (;;) {
    while (phase(now) != assigned) now = wait_while(state_, now);
    if (!state_.compare_exchange_strong(now, (now & ~3u) | running, std::memory_order_acquire)) continue;
    job_->work(who_);
    now = (now & ~3u) | idle;
    state_.store(now, std::memory_order_release);
    state_.notify_all();
  }
}

NAX_ENGINE void Pool::run(Job& job, int helpers) {
  struct Claim {
    Worker* worker;
    std::uint32_t state;
  };
  constexpr int at_once = 64;
  Claim few[at_once];
  std::unique_ptr<Claim[]> many;
  Claim* claims = few;
  if (helpers > at_once) claims = (many = std::make_unique<Claim[]>(static_cast<std::size_t>(helpers))).get();

  const int there = grow(helpers);
  int claimed = 0;
  for (int step = 0, at = first_worker % std::max(there, 1); step < there && claimed < helpers; ++step) {
    Worker* const worker = workers_[at].load(std::memory_order_acquire);
    if (const auto state = worker->claim(job, claimed + 1)) {
      if (claimed == 0) first_worker = at;
      claims[claimed++] = {worker, state};
    }
    at = at + 1 == there ? 0 : at + 1;
  }
  inside_parallel = true;
  job.work(0);
  inside_parallel = false;
  for (int i = 0; i < claimed; ++i) claims[i].worker->release(claims[i].state);
  job.rethrow();
}

NAX_ENGINE void Pool::share_out(void* object, nax_shared::Part* part, std::int64_t n, std::int64_t chunk,
                                int threads) {
  const auto f = [=](std::int64_t begin, std::int64_t end) { part(object, begin, end); };
  Job job(f, n, chunk, threads);
  instance().run(job, threads - 1);
}

NAX_ENGINE void share_out(FunctionRef<void(std::int64_t, std::int64_t)> f, std::int64_t n, std::int64_t chunk,
                          int threads) {
  nax_shared::ShareOut* shared = nax_shared::share_out.load(std::memory_order_acquire);
  if (!shared && nax_shared::share_out.compare_exchange_strong(shared, Pool::share_out))
    shared = Pool::share_out;
  const auto part = [](void* object, std::int64_t begin, std::int64_t end) {
    (*static_cast<FunctionRef<void(std::int64_t, std::int64_t)>*>(object))(begin, end);
  };
  shared(&f, part, n, chunk, threads);
}

NAX_ENGINE auto Pool::make() -> Pool* {
  auto* const pool = new Pool;
  at_fork(nullptr, nullptr, [] { instance().started_.store(0, std::memory_order_relaxed); });
  return pool;
}

// Once, where a program lacks the instructions that would make it several times faster.
NAX_ENGINE void warn_of_instructions() {
#if defined(__x86_64__) && !defined(__AVX2__) && !defined(__CUDACC__) && !defined(NAX_GIVES_KERNELS)
  const char* const text = std::getenv("NAX_WARN_INSTRUCTIONS");
  if (!nax_shared::further_host.allocate && __builtin_cpu_supports("avx2") &&
      !(text && std::string(text) == "0"))
    std::fputs(
        "nax: this program is compiled for SSE2 alone, and the processor has AVX2: compile with "
        "-march=native "
        "(NAX_WARN_INSTRUCTIONS=0 silences this)\n",
        stderr);
#endif
}

NAX_ENGINE Pool::Pool() {
  warn_of_instructions();
#if defined(NAX_GIVES_KERNELS)
  nax_shared::further_host.decide_threads();
#endif
  if (threads() > 0) return;  // decided by a namespace of other instructions
  int count = 0;
  if (const char* text = std::getenv("NAX_NUM_THREADS"); text && *text) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*end != '\0' || value < 1 || value > most)
      raise<ValueError>({"num_threads: NAX_NUM_THREADS must be between 1 and ", most, ", not '", text, "'"});
    count = static_cast<int>(value);
  } else {
    count = std::clamp(cores(), 1, most);
  }
  int undecided = 0;
  nax_shared::thread_count.compare_exchange_strong(undecided, count);
}

NAX_ENGINE int Pool::grow(int wanted) {
  const int goal = std::max(wanted, threads() - 1);
  int there = started_.load(std::memory_order_acquire);
  if (there >= goal) return there;
  const std::lock_guard lock(mutex_);
  for (there = started_.load(std::memory_order_relaxed); there < goal; ++there) {
    auto worker = std::make_unique<Worker>();
    try {
      std::thread([w = worker.get()] { w->run(); }).detach();
    } catch (const std::system_error&) {  // the system has no more threads: work with those that are there
      return there;
    }
    workers_[there].store(worker.release(), std::memory_order_relaxed);
    started_.store(there + 1, std::memory_order_release);
  }
  return there;
}

}  // namespace detail::threads

NAX_ENGINE int num_threads() { return detail::threads::Pool::instance().threads(); }
NAX_ENGINE void set_num_threads(int count) { detail::threads::Pool::instance().set_threads(count); }

NAX_ENGINE ThreadLimit::ThreadLimit(int count) : before_(nax_shared::thread_limit) {
  if (count < 1) raise<ValueError>({"ThreadLimit: at least one thread is needed, not ", count});
  nax_shared::thread_limit = std::min(before_, count);
}
NAX_ENGINE int available_threads() {
  return detail::threads::inside_parallel ? 1 : std::min(num_threads(), nax_shared::thread_limit);
}

NAX_ENGINE void parallel_for(std::int64_t n, std::int64_t grain,
                             FunctionRef<void(std::int64_t begin, std::int64_t end)> f) {
  if (n <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  int threads = 1;
  if (n > grain) threads = available_threads();
  const std::int64_t grains = n / grain + (n % grain != 0);
  threads = static_cast<int>(std::min<std::int64_t>(threads, grains));
  if (threads <= 1) return f(0, n);
  constexpr std::int64_t parts_per_thread = 4;  // evens out threads of different speed
  const std::int64_t parts = threads * parts_per_thread;
  detail::threads::share_out(f, n, (grains + parts - 1) / parts * grain, threads);
}

NAX_END
