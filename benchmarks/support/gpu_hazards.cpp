// gpu_hazards NAME: one use of a GPU that may break CUDA's rules, in a process of its own, compared with the
// CPU's result. Without a name it lists them. Status 0 where the results agree. `cards` counts the cards.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <future>
#include <nax/nax.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace nax;

namespace {

Device gpu() { return devices("cuda")[0]; }
Array<float> normal(std::int64_t key, const Shape& shape) {
  return random::normal(random::key(key), shape);  // on the CPU: no default device is set
}
template <class T>
Array<T> there(const Array<T>& x) {
  return device_put(x, gpu());
}

bool agree(const Array<float>& on_gpu, const Array<float>& on_cpu, double tolerance) {
  const std::vector<float> got = on_gpu.to_vector(), want = on_cpu.to_vector();
  double scale = 0, worst = 0;
  for (const float w : want) scale = std::max(scale, std::abs(static_cast<double>(w)));
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double difference = std::abs(static_cast<double>(got[i]) - want[i]);
    if (!(difference <= tolerance * scale))
      worst = std::max(worst, std::isnan(difference) ? HUGE_VAL : difference);
  }
  if (got.size() != want.size() || worst > 0)
    std::fprintf(stderr, "gpu_hazards: differs from the CPU by %g, of values up to %g\n", worst, scale);
  return got.size() == want.size() && worst == 0;
}

// f under jit, three calls, the first of which is the process' first use of the GPU's library.
template <class F>
bool by_jit(const F& f, const Array<float>& x, const Array<float>& w, double tolerance = 1e-4) {
  const Array<float> want = f(x, w), a = there(x), b = there(w);
  const auto g = jit(f);
  bool good = true;
  for (int call = 0; call < 3; ++call) good = agree(g(a, b), want, tolerance) && good;
  return good;
}

// Records a function, which calls `meanwhile` then.
bool recorded_while(const std::function<void()>& meanwhile) {
  const Array<float> x = normal(1, {100}), on_gpu = there(x);
  bool recorded = false;
  const auto f = jit([&](const Array<float>& v) {
    const Array<float> w = v * 2.f;
    if (nax::detail::graph_recording && !std::exchange(recorded, true)) meanwhile();
    return Array<float>(w + 1.f);
  });
  bool good = true;
  for (int call = 0; call < 4; ++call) good = agree(f(on_gpu), Array<float>(x * 2.f + 1.f), 1e-6) && good;
  if (recorded) return good;
  meanwhile();
  std::fprintf(stderr, "gpu_hazards: nothing was recorded\n");
  return false;
}

