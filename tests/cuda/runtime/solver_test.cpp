#include <complex>

#include "cuda/runtime/on_stand_in.hpp"

// Calls of cuSOLVER and cuBLAS: factors on the device equal the host's, for all element types and batches.
namespace solver_test {

using namespace nax;
namespace la = nax::linalg;
using C64 = std::complex<float>;
using C128 = std::complex<double>;

template <class T>
class Solver : public on_stand_in::OnStandIn {
 protected:
  using R = real_t<T>;

  // Numbers of a normal distribution, on the host.
  static Array<T> random(std::uint64_t seed, const Shape& shape) {
    set_default_device(devices("cpu")[0]);
    const Array<R> x = random::normal<R>(random::key(seed), shape);
    Array<T> numbers;
    if constexpr (is_complex_v<T>) {
      const Array<R> y = random::normal<R>(random::key(seed + 1000), shape);
      numbers = x.template astype<T>() + T(0, 1) * y.template astype<T>();
    } else {
      numbers = x;
    }
    set_default_device(gpu());
    return numbers;
  }
  static Array<T> definite(std::uint64_t seed, const Shape& shape) {
    const Array<T> x = random(seed, shape);
    set_default_device(devices("cpu")[0]);
    Array<T> result = matmul(x, conj(matrix_transpose(x))) + T(1) * eye<T>(shape.back());
    set_default_device(gpu());
    return result;
  }
  template <class X>
  static X put(const X& x) {
    return device_put(x, gpu());
  }
  // Elements of both, NaNs and infinities in the same places.
  template <class X>
  static void expect_near(const Array<X>& there, const Array<X>& here, double tolerance = 0) {
    ASSERT_EQ(there.shape(), here.shape());
    EXPECT_EQ(there.device(), gpu());
    if (tolerance == 0) tolerance = 2e-4;
    if (sizeof(R) == 8) tolerance *= 1e-7;
    const std::vector<X> a = there.to_vector(), b = here.to_vector();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto same = [&](auto x, auto y) {
        if (std::isfinite(y))
          EXPECT_NEAR(x, y, tolerance * std::max<double>(1, std::abs(static_cast<double>(y)))) << i;
        else
          EXPECT_EQ(std::isnan(x), std::isnan(y)) << i << ": " << x << " and " << y;
      };
      if constexpr (is_complex_v<X>)
        same(a[i].real(), b[i].real()), same(a[i].imag(), b[i].imag());
      else
        same(a[i], b[i]);
    }
  }
};
using Kinds = testing::Types<float, double, C64, C128>;
TYPED_TEST_SUITE(Solver, Kinds);

TYPED_TEST(Solver, FactorsPositiveMatrices) {
  for (const Shape& shape : {Shape{1, 1}, Shape{5, 5}, Shape{40, 40}, Shape{3, 2, 4, 4}}) {
    const auto a = this->definite(1, shape);
    this->expect_near(la::cholesky(this->put(a)), la::cholesky(a));
  }
}

TYPED_TEST(Solver, FillsFactorsOfOtherMatricesWithNan) {
  using T = TypeParam;
  set_default_device(devices("cpu")[0]);
  Array<T> a = stack(std::vector<Array<T>>{eye<T>(3), eye<T>(3), eye<T>(3)});
  a = a.at(1, 1, 1).set(T(-2));
  a = a.at(2, 2, 0).set(T(std::numeric_limits<real_t<T>>::quiet_NaN()));
  set_default_device(this->gpu());
  this->expect_near(la::cholesky(this->put(a)), la::cholesky(a));
  const Array<T> one = a(1);
  this->expect_near(la::cholesky(this->put(one)), la::cholesky(one));
}

TYPED_TEST(Solver, FactorsWithPivots) {
  for (const Shape& shape : {Shape{4, 4}, Shape{6, 3}, Shape{3, 6}, Shape{2, 5, 5}, Shape{2, 4, 3}}) {
    const auto a = this->random(2, shape);
    const auto there = la::lu_factor(this->put(a)), here = la::lu_factor(a);
    this->expect_near(there.lu, here.lu);
    EXPECT_EQ(there.piv.to_vector(), here.piv.to_vector());
  }
}

