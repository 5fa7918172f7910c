// gpu_bandwidth [elements]: bytes a second of each kind of kernel on the first GPU, a line of JSON each. The
// bytes are those that a perfect kernel would move: each operand read once, the result written once.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <nax/nax.hpp>
#include <string>
#include <vector>

using namespace nax;

namespace {

struct Row {
  const char* name;
  double bytes;
  std::function<void()> run;
};

double seconds_of(const Row& row) {
  const Device gpu = devices("cuda")[0];
  const auto wait = [&] {
    block_until_ready(device_put(zeros<float>({1}), gpu));
  };  // of this thread's stream
  double best = 1e30;
  for (int round = 0; round < 5; ++round) {
    wait();
    constexpr int calls = 4;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) row.run();
    wait();
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
    if (round > 0 && s < best) best = s;
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t columns = 1024;
  const std::int64_t rows =
      std::max<std::int64_t>(1, (argc > 1 ? std::atoll(argv[1]) : std::int64_t{1} << 26) / columns);
  const double n = static_cast<double>(rows * columns), k = static_cast<double>(columns);
  set_default_device(devices("cuda")[0]);
  const Array<float> x = random::normal(random::key(1), {rows, columns}), y = x + 1.f;
  const Array<float> row = random::normal(random::key(2), {columns}),
                     column = random::normal(random::key(3), {rows, 1});
  const Array<bfloat16> h = x.astype<bfloat16>();
  const Array<int> places = random::randint(random::key(4), {rows}, 0, static_cast<int>(rows));
  const Row list[] = {
      {"add", 12 * n, [&] { eval(x + y); }},
      {"add bfloat16", 6 * n, [&] { eval(h + h); }},
      {"add a row", 8 * n, [&] { eval(x + row); }},
      {"add a column", 8 * n, [&] { eval(x + column); }},
      {"tanh of x y + row", 12 * n, [&] { eval(tanh(x * y + row)); }},
      {"to bfloat16", 6 * n, [&] { x.astype<bfloat16>(); }},
      {"copy of the transpose", 8 * n, [&] { eval(x.T() + 0.f); }},
      {"rows by index", 8 * n, [&] { take(x, places, {.axis = 0}); }},
      {"sum", 4 * n, [&] { sum(x); }},
      {"sum of rows", 4 * n, [&] { sum(x, {.axis = 1}); }},
      {"sum of columns", 4 * n, [&] { sum(x, {.axis = 0}); }},
      {"argmax", 4 * n, [&] { argmax(x); }},
      {"cumsum", 8 * n, [&] { cumsum(x); }},
      {"cumsum of columns", 8 * n, [&] { cumsum(x, {.axis = 0}); }},
      {"sort", 8 * n, [&] { sort(x.reshape({-1})); }},
      {"sort of rows", 8 * n, [&] { sort(x, {.axis = 1}); }},
      {"softmax of rows", 8 * n, [&] { nn::softmax(x); }},
      {"normal", 4 * n,
       [&] {
         random::normal(random::key(5), {rows, columns});
       }},
      {"gradient of a row", 4 * n + 8 * k,
       [&] { grad([&](const Array<float>& b) { return sum(x * b); })(row); }},
  };
  for (const Row& r : list) {
    const double s = seconds_of(r);
    std::printf("{\"kernel\": \"%s\", \"bytes\": %.0f, \"seconds\": %.9g, \"gigabytes_per_second\": %.6g}\n",
                r.name, r.bytes, s, r.bytes / s / 1e9);
    std::fflush(stdout);
  }
}
