// Every pair of element types, and every element type next to a C++ number, against JAX's answer.

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "nax/core/dtype.hpp"
#include "support/golden.hpp"

namespace promotion_test {

using nax::DType;

constexpr std::array<const char*, 15> codes = {"bool", "i8",  "i16",  "i32", "i64", "u8",  "u16", "u32",
                                               "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};

TEST(Promotion, MatchesJax) {
  for (std::size_t a = 0; a < codes.size(); ++a) {
    const auto expect = [&](const char* b, DType got) {
      const std::string record = std::string("promote/") + codes[a] + "/" + b;
      EXPECT_EQ(codes[static_cast<std::size_t>(got)], golden::get("promotion", record).dtype) << record;
    };
    const DType x = static_cast<DType>(a);
    for (std::size_t b = 0; b < codes.size(); ++b) expect(codes[b], nax::promote(x, static_cast<DType>(b)));
    expect("weak_int", nax::detail::weak_promote(x, nax::Kind::integer));
    expect("weak_float", nax::detail::weak_promote(x, nax::Kind::floating));
    expect("weak_complex", nax::detail::weak_promote(x, nax::Kind::complex));
  }
}

}  // namespace promotion_test
