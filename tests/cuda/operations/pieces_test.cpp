#include "nax/devices/cuda/launch/pieces.hpp"

#include "both_devices.hpp"

// Loops of kernels: division by multiplication, parts of long loops, and operands that are read in pieces.
namespace pieces_test {

using namespace nax;
using namespace both_devices;

TEST(Divisors, DivideEveryNumberBelowTwoToThe31) {
  std::uint32_t seed = 1;
  const auto next = [&] { return seed = seed * 1664525u + 1013904223u; };
  std::vector<std::uint32_t> numbers = {
      0, 1, 2, 3, 7, 1u << 16, (1u << 30) - 1, 1u << 30, (1u << 31) - 2, (1u << 31) - 1};
  for (int i = 0; i < 2000; ++i) numbers.push_back(next() >> (1 + i % 30));
  std::vector<std::uint32_t> divisors = {1u << 31};
  for (std::uint32_t by : numbers)
    if (by > 0) divisors.push_back(by);
  for (std::uint32_t by : divisors) {
    const cuda::Divisor divisor(by);
    for (std::uint32_t i : numbers) {
      ASSERT_EQ(divisor.quotient(i), i / by) << i << " / " << by;
      const std::uint32_t multiple = i / by * by;  // where a quotient changes
      ASSERT_EQ(divisor.quotient(multiple), multiple / by);
      if (multiple > 0) {
        ASSERT_EQ(divisor.quotient(multiple - 1), (multiple - 1) / by);
      }
    }
  }
}

TEST(Divisors, DivideNumbersOf64Bits) {
  constexpr std::int64_t edge = std::int64_t{1} << 31;
  std::vector<std::int64_t> numbers = {0, 1, 2, 7, edge - 1, edge, edge + 1, 3 * edge, std::int64_t{1} << 62};
  for (const std::int64_t by : numbers) {
    if (by == 0) continue;
    const cuda::AnyDivisor divisor(by);
    for (const std::int64_t i : numbers) {
      EXPECT_EQ(divisor.quotient(i), i / by) << i << " / " << by;
      std::int64_t rest = i;
      EXPECT_EQ(divisor.split(rest), i % by) << i << " / " << by;
      EXPECT_EQ(rest, i / by);
    }
  }
  EXPECT_EQ(cuda::AnyDivisor(0).by, 0);
}

TEST(LongLoops, AreSplitIntoPartsThatVisitEachElementOnce) {
  Dims extents, strides;
  for (std::int64_t d : {3, 5, 7}) extents.push_back(d);
  for (std::int64_t d : {100, 10, 1}) strides.push_back(d);
  std::vector<float> data(300);
  const loops::Operand operand{reinterpret_cast<char*>(data.data()), strides, DType::float32, DType::float32};
  const auto loop = cuda::make_loop<1>(extents, &operand);
  int parts = 0;
  const auto add = [&](const cuda::Loop<1>& part) {
    ++parts;
    ASSERT_LE(part.size, 8);
    for (std::int64_t i = 0; i < part.size; ++i) {
      char *at[1], *other[1];
      part.locate(i, at);
      part.locate_any(i, other);
      ASSERT_EQ(at[0], other[0]);
      ++*reinterpret_cast<float*>(at[0]);
    }
  };
  cuda::for_each_narrow(loop, add, 8);
  EXPECT_GE(parts, 14);
  for (int i = 0; i < 300; ++i)
    ASSERT_EQ(data[static_cast<std::size_t>(i)], i / 10 % 10 < 5 && i % 10 < 7) << i;
}

template <int operands>
bool in_pieces(const Dims& shape, const loops::Operand (&list)[operands], cuda::PieceLoop<operands>& to) {
  return cuda::in_pieces(cuda::make_loop<operands>(shape, list), list, 4, to);
}

TEST(Pieces, TakeRowsAndRepeatedRows) {
  alignas(16) float data[64];
  char* const at = reinterpret_cast<char*>(data);
  const auto dims = [](std::initializer_list<std::int64_t> list) { return Dims(list.begin(), list.end()); };
  const auto operand = [&](std::initializer_list<std::int64_t> strides, char* from) {
    return loops::Operand{from, dims(strides), DType::float32, DType::float32};
  };
  cuda::PieceLoop<2> loop;
  const loops::Operand row[] = {operand({0, 1}, at), operand({8, 1}, at)};
  ASSERT_TRUE(in_pieces(dims({4, 8}), row, loop));
  EXPECT_EQ(loop.pieces.size, 8);
  EXPECT_EQ(loop.repeated, 0u);
  const loops::Operand column[] = {operand({1, 0}, at), operand({8, 1}, at)};
  ASSERT_TRUE(in_pieces(dims({4, 8}), column, loop));
  EXPECT_EQ(loop.repeated, 1u);
  const loops::Operand line[] = {operand({1}, at), operand({1}, at)};
  ASSERT_TRUE(in_pieces(dims({7}), line, loop));  // cut short
  EXPECT_EQ(loop.pieces.size, 2);
  EXPECT_FALSE(in_pieces(dims({4, 6}), row, loop));  // a piece would end in the next row
  const loops::Operand odd[] = {operand({0, 1}, at + 4), operand({8, 1}, at)};
  EXPECT_FALSE(in_pieces(dims({4, 8}), odd, loop));
  const loops::Operand steps[] = {operand({6, 1}, at), operand({8, 1}, at)};
  EXPECT_FALSE(in_pieces(dims({4, 8}), steps, loop));
  const loops::Operand far[] = {operand({16, 2}, at), operand({8, 1}, at)};
  EXPECT_FALSE(in_pieces(dims({4, 8}), far, loop));
}

template <class T>
void expect_broadcasts(double tolerance) {
  for (const int columns : {1, 3, 8, 16, 17}) {
    const auto x = [&](auto put) {
      return put(waves(5 * columns).template astype<T>()).reshape({5, columns});
    };
    const auto row = [&](auto put) { return put(waves(columns).template astype<T>()); };
    const auto column = [](auto put) { return put(waves(5).template astype<T>()).reshape({5, 1}); };
    expect_same([&](auto put) { return x(put) * row(put) + column(put); }, tolerance);
    expect_same(
        [&](auto put) { return x(put)(slice(none, none), slice(1, none)) + row(put)(slice(1, none)); },
        tolerance);
    expect_same([&](auto put) { return x(put) > row(put); });
    expect_same([&](auto put) { return where(x(put) > row(put), x(put), column(put)); });
    const auto loss = [](const Array<T>& a, const Array<T>& b, const Array<T>& c) {
      return sum(((a * b + c) * a).template astype<float>());
    };
    const auto expect_gradient = [&](const auto& of) {
      expect_same([&](auto put) { return of(x(put), row(put), column(put)); }, tolerance * 8);
    };
    expect_gradient([&](const auto& a, const auto& b, const auto& c) {
      return grad([&](const Array<T>& v) { return loss(v, b, c); })(a);
    });
    expect_gradient([&](const auto& a, const auto& b, const auto& c) {
      return grad([&](const Array<T>& v) { return loss(a, v, c); })(b);
    });
    expect_gradient([&](const auto& a, const auto& b, const auto& c) {
      return grad([&](const Array<T>& v) { return loss(a, b, v); })(c);
    });
  }
}
TEST(Pieces, BroadcastOperandsOfFloats) { expect_broadcasts<float>(1e-6); }
TEST(Pieces, BroadcastOperandsOfHalves) { expect_broadcasts<nax::half>(1e-2); }

TEST(Pieces, CopiesConversionsAndRowsByIndex) {
  const auto x = [](auto put) { return put(waves(6 * 32)).reshape({6, 32}); };
  expect_same([&](auto put) { return eval(x(put)(slice(none, none), slice(8, 24))); });
  expect_same(
      [&](auto put) { return eval(x(put)(slice(none, none), slice(8, 24)).template astype<nax::half>()); });
  expect_same([&](auto put) { return x(put).template astype<bfloat16>().template astype<float>(); });
  expect_same(
      [&](auto put) { return (x(put) * 100.f).template astype<std::uint8_t>().template astype<float>(); });
  expect_same([&](auto put) { return eval(broadcast_to(x(put)(0), {3, 32})); });
  expect_same([&](auto put) { return take(x(put), put(Array<int>{5, 0, 0, -1}), {.axis = 0}); });
  expect_same([&](auto put) { return take(x(put), put(Array<int>{31, 0, 7}), {.axis = 1}); });
}

}  // namespace pieces_test
