#include <sys/resource.h>

#include "nax/core/allocator.hpp"
#include "nax/transform/jvp.hpp"
#include "transforms/arrays.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NAX_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NAX_TEST_SANITIZED 1
#endif
#endif

// A million operations in a row: neither the stack nor the memory gives out.
namespace transforms::chain_test {

using F = Array<float>;

F chain(F x, const F& a, const F& b, int steps = 1'000'000) {
  for (int i = 0; i < steps; ++i) x = x * a + b;
  return x;
}

double megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

TEST(Chain, OfAMillion) {
  [[maybe_unused]] const double before = megabytes();
  reset_peak_memory();
  const auto [gx, ga, gb] =
      grad<0, 1, 2>([](const F& x, const F& a, const F& b) { return chain(x, a, b); })(0.5f, 0.999f, 0.001f);
  EXPECT_LT(memory_stats().peak, 400'000'000u);
#ifndef NAX_TEST_SANITIZED
  EXPECT_LT(megabytes() - before, 400);
  EXPECT_LT(megabytes(), 400);
#endif
  // The chain has converged to b / (1 - a) = 1.
  EXPECT_NEAR(gx.item(), 0.f, 1e-30f);
  EXPECT_NEAR(ga.item(), 1000.f, 1.f);
  EXPECT_NEAR(gb.item(), 1000.f, 1.f);
}

TEST(Chain, InForwardMode) {
  const auto [y, dy] = jvp([](const F& b) { return chain(0.5f, 0.999f, b, 20'000); }, std::tuple(F(0.001f)),
                           std::tuple(F(1.f)));
  EXPECT_NEAR(y.item(), 1.f, 1e-3f);
  EXPECT_NEAR(dy.item(), 1000.f, 1.f);
}

}  // namespace transforms::chain_test

#undef NAX_TEST_SANITIZED
