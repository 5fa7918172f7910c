#include <complex>
#include <set>

#include "cuda/runtime/host_factors.hpp"
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

TYPED_TEST(Solver, TakesMatricesWithoutElements) {
  using T = TypeParam;
  set_default_device(devices("cpu")[0]);
  const Array<T> one = zeros<T>({0, 0}), three = zeros<T>({3, 0, 0}), sides = zeros<T>({0, 2});
  set_default_device(this->gpu());
  for (const Array<T>& a : {one, three}) {
    this->expect_near(la::det(this->put(a)), la::det(a));
    this->expect_near(la::slogdet(this->put(a)).sign, la::slogdet(a).sign);
    this->expect_near(la::slogdet(this->put(a)).logabsdet, la::slogdet(a).logabsdet);
    this->expect_near(la::cholesky(this->put(a)), la::cholesky(a));
    this->expect_near(la::inv(this->put(a)), la::inv(a));
    this->expect_near(la::solve(this->put(a), this->put(sides)), la::solve(a, sides));
  }
}

TYPED_TEST(Solver, FactorsByReflections) {
  for (const Shape& shape : {Shape{4, 4}, Shape{6, 3}, Shape{3, 6}, Shape{2, 5, 2}, Shape{2, 2, 5}})
    for (const char* mode : {"reduced", "complete", "r"}) {
      const auto a = this->random(12, shape);
      const auto there = la::qr(this->put(a), {.mode = mode}), here = la::qr(a, {.mode = mode});
      this->expect_near(there.R, here.R);
      if (std::string_view(mode) != "r") this->expect_near(there.Q, here.Q);
    }
}

TYPED_TEST(Solver, FindsSingularValues) {
  using T = TypeParam;
  for (const Shape& shape : {Shape{4, 4}, Shape{6, 3}, Shape{3, 6}, Shape{2, 5, 2}, Shape{2, 2, 5}})
    for (const bool full : {false, true}) {
      const auto a = this->random(13, shape);
      const auto there = la::svd(this->put(a), {.full_matrices = full}), here = la::svd(a);
      this->expect_near(there.S, here.S);
      this->expect_near(la::svdvals(this->put(a)), here.S);
      set_default_device(devices("cpu")[0]);
      const std::int64_t k = std::min(a.shape(-1), a.shape(-2));
      const Array<T> u = device_put(there.U, devices("cpu")[0]), vh = device_put(there.Vh, devices("cpu")[0]);
      const Array<real_t<T>> s = device_put(there.S, devices("cpu")[0]);
      const Array<T> scaled = u(ellipsis, slice(0, k)) * expand_dims(s, -2).template astype<T>();
      const Array<T> again = matmul(scaled, vh(ellipsis, slice(0, k), _));
      const Array<T> unit = matmul(conj(matrix_transpose(u)), u), one = eye<T>(u.shape(-1));
      const double off = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-11;
      EXPECT_TRUE(allclose(again, a, {.rtol = 0, .atol = off}));
      EXPECT_TRUE(allclose(unit, one, {.rtol = 0, .atol = off}));
      EXPECT_EQ(u.shape(-1), full ? a.shape(-2) : k);
      EXPECT_EQ(vh.shape(-2), full ? a.shape(-1) : k);
      set_default_device(this->gpu());
    }
}

// The eigenvalues of each matrix, in any order.
template <class C>
void expect_matched(std::vector<C> there, const std::vector<C>& here, std::int64_t n, double tolerance) {
  ASSERT_EQ(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    const auto row = static_cast<std::ptrdiff_t>(i) / n * n;
    const auto found = std::find_if(there.begin() + row, there.begin() + row + n,
                                    [&](const C& w) { return std::abs(w - here[i]) <= tolerance; });
    ASSERT_TRUE(found != there.begin() + row + n) << here[i] << " is not found";
    *found = C(std::numeric_limits<real_t<C>>::infinity());  // no other is the same
  }
}

