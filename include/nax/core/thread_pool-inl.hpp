#pragma once

#include <cstdio>
#include <string>

#include "nax/core/further_kernels.hpp"
#include "nax/core/thread_pool.hpp"

NAX_BEGIN
namespace detail::threads {

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
NAX_END
