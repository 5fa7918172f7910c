#include <gtest/gtest.h>

#include <set>

#include "nax/transform/jit.hpp"
#include "support/platform.hpp"
#include "table/checks.hpp"

// jit, recorded and replayed with other numbers: a function and its gradient equal direct calls. On the CPU,
// functions that cannot be recorded are called directly, and sums may be added in another order. On a card
// recordings factor matrices by other functions of its libraries.
namespace table {
namespace {

// Whose steps or results' shapes depend on values that are read on the host: probabilities, and how many
// segments there are.
const std::set<std::string> reading = {"quantile.several", "quantile.weights",  "segment_prod",
                                       "segment_sum.full", "segment_prod.full", "segment_max.full",
                                       "segment_min.full"};

// Functions whose rows are recorded on the CPU, and not only called as they are.
const std::set<std::string> recorded = {
    "fft",           "ifft",   "rfft",     "irfft",    "hfft",     "ihfft",
    "fft2",          "ifft2",  "rfft2",    "irfft2",   "fftn",     "ifftn",
    "rfftn",         "irfftn", "max_pool", "min_pool", "avg_pool", "conv_general_dilated",
    "conv_transpose"};

// Are results of jit those of direct calls to the bit?
bool replays_exactly() {
  return platform::is_cuda() &&
         !nax::detail::accelerator_of(nax::devices("cuda")[0]).graphs().wants_plain_call();  // emulated
}

void check_replays(const Row& row, const char* what, const Vectors& f, const Operands& x,
                   const Operands& other) {
  const bool reads = reading.contains(row.name);
  int calls = 0;
  const auto fast = nax::jit([&](const Operands& at) { return ++calls, f(at); });
  try {
    for (const Operands& at : {x, other, x})
      expect_close(what, fast(at), f(at), replays_exactly() ? 0 : kExact);
    if (!platform::is_cuda() && recorded.contains(row.name.substr(0, row.name.find('.')))) {
      EXPECT_EQ(calls, 1) << what << " has a step that is not recorded";
    }
    EXPECT_FALSE(reads && platform::is_cuda()) << what << " reads nothing on the host";
  } catch (const nax::DeviceError& error) {
    EXPECT_TRUE(reads && std::string(error.what()).find("jit: ") == 0) << what << ": " << error.what();
  }
}

}  // namespace

void check_jit(const Row& row, const Operands& x, const Operands& other, Random& random) {
  const std::size_t n = x.size();
  check_replays(
      row, "jit", [&](const Operands& a) { return Operands{row.f(a)}; }, x, other);
  if (row.smooth == Smooth::no || testing::Test::HasFailure()) return;
  const auto with = [&](Operands a) {
    a.push_back(array_of(Operand{row.f(x).shape(), -1, 1}, random));
    return a;
  };
  const Vectors slope = [&](const Operands& a) {
    return gradient(row.f, Operands(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n)), a[n]);
  };
  check_replays(row, "jit of grad", slope, with(x), with(other));
}

}  // namespace table
