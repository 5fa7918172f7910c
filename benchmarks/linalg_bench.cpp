#include "nax/backend/cpu/factor/lapack.hpp"
#include "support/bench.hpp"

// Factorisations of square matrices of doubles: by Eigen, and by a LAPACK where the program has one.
namespace {

using namespace bench;
namespace linalg = nax::linalg;
using nax::Array;

enum class By { eigen, lapack };

// Without the LAPACK while it lives, unless that is asked for.
class Engine {
 public:
  explicit Engine(By by) : before_(nax::cpu::lapack<double>) {
    if (by == By::eigen) nax::cpu::lapack<double> = nullptr;
  }
  ~Engine() { nax::cpu::lapack<double> = before_; }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  static bool has(By by) { return by == By::eigen || nax::cpu::lapack<double>; }

 private:
  const nax::cpu::Lapack<double>* before_;
};

Array<double> matrix(std::int64_t n) { return nax::random::normal<double>(nax::random::key(1), {n, n}); }
Array<double> symmetric(std::int64_t n) {
  const Array<double> a = matrix(n);
  return a + nax::transpose(a);
}
// f computes all and returns what is unique of it.
void time_by(State& state, By by, const auto& f) {
  if (!Engine::has(by)) return state.SkipWithError("no LAPACK");
  const auto size_by = [&](By one) {
    const Engine engine(one);
    return nax::sum(nax::abs(f())).item();
  };
  const double size = size_by(by), expected = size_by(By::eigen);
  if (!(std::abs(size - expected) <= 1e-9 * expected)) return state.SkipWithError("the results differ");
  const Engine engine(by);
  for (auto _ : state) benchmark::DoNotOptimize(f());
}

void svd(State& state, By by) {
  time_by(state, by, [a = matrix(state.range(0))] { return linalg::svd(a).S; });
}
void svdvals(State& state, By by) {
  time_by(state, by, [a = matrix(state.range(0))] { return linalg::svdvals(a); });
}
void eigh(State& state, By by) {
  time_by(state, by, [a = symmetric(state.range(0))] { return linalg::eigh(a).eigenvalues; });
}
void eigvalsh(State& state, By by) {
  time_by(state, by, [a = symmetric(state.range(0))] { return linalg::eigvalsh(a); });
}
void eig(State& state, By by) {
  time_by(state, by, [a = matrix(state.range(0))] { return linalg::eig(a).eigenvalues; });
}
void qr(State& state, By by) {
  time_by(state, by, [a = matrix(state.range(0))] { return linalg::qr(a).R; });
}

void sizes_of_matrices(benchmark::internal::Benchmark* b) {
  for (const std::int64_t n : {64, 256, 1024}) b->Arg(n)->Unit(benchmark::kMillisecond);
}
#define NAX_BENCHMARK(f)                                            \
  BENCHMARK_CAPTURE(f, eigen, By::eigen)->Apply(sizes_of_matrices); \
  BENCHMARK_CAPTURE(f, lapack, By::lapack)->Apply(sizes_of_matrices);
NAX_BENCHMARK(svd)
NAX_BENCHMARK(svdvals)
NAX_BENCHMARK(eigh)
NAX_BENCHMARK(eigvalsh)
NAX_BENCHMARK(eig)
NAX_BENCHMARK(qr)

}  // namespace