TYPED_TEST(Solver, FindsEigenvalues) {
  using T = TypeParam;
  using C = complex_t<T>;
  const double off = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-11;
  const Device cpu = devices("cpu")[0];
  for (const Shape& shape : {Shape{1, 1}, Shape{5, 5}, Shape{3, 2, 4, 4}}) {
    const auto a = this->random(14, shape);
    for (const char triangle : {'L', 'U'}) {  // the other triangle is not read
      const auto there = la::eigh(this->put(a), {.UPLO = triangle}), here = la::eigh(a, {.UPLO = triangle});
      this->expect_near(there.eigenvalues, here.eigenvalues);
      this->expect_near(la::eigvalsh(this->put(a), {.UPLO = triangle}), here.eigenvalues);
      set_default_device(cpu);
      const Array<T> v = device_put(there.eigenvectors, cpu), w = here.eigenvalues.template astype<T>();
      const Array<T> again = matmul(v * expand_dims(w, -2), conj(matrix_transpose(v)));
      const Array<T> b = here.eigenvectors;
      const Array<T> given = matmul(b * expand_dims(w, -2), conj(matrix_transpose(b)));
      EXPECT_TRUE(allclose(again, given, {.rtol = 0, .atol = off}));
      set_default_device(this->gpu());
    }
    const auto there = la::eig(this->put(a)), here = la::eig(a);
    const std::int64_t n = a.shape(-1);
    expect_matched(there.eigenvalues.to_vector(), here.eigenvalues.to_vector(), n, off);
    expect_matched(la::eigvals(this->put(a)).to_vector(), here.eigenvalues.to_vector(), n, off);
    set_default_device(cpu);
    const Array<C> w = device_put(there.eigenvalues, cpu), v = device_put(there.eigenvectors, cpu),
                   wide = a.template astype<C>();
    EXPECT_TRUE(
        allclose(Array<C>(matmul(wide, v)), Array<C>(v * expand_dims(w, -2)), {.rtol = 0, .atol = off}));
    const Array<real_t<T>> norms = sum(square(abs(v)), {.axis = -2});
    EXPECT_TRUE(allclose(norms, ones<real_t<T>>(norms.shape()), {.rtol = 0, .atol = off}));
    set_default_device(this->gpu());
  }
}

TYPED_TEST(Solver, GivesNanForMatricesThatAreNotFinite) {
  using T = TypeParam;
  auto a = this->random(15, {3, 3, 3});
  set_default_device(devices("cpu")[0]);
  a = a.at(1, 2, 0).set(T(std::numeric_limits<real_t<T>>::infinity()));
  set_default_device(this->gpu());
  const auto there = this->put(a);
  this->expect_near(la::qr(there).R, la::qr(a).R);
  this->expect_near(la::svdvals(there), la::svdvals(a));
  this->expect_near(la::eigvalsh(there), la::eigvalsh(a));
  this->expect_near(la::eigvalsh(there, {.UPLO = 'U'}), la::eigvalsh(a, {.UPLO = 'U'}));
  this->expect_near(la::eigvals(there), la::eigvals(a));
}

TYPED_TEST(Solver, DerivesDeterminants) {
  using T = TypeParam;
  if constexpr (!is_complex_v<T>) {
    set_default_device(devices("cpu")[0]);
    const Array<T> singular = {{1, 2, 3}, {2, 4, 6}, {1, 0, 1}};
    set_default_device(this->gpu());
    const auto slope = [](const Array<T>& x) {
      return grad([](const Array<T>& y) { return la::det(y); })(x);
    };
    for (const Array<T>& a : {singular, Array<T>(this->random(16, {4, 4}))}) {
      const Array<T> there = slope(this->put(a));
      set_default_device(devices("cpu")[0]);
      const Array<T> here = slope(a);
      set_default_device(this->gpu());
      this->expect_near(there, here, 1e-3);
    }
  }
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
  EXPECT_EQ(calls, 2);
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
