// Floats beyond an integer type's range, against JAX's astype.

#include <gtest/gtest.h>

#include <nax/nax.hpp>

namespace saturation {

using namespace nax;

// The expected value: int(x) clamped to the type's range, 0 for NaN.
template <class To>
To expected(double x) {
  if (std::isnan(x)) return 0;
  const long double t = std::trunc(static_cast<long double>(x));
  if (t <= static_cast<long double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (t >= static_cast<long double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(t);
}

template <class To, class From>
void check() {
  constexpr double inf = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<From> numbers;
  for (const double magnitude : {0.,
                                 .5,
                                 .99,
                                 1.,
                                 1.5,
                                 126.9,
                                 127.1,
                                 127.9,
                                 128.,
                                 129.,
                                 254.5,
                                 255.9,
                                 256.,
                                 300.,
                                 32767.5,
                                 32768.,
                                 65535.9,
                                 65536.,
                                 1e5,
                                 2147483520.,
                                 2147483647.,
                                 2147483648.,
                                 3e9,
                                 4294967040.,
                                 4294967295.,
                                 4294967296.,
                                 1e15,
                                 9223371487098961920.,
                                 9223372036854775807.,
                                 1.8446742974197924e19,
                                 1.8446744073709552e19,
                                 1e30,
                                 inf,
                                 nan})
    for (const double sign : {1., -1.})
      numbers.push_back(
          static_cast<From>(static_cast<float>(sign * magnitude) == sign * magnitude || sizeof(From) == 8
                                ? sign * magnitude
                                : static_cast<float>(sign * magnitude)));
  const Array<From> x = array(numbers);
  const Array<To> run = x.template astype<To>(), strided = x(slice(none, none, -1)).template astype<To>(),
                  fused = astype<To>(x * From(1));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const To want = expected<To>(static_cast<double>(numbers[i]));
    EXPECT_EQ(run(at).item(), want) << static_cast<double>(numbers[i]);
    EXPECT_EQ(strided(-1 - at).item(), want) << static_cast<double>(numbers[i]);
    EXPECT_EQ(fused(at).item(), want) << static_cast<double>(numbers[i]);
    EXPECT_EQ(Array<From>(numbers[i]).template astype<To>().item(), want) << static_cast<double>(numbers[i]);
  }
}
template <class From>
void check_all() {
  check<std::int8_t, From>(), check<std::uint8_t, From>(), check<std::int16_t, From>();
  check<std::uint16_t, From>(), check<std::int32_t, From>(), check<std::uint32_t, From>();
  check<std::int64_t, From>(), check<std::uint64_t, From>();
}

TEST(Saturation, OfFloats) { check_all<float>(); }
TEST(Saturation, OfDoubles) { check_all<double>(); }
TEST(Saturation, OfHalves) { check_all<half>(), check_all<bfloat16>(); }
TEST(Saturation, OfComplexNumbers) {
  using Z = std::complex<double>;
  const double inf = std::numeric_limits<double>::infinity();
  const Array<Z> z = {Z(-1.5, 1), Z(inf, 3), Z(300, 0)};
  EXPECT_EQ(z.astype<std::uint8_t>().to_vector(), (std::vector<std::uint8_t>{0, 255, 255}));
}

}  // namespace saturation