TYPED_TEST(Solver, SolvesSystems) {
  for (const Shape& batch : {Shape{}, Shape{3}, Shape{2, 3}}) {
    for (std::int64_t n : {1, 4, 9}) {
      Shape square = batch, wide = batch;
      square.push_back(n), square.push_back(n);
      wide.push_back(n), wide.push_back(3);
      const auto a = this->random(3, square), b = this->random(4, wide), one = this->random(5, {n, n});
      this->expect_near(la::solve(this->put(a), this->put(b)), la::solve(a, b), 5e-3);
      this->expect_near(la::solve(this->put(one), this->put(b)), la::solve(one, b), 5e-3);
      this->expect_near(la::inv(this->put(a)), la::inv(a), 5e-3);
      this->expect_near(la::inv(matrix_transpose(this->put(a))), la::inv(matrix_transpose(a)), 5e-3);
    }
  }
  const auto big = this->definite(6, {150, 150}), right = this->random(7, {2, 150, 2});
  this->expect_near(la::solve(this->put(big), this->put(right)), la::solve(big, right), 5e-3);
}

TYPED_TEST(Solver, SolvesTriangles) {
  for (const Shape& batch : {Shape{}, Shape{3}}) {
    Shape square = batch, wide = batch;
    square.push_back(5), square.push_back(5);
    wide.push_back(5), wide.push_back(2);
    const auto a = this->definite(8, square), b = this->random(9, wide), one = this->definite(10, {5, 5});
    for (const bool lower : {false, true})
      for (const bool unit : {false, true}) {
        const la::SolveTriangularOptions as{.lower = lower, .unit_diagonal = unit};
        this->expect_near(la::solve_triangular(this->put(a), this->put(b), as),
                          la::solve_triangular(a, b, as), 5e-3);
        this->expect_near(la::solve_triangular(matrix_transpose(this->put(a)), this->put(b), as),
                          la::solve_triangular(matrix_transpose(a), b, as), 5e-3);
        this->expect_near(la::solve_triangular(this->put(one), this->put(b), as),
                          la::solve_triangular(one, b, as), 5e-3);
        const auto flipped = slice(none, none, -1);
        this->expect_near(la::solve_triangular(this->put(one)(flipped, flipped), this->put(b), as),
                          la::solve_triangular(one(flipped, flipped), b, as), 5e-3);
      }
  }
}

TYPED_TEST(Solver, MultipliesPivots) {
  for (const Shape& shape : {Shape{3, 3}, Shape{4, 5, 5}, Shape{1, 1}}) {
    const auto a = this->random(11, shape);
    this->expect_near(la::det(this->put(a)), la::det(a), 1e-3);
    const auto there = la::slogdet(this->put(a)), here = la::slogdet(a);
    this->expect_near(there.sign, here.sign, 1e-3);
    this->expect_near(there.logabsdet, here.logabsdet, 1e-3);
  }
  using T = TypeParam;  // products that leave the range of numbers, and singular matrices
  set_default_device(devices("cpu")[0]);
  const T large(real_t<T>(1e30)), small(real_t<T>(1e-30));
  const Array<T> far = eye<T>(4) * Array<T>{large, large, small, small}, none = zeros<T>({2, 2});
  set_default_device(this->gpu());
  this->expect_near(la::det(this->put(far)), la::det(far), 1e-4);
  this->expect_near(la::slogdet(this->put(none)).sign, la::slogdet(none).sign);
  this->expect_near(la::slogdet(this->put(none)).logabsdet, la::slogdet(none).logabsdet);
}

class SolverCalls : public on_stand_in::OnStandIn {
 protected:
  static Array<float> matrix() { return there(Array<float>{{4, 1}, {1, 3}}); }
};

TEST_F(SolverCalls, LuIsRecorded) {
  int calls = 0;
  const auto f = jit([&](const Array<float>& a, const Array<float>& b) { return ++calls, la::solve(a, b); });
  const Array<float> b = there(Array<float>{1, 2});
  for (const float scale : {1.f, 2.f, 4.f})
    EXPECT_EQ((f(matrix() * scale, b) * scale).to_vector(), la::solve(matrix(), b).to_vector());
  EXPECT_EQ(calls, 1);
}

TEST_F(SolverCalls, OthersAreCalledAsTheyAre) {
  int calls = 0;
  const auto f = jit([&](const Array<float>& a) { return ++calls, la::cholesky(a) * 2.f; });
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(f(matrix()).to_vector(), Array<float>(la::cholesky(matrix()) * 2.f).to_vector());
  EXPECT_GE(calls, 3);
}

TEST_F(SolverCalls, FailuresNameTheCall) {
  const Array<float> a = matrix();
  a.to_vector();
  std::set<std::string> seen;
  for (long call = 0; call < 60; ++call) {
    stand_in::fail_at(call, cudaErrorUnknown);
    try {
      la::cholesky(a).to_vector();
    } catch (const DeviceError& error) {
      seen.insert(std::string(error.what()).substr(0, std::string(error.what()).find(' ')));
    }
    stand_in::fail_at(-1, cudaSuccess);
  }
  EXPECT_TRUE(seen.contains("cusolverDnSpotrf:")) << testing::PrintToString(seen);
}

}  // namespace solver_test
