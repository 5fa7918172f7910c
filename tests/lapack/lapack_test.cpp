#include <gtest/gtest.h>

#include <nax/backend/cpu/factor/lapack.hpp>
#include <nax/nax.hpp>
#include <tuple>
#include <utility>

// Factorisations by a LAPACK against their definitions, and against Eigen's.
namespace lapack_test {

using namespace nax;

template <class T>
class LapackTest : public ::testing::Test {
 protected:
  using R = real_t<T>;
  static constexpr R tolerance = std::is_same_v<R, float> ? R(1e-4) : R(1e-12);

  // Returns f() computed without the LAPACK.
  template <class F>
  static auto by_eigen(const F& f) {
    struct Restore {
      const cpu::Lapack<T>* before = std::exchange(cpu::lapack<T>, nullptr);
      ~Restore() { cpu::lapack<T> = before; }
    } const restore;
    return f();
  }
  static Array<T> matrices(const Shape& shape, int seed = 0) {
    const auto parts = random::split(random::key(seed), 2);
    const Array<R> re = random::normal<R>(parts(0), shape);
    if constexpr (is_complex_v<T>)
      return re + T(0, 1) * random::normal<R>(parts(1), shape);
    else
      return re;
  }
  static void expect_near(const Array<T>& x, const Array<T>& y) {
    ASSERT_EQ(x.shape(), y.shape());
    EXPECT_LT(max(abs(x - y)).item(), tolerance * R(1 + x.shape(-1)));
  }
  static void expect_orthonormal(const Array<T>& q) {
    expect_near(matmul(conj(linalg::matrix_transpose(q)), q),
                broadcast_to(eye<T>(q.shape(-1)), {2, q.shape(-1), q.shape(-1)}));
  }
};
using Elements = ::testing::Types<double, std::complex<float>>;
TYPED_TEST_SUITE(LapackTest, Elements);

TEST(Lapack, is_there) {
  EXPECT_NE(cpu::lapack<float>, nullptr);
  EXPECT_NE(cpu::lapack<double>, nullptr);
  EXPECT_NE(cpu::lapack<std::complex<float>>, nullptr);
  EXPECT_NE(cpu::lapack<std::complex<double>>, nullptr);
}

TYPED_TEST(LapackTest, qr) {
  for (const auto& [m, n] : {std::pair{40, 40}, {33, 50}, {50, 33}, {65, 32}})
    for (const char* const mode : {"reduced", "complete"}) {
      const auto a = this->matrices({2, m, n});
      const auto factors = [&] { return linalg::qr(a, {.mode = mode}); };
      const auto [q, r] = factors();
      this->expect_orthonormal(q);
      this->expect_near(matmul(q, r), a);
      EXPECT_EQ(max(abs(tril(r, {.k = -1}))).item(), 0);
      if (m > n && std::string(mode) == "complete") continue;  // what completes the basis is not unique
      const auto [eigen_q, eigen_r] = this->by_eigen(factors);
      this->expect_near(q, eigen_q);  // LAPACK's signs
      this->expect_near(r, eigen_r);
    }
}

TYPED_TEST(LapackTest, svd) {
  for (const auto& [m, n] : {std::pair{40, 40}, {33, 50}, {50, 33}, {32, 64}})
    for (const bool full : {false, true}) {
      const auto a = this->matrices({2, m, n});
      const auto [u, s, vh] = linalg::svd(a, {.full_matrices = full});
      this->expect_orthonormal(u);
      this->expect_orthonormal(conj(linalg::matrix_transpose(vh)));
      const std::int64_t k = std::min(m, n);
      this->expect_near(
          matmul(u(ellipsis, slice(0, k)) * expand_dims(s, 1), vh(ellipsis, slice(0, k), slice(0, n))), a);
      const auto values = linalg::svdvals(a);
      EXPECT_LT(max(abs(values - s)).item(), this->tolerance * 50);
      EXPECT_LT(max(abs(values - this->by_eigen([&] { return linalg::svdvals(a); }))).item(),
                this->tolerance * 50);
    }
}

TYPED_TEST(LapackTest, eigh) {
  const auto x = this->matrices({2, 45, 45});
  const Array<TypeParam> a = x + conj(linalg::matrix_transpose(x));
  for (const char triangle : {'L', 'U'}) {
    // The other triangle is not read.
    const Array<TypeParam> half = triangle == 'L' ? tril(a) + triu(full_like(a, TypeParam(7)), {.k = 1})
                                                  : triu(a) + tril(full_like(a, TypeParam(7)), {.k = -1});
    const auto [w, v] = linalg::eigh(half, {.UPLO = triangle});
    this->expect_orthonormal(v);
    this->expect_near(matmul(a, v), v * expand_dims(w, 1));
    const auto values = [&] { return linalg::eigvalsh(half, {.UPLO = triangle}); };
    EXPECT_LT(max(abs(values() - w)).item(), this->tolerance * 50);
    EXPECT_LT(max(abs(this->by_eigen(values) - w)).item(), this->tolerance * 50);
  }
}

TYPED_TEST(LapackTest, eig) {
  const auto a = this->matrices({2, 36, 36});
  const auto [w, v] = linalg::eig(a);
  using C = complex_t<TypeParam>;
  EXPECT_LT(max(abs(matmul(a.template astype<C>(), v) - v * expand_dims(w, 1))).item(), this->tolerance * 50);
  EXPECT_LT(max(abs(sum(square(abs(v)), {.axis = 1}) - 1)).item(), this->tolerance);
  const Array<C> values = linalg::eigvals(a);
  EXPECT_LT(max(abs(sum(values, {.axis = 1}) - trace(a, {.axis1 = 1, .axis2 = 2}))).item(),
            this->tolerance * 50);
}

TYPED_TEST(LapackTest, schur) {
  const auto a = this->matrices({2, 36, 36});
  const auto [t, z] = linalg::schur(a);
  this->expect_orthonormal(z);
  this->expect_near(matmul(matmul(z, t), conj(linalg::matrix_transpose(z))), a);
  EXPECT_EQ(max(abs(tril(t, {.k = is_complex_v<TypeParam> ? -1 : -2}))).item(), 0);
}

TYPED_TEST(LapackTest, no_numbers) {
  const auto a = this->matrices({40, 40}).at(3, 4).set(TypeParam(std::numeric_limits<double>::infinity()));
  EXPECT_TRUE(all(isnan(linalg::svdvals(a))).item());
  EXPECT_TRUE(all(isnan(linalg::qr(a).R)).item());
  EXPECT_TRUE(all(isnan(linalg::eigvals(a))).item());
}

TYPED_TEST(LapackTest, derivatives_are_the_same) {
  using R = real_t<TypeParam>;
  const auto x = this->matrices({40, 40});
  const Array<TypeParam> a = x + conj(linalg::matrix_transpose(x));
  const auto f = [](const Array<TypeParam>& m) -> Array<R> { return sum(tanh(linalg::eigvalsh(m))); };
  this->expect_near(grad(f)(a), this->by_eigen([&] { return grad(f)(a); }));
}

}  // namespace lapack_test