bool smoke() {
  const Array<float> x = normal(1, {1000});
  return agree(Array<float>(there(x) * 2.f + 1.f), Array<float>(x * 2.f + 1.f), 1e-6);
}
bool jit_matmul() {
  return by_jit([](const Array<float>& x, const Array<float>& w) { return matmul(x, w); },
                normal(1, {64, 128}), normal(2, {128, 32}));
}
bool jit_fft() {  // 131: cuFFT takes another algorithm from this prime on
  return by_jit(
      [](const Array<float>& x, const Array<float>& w) { return Array<float>(abs(fft::fft(x * w))); },
      normal(1, {8, 131}), normal(2, {131}));
}
bool jit_conv() {
  return by_jit(
      [](const Array<float>& x, const Array<float>& w) { return nn::conv(x, w, {.padding = "SAME"}); },
      normal(1, {2, 12, 12, 16}), normal(2, {3, 3, 16, 8}));
}
bool jit_solve() {
  return by_jit([](const Array<float>& x, const Array<float>& w) { return linalg::solve_triangular(x, w); },
                triu(normal(1, {8, 8})) + eye<float>(8) * 8.f, normal(2, {8, 3}));
}
// A thread ends, whose handles of libraries and streams must not be destroyed, while this one records.
bool worker_ends_while_recording() {
  std::promise<void> solved, ends;
  std::thread worker([&] {
    const Array<float> a = there(Array<float>(eye<float>(8) * 2.f)), b = there(ones<float>({8, 1}));
    agree(linalg::solve_triangular(a, b), ones<float>({8, 1}) * .5f, 1e-6);
    solved.set_value();
    ends.get_future().wait();
  });
  solved.get_future().wait();
  return recorded_while([&] {
    ends.set_value();
    worker.join();
  });
}
bool memory_released_while_recording() {
  { const Array<float> freed = there(ones<float>({4'000'000})) * 2.f; }
  return recorded_while([] { std::thread([] { release_cached_memory(gpu()); }).join(); });
}
bool first_kernel_of_a_thread_while_recording() {  // which the driver may load then
  return recorded_while([] {
    std::async(std::launch::async, [] {
      const Array<float> x = normal(3, {50});
      if (!agree(Array<float>(cosh(there(x))), Array<float>(cosh(x)), 1e-5))
        throw std::runtime_error("the thread's kernel");
    }).get();
  });
}
bool batch_of_70000() {  // beyond the 65535 of a grid's other axes
  const Array<float> a = normal(1, {70'000, 3, 4}), b = normal(2, {70'000, 4, 2});
  return agree(matmul(there(a), there(b)), matmul(a, b), 1e-5);
}
bool bias_at_4_bytes() {
  const Array<float> x = normal(1, {32, 64}), w = normal(2, {64, 16}), b = normal(3, {17});
  const auto f = [](const Array<float>& x, const Array<float>& w, const Array<float>& b) {
    return nn::linear(x, w, Array<float>(b(slice(1, 17))), nn::Activation::relu);
  };
  return agree(f(there(x), there(w), there(b)), f(x, w, b), 1e-4);
}
// Uploads by one thread, products and releases by another.
bool loader_thread() {
  constexpr int batches = 200;
  std::vector<Array<float>> made(batches);
  std::atomic<int> ready = 0;
  std::thread loader([&] {
    for (int i = 0; i < batches; ++i) {
      made[static_cast<std::size_t>(i)] = there(full<float>({64, 256}, static_cast<float>(i)));
      ready.store(i + 1, std::memory_order_release);
      ready.notify_one();
    }
  });
  const Array<float> w = there(ones<float>({256, 8}));
  bool good = true;
  for (int i = 0; i < batches; ++i) {
    for (int seen; (seen = ready.load(std::memory_order_acquire)) <= i;) ready.wait(seen);
    const Array<float> x = std::exchange(made[static_cast<std::size_t>(i)], Array<float>());
    if (i % 20 == 0)
      good = agree(matmul(x, w), full<float>({64, 8}, 256.f * static_cast<float>(i)), 1e-6) && good;
    else
      matmul(x, w);
  }
  loader.join();
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const std::pair<const char*, bool (*)()> all[] = {
      {"smoke", smoke},
      {"jit_matmul", jit_matmul},
      {"jit_fft", jit_fft},
      {"jit_conv", jit_conv},
      {"jit_solve", jit_solve},
      {"worker_ends_while_recording", worker_ends_while_recording},
      {"memory_released_while_recording", memory_released_while_recording},
      {"first_kernel_of_a_thread_while_recording", first_kernel_of_a_thread_while_recording},
      {"batch_of_70000", batch_of_70000},
      {"bias_at_4_bytes", bias_at_4_bytes},
      {"loader_thread", loader_thread},
  };
  try {
    if (argc >= 2 && std::string(argv[1]) == "cards")
      return std::printf("{\"cards\": %d}\n", device_count("cuda")) > 0 ? 0 : 1;
    for (const auto& [name, run] : all) {
      if (argc < 2) std::puts(name);
      if (argc >= 2 && std::string(argv[1]) == name) return run() ? 0 : 1;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_hazards: %s\n", error.what());
    return 2;
  }
  if (argc >= 2) std::fprintf(stderr, "gpu_hazards: there is no hazard '%s'\n", argv[1]);
  return argc < 2 ? 0 : 2;
}
