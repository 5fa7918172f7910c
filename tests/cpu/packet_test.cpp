#include "nax/backend/cpu/packets/packet.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using nax::simd::Mask;
using nax::simd::Packet;

template <class T>
class PacketOf : public testing::Test {
 protected:
  using P = Packet<T>;
  static constexpr int n = P::size;
  using Lanes = std::array<T, P::size>;

  static Lanes lanes(P packet) {
    Lanes result;
    packet.store(result.data());
    return result;
  }
  static std::array<bool, P::size> lanes(Mask<T> mask) {
    std::array<bool, P::size> result;
    mask.store(result.data());
    return result;
  }
  // Some values in every lane, special ones among them.
  static Lanes some(int shift) {
    const T values[] = {T(1.5),  T(-2.5),
                        T(0),    T(-0.0),
                        T(0.5),  -nax::simd::infinity<T>,
                        T(3),    T(2.5),
                        T(-3),   T(-0.5),
                        T(1e10), nax::simd::nan<T>,
                        T(7),    T(-1e-3),
                        T(1),    nax::simd::infinity<T>};
    Lanes result;
    for (int i = 0; i < n; ++i) result[static_cast<std::size_t>(i)] = values[(i + shift) % 16];
    return result;
  }
  template <class F, class G>
  static void expect_unary(F packet, G scalar) {
    for (int shift = 0; shift < 16; ++shift) {
      const auto x = some(shift);
      const auto got = lanes(packet(P::load(x.data())));
      for (std::size_t i = 0; i < x.size(); ++i) expect_same(got[i], scalar(x[i]), x[i], x[i]);
    }
  }
  template <class F, class G>
  static void expect_binary(F packet, G scalar) {
    for (int a = 0; a < 16; ++a)
      for (int b = 0; b < 16; ++b) {
        const auto x = some(a), y = some(b);
        const auto got = lanes(packet(P::load(x.data()), P::load(y.data())));
        for (std::size_t i = 0; i < x.size(); ++i) expect_same(got[i], scalar(x[i], y[i]), x[i], y[i]);
      }
  }
  static inline bool signed_zeros = true;
  template <class U>
  static void expect_same(U got, U want, T x, T y) {
    if (want != want) {
      EXPECT_NE(got, got) << x << " " << y;
      return;
    }
    EXPECT_EQ(got, want) << x << " " << y;
    if constexpr (std::is_floating_point_v<U>) {
      if (signed_zeros) {
        EXPECT_EQ(std::signbit(got), std::signbit(want)) << x << " " << y;
      }
    }
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PacketOf, Types);

TYPED_TEST(PacketOf, Arithmetic) {
  using T = TypeParam;
  this->expect_binary([](auto a, auto b) { return a + b; }, [](T a, T b) { return a + b; });
  this->expect_binary([](auto a, auto b) { return a - b; }, [](T a, T b) { return a - b; });
  this->expect_binary([](auto a, auto b) { return a * b; }, [](T a, T b) { return a * b; });
  this->expect_binary([](auto a, auto b) { return a / b; }, [](T a, T b) { return a / b; });
  this->expect_unary([](auto a) { return -a; }, [](T a) { return -a; });
  this->expect_binary([](auto a, auto b) { return fma(a, b, a); },
                      [](T a, T b) { return nax::simd::fused ? std::fma(a, b, a) : a * b + a; });
}

TYPED_TEST(PacketOf, Comparisons) {
  using T = TypeParam;
  this->expect_binary([](auto a, auto b) { return a == b; }, [](T a, T b) { return a == b; });
  this->expect_binary([](auto a, auto b) { return a != b; }, [](T a, T b) { return a != b; });
  this->expect_binary([](auto a, auto b) { return a < b; }, [](T a, T b) { return a < b; });
  this->expect_binary([](auto a, auto b) { return a <= b; }, [](T a, T b) { return a <= b; });
  this->expect_binary([](auto a, auto b) { return a > b; }, [](T a, T b) { return a > b; });
  this->expect_binary([](auto a, auto b) { return a >= b; }, [](T a, T b) { return a >= b; });
  this->expect_binary([](auto a, auto b) { return ((a < b) & !(b < -a)) | (a == b); },
                      [](T a, T b) { return (a < b && !(b < -a)) || a == b; });
  this->expect_binary([](auto a, auto b) { return select(a < b, a, b); },
                      [](T a, T b) { return a < b ? a : b; });
}

TYPED_TEST(PacketOf, MinimaPropagateNanLikeNumPy) {
  using T = TypeParam;
  this->signed_zeros = false;  // either zero will do
  this->expect_binary([](auto a, auto b) { return max(a, b); },
                      [](T a, T b) {
                        return a != a ? a : b != b ? b : a < b ? b : a;
                      });
  this->expect_binary([](auto a, auto b) { return min(a, b); },
                      [](T a, T b) {
                        return a != a ? a : b != b ? b : b < a ? b : a;
                      });
  this->expect_binary([](auto a, auto b) { return fmax(a, b); }, [](T a, T b) { return std::fmax(a, b); });
  this->expect_binary([](auto a, auto b) { return fmin(a, b); }, [](T a, T b) { return std::fmin(a, b); });
  this->signed_zeros = true;
}

TYPED_TEST(PacketOf, Rounding) {
  using T = TypeParam;
  this->expect_unary([](auto a) { return floor(a); }, [](T a) { return std::floor(a); });
  this->expect_unary([](auto a) { return ceil(a); }, [](T a) { return std::ceil(a); });
  this->expect_unary([](auto a) { return trunc(a); }, [](T a) { return std::trunc(a); });
  this->expect_unary([](auto a) { return rint(a); }, [](T a) { return std::rint(a); });
  this->expect_unary([](auto a) { return round(a); }, [](T a) { return std::rint(a); });
}

TYPED_TEST(PacketOf, SignsAndClasses) {
  using T = TypeParam;
  this->expect_unary([](auto a) { return abs(a); }, [](T a) { return std::abs(a); });
  this->expect_unary([](auto a) { return sign(a); },
                     [](T a) { return a == 0 || a != a ? a : T((a > 0) - (a < 0)); });
  this->expect_binary([](auto a, auto b) { return copysign(abs(a), b); },
                      [](T a, T b) { return std::copysign(a, b); });
  this->expect_unary([](auto a) { return isnan(a); }, [](T a) { return std::isnan(a); });
  this->expect_unary([](auto a) { return isinf(a); }, [](T a) { return std::isinf(a); });
  this->expect_unary([](auto a) { return isfinite(a); }, [](T a) { return std::isfinite(a); });
  this->expect_unary([](auto a) { return signbit(a); }, [](T a) { return std::signbit(a); });
  this->expect_unary([](auto a) { return sqrt(a); }, [](T a) { return std::sqrt(a); });
}

TYPED_TEST(PacketOf, PartialAndStridedLoads) {
  using T = TypeParam;
  using P = Packet<T>;
  T data[64];
  for (int i = 0; i < 64; ++i) data[i] = T(i);
  for (int count = 0; count <= P::size; ++count) {
    const auto got = this->lanes(P::load(data, count));
    for (int i = 0; i < P::size; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], T(i < count ? i : 0));
    T to[P::size + 1];
    for (auto& lane : to) lane = T(-1);
    P(T(5)).store(to, count);
    for (int i = 0; i <= P::size; ++i) EXPECT_EQ(to[i], T(i < count ? 5 : -1));
  }
  for (int stride : {-3, -1, 0, 1, 2, 3}) {
    const T* from = stride < 0 ? data + 63 : data;
    const auto got = this->lanes(P::load_strided(from, stride));
    for (int i = 0; i < P::size; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], from[i * stride]);
    if (stride <= 0) continue;
    T to[64] = {};
    P::load(data).store_strided(to, stride);
    for (int i = 0; i < P::size; ++i) EXPECT_EQ(to[i * stride], data[i]);
  }
}

