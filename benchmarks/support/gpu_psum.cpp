// gpu_psum DEVICES [most bytes]: seconds of a psum of 1 KiB to 1 GiB over GPUs, a line of JSON each, and, in
// programs that link NCCL, of ncclAllReduce called by itself beside it. "bus" is what a link carries in a
// ring: 2 (n - 1) / n of the bytes in that time, in gigabytes a second, as NCCL's own tests have it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nax/nax.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "clock.hpp"
#if defined(NAX_BENCHMARK_NCCL)
#include <nax/devices/nccl/runtime.hpp>
#endif

using namespace nax;

namespace {

// The median of five rounds of at least 20 milliseconds each. round(calls): their seconds.
template <class Round>
double seconds_of(const Round& round) {
  round(2);
  const int calls = std::clamp(static_cast<int>(.02 / round(1)), 2, 1000);
  std::vector<double> rounds;
  for (int i = 0; i < 5; ++i) rounds.push_back(round(calls) / calls);
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

void print(const char* by, std::size_t devices, std::int64_t bytes, double seconds) {
  const double n = static_cast<double>(devices), size = static_cast<double>(bytes);
  std::printf("{\"by\": \"%s\", \"devices\": %zu, \"bytes\": %lld, \"seconds\": %.6g, \"bus\": %.6g}\n", by,
              devices, static_cast<long long>(bytes), seconds, 2 * (n - 1) / n * size / seconds / 1e9);
  std::fflush(stdout);
}

Array<float> ones_on_each(const std::vector<Device>& gpus, std::int64_t bytes) {
  return device_put_replicated(Array<float>(ones<float>({bytes / 4})), gpus);
}

double seconds_of_psum(const std::vector<Device>& gpus, std::int64_t bytes) {
  const auto f =
      pmap([](const Array<float>& x) { return psum(x, "i"); }, {.axis_name = "i", .devices = gpus});
  const Array<float> x = ones_on_each(gpus, bytes);
  const double seconds = seconds_of([&](int calls) {
    const double begin = bench::now();
    Array<float> y;
    for (int i = 0; i < calls; ++i) y = f(x);
    block_until_ready(y);
    return bench::now() - begin;
  });
  const double sum = static_cast<double>(f(x)(-1, -1).item());
  if (sum != static_cast<double>(gpus.size())) throw std::runtime_error("psum is " + std::to_string(sum));
  return seconds;
}

#if defined(NAX_BENCHMARK_NCCL)
void succeed(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) throw std::runtime_error(std::string(call) + ": " + ncclGetErrorString(code));
}

// One thread, a group of the calls of all GPUs, each on a stream of its own.
class Reductions {
 public:
  explicit Reductions(const std::vector<Device>& gpus) : gpus_(gpus), comms_(gpus.size()) {
    std::vector<int> cards;
    for (const Device gpu : gpus) {
      streams_.push_back(nax::cuda::stream_for_collectives(gpu));
      cards.push_back(nax::cuda::card_for_collectives(gpu));
    }
    succeed(ncclCommInitAll(comms_.data(), static_cast<int>(gpus.size()), cards.data()), "ncclCommInitAll");
  }
  ~Reductions() {
    for (ncclComm_t comm : comms_) ncclCommDestroy(comm);
  }
  Reductions(const Reductions&) = delete;
  Reductions& operator=(const Reductions&) = delete;

  double seconds(std::int64_t bytes) {
    std::vector<Array<float>> from, to;
    for (const Device gpu : gpus_) {
      from.push_back(block_until_ready(device_put(Array<float>(ones<float>({bytes / 4})), gpu)));
      to.push_back(block_until_ready(device_put(Array<float>(zeros<float>({bytes / 4})), gpu)));
    }
    return seconds_of([&](int calls) {
      const double begin = bench::now();
      for (int i = 0; i < calls; ++i) reduce(from, to, static_cast<std::size_t>(bytes / 4));
      for (cudaStream_t stream : streams_)
        while (!nax::cuda::is_done(stream)) std::this_thread::yield();
      return bench::now() - begin;
    });
  }

 private:
  void reduce(const std::vector<Array<float>>& from, const std::vector<Array<float>>& to, std::size_t count) {
    succeed(ncclGroupStart(), "ncclGroupStart");
    for (std::size_t d = 0; d < gpus_.size(); ++d)
      succeed(ncclAllReduce(from[d].device_data(), const_cast<float*>(to[d].device_data()), count,
                            ncclFloat32, ncclSum, comms_[d], streams_[d]),
              "ncclAllReduce");
    succeed(ncclGroupEnd(), "ncclGroupEnd");
  }
  const std::vector<Device> gpus_;
  std::vector<ncclComm_t> comms_;
  std::vector<cudaStream_t> streams_;
};
#endif

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? static_cast<std::size_t>(std::atoll(argv[1])) : 2;
  const std::int64_t most = argc > 2 ? std::atoll(argv[2]) : std::int64_t{1} << 30;
  try {
    std::vector<Device> gpus = devices("cuda");
    if (gpus.size() < count) throw std::runtime_error(std::to_string(gpus.size()) + " GPUs are there");
    gpus.resize(count);
    std::vector<std::int64_t> sizes;
    for (std::int64_t bytes = 1 << 10; bytes <= most; bytes *= 32) sizes.push_back(bytes);
    for (const std::int64_t bytes : sizes) print("psum", count, bytes, seconds_of_psum(gpus, bytes));
#if defined(NAX_BENCHMARK_NCCL)
    const char* const choice = std::getenv("NAX_NCCL");
    if (count < 2 || (choice && std::string(choice) == "0")) return 0;
    Reductions reductions(gpus);
    for (const std::int64_t bytes : sizes) print("ncclAllReduce", count, bytes, reductions.seconds(bytes));
#endif
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_psum: %s\n", error.what());
    return 2;
  }
}
