#include <gtest/gtest.h>

#include <set>

#include "nax/transform/jit.hpp"
#include "support/platform.hpp"
#include "table/checks.hpp"

// jit, recorded and replayed with other numbers: a function and its gradient equal direct calls. On the CPU,
// functions that cannot be recorded are called directly, and sums may be added in another order.
namespace table {
namespace {

// Whose steps or results' shapes depend on values that are read on the host: probabilities, and how many
// segments there are.
const std::set<std::string> reading = {"quantile.several", "segment_prod"};

void check_replays(const char* what, const Vectors& f, const Operands& x, const Operands& other, bool reads) {
  const auto fast = nax::jit(f);
  try {
    for (const Operands& at : {x, other, x})
      expect_close(what, fast(at), f(at), platform::is_cuda() ? 0 : kExact);
    EXPECT_FALSE(reads && platform::is_cuda()) << what << " reads nothing on the host";
  } catch (const nax::DeviceError& error) {
    EXPECT_TRUE(reads && std::string(error.what()).find("jit: ") == 0) << what << ": " << error.what();
  }
}

}  // namespace

void check_jit(const Row& row, const Operands& x, const Operands& other, Random& random) {
  const bool reads = reading.contains(row.name);
  const std::size_t n = x.size();
  check_replays(
      "jit", [&](const Operands& a) { return Operands{row.f(a)}; }, x, other, reads);
  if (row.smooth == Smooth::no || testing::Test::HasFailure()) return;
  const auto with = [&](Operands a) {
    a.push_back(array_of(Operand{row.f(x).shape(), -1, 1}, random));
    return a;
  };
  const Vectors slope = [&](const Operands& a) {
    return gradient(row.f, Operands(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n)), a[n]);
  };
  check_replays("jit of grad", slope, with(x), with(other), reads);
}

}  // namespace table