TYPED_TEST(PacketOf, MasksReduceAndConvert) {
  using T = TypeParam;
  using P = Packet<T>;
  EXPECT_TRUE(all(Mask<T>(true)));
  EXPECT_FALSE(any(Mask<T>(false)));
  T data[P::size];
  for (int i = 0; i < P::size; ++i) data[i] = T(i);
  const auto first = P::load(data) < P(1);
  EXPECT_TRUE(any(first));
  EXPECT_EQ(all(first), P::size == 1);
  EXPECT_EQ(bits(first), 1u);
  bool pattern[P::size];
  for (int i = 0; i < P::size; ++i) pattern[i] = i % 3 == 1;
  const auto got = this->lanes(Mask<T>::load(pattern));
  for (int i = 0; i < P::size; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], pattern[i]);
  EXPECT_EQ(reduce_add(P::load(data)), T(P::size * (P::size - 1) / 2));
  EXPECT_EQ(reduce_max(P::load(data)), T(P::size - 1));
  EXPECT_EQ(reduce_min(P::load(data)), T(0));
  data[P::size / 2] = nax::simd::nan<T>;
  EXPECT_TRUE(std::isnan(reduce_max(P::load(data))));
  EXPECT_TRUE(std::isnan(reduce_min(P::load(data))));
}

// Rules call `using std::tanh` and an unqualified name, which serves scalars and packets.
template <class V>
constexpr V rule(V x) {
  using std::exp;
  using std::tanh;
  return tanh(x) + exp(x) * V(2);
}
TYPED_TEST(PacketOf, RulesFindTheFunctions) {
  using T = TypeParam;
  EXPECT_NEAR(this->lanes(rule(Packet<T>(T(0.3))))[0], rule(T(0.3)), 1e-6);
}

}  // namespace
