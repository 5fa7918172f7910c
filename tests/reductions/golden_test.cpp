// Reductions against JAX's values, every option of the golden table.

#include "nax/nn/softmax.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/numpy/reductions/max_min.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "reductions/check.hpp"

namespace golden_test {

using nax::Axis;
using nax::none;

// f(x, axis, keepdims) for the axes that every reduction has records of.
template <class T, class F>
void axes(const std::string& name, F f) {
  const std::string dtype = std::string("/") + check::tag<T>();
  const auto one = [&](const std::string& tag, const Axis& axis, bool keepdims) {
    const std::string record = name + tag + dtype;
    check::expect(record, f(check::input<T>(record + "/in0"), axis, keepdims));
  };
  one(".axis=0", 0, false);
  one(".axis=-1", -1, false);
  one(".axis=1.keepdims", 1, true);
  one(".axis=(0,2)", {0, 2}, false);
  one(".axis=(-1,0).keepdims", {-1, 0}, true);
  one(".keepdims", none, true);
  one(".0d", none, false);
  one(".empty.axis=1", 1, false);
  if (name != "max" && name != "min") one(".empty.axis=0", 0, false);
  if constexpr (std::is_same_v<T, float>) one(".long", none, false);
}

template <class T>
class Reductions : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Reductions, Floats);

#define AXES(function)                                                            \
  axes<TypeParam>(#function, [](const auto& x, const Axis& axis, bool keepdims) { \
    return nax::function(x, {.axis = axis, .keepdims = keepdims});                \
  })

TYPED_TEST(Reductions, Sum) { AXES(sum); }
TYPED_TEST(Reductions, Mean) { AXES(mean); }
TYPED_TEST(Reductions, Max) { AXES(max); }
TYPED_TEST(Reductions, Min) { AXES(min); }
TYPED_TEST(Reductions, Any) { AXES(any); }
TYPED_TEST(Reductions, All) { AXES(all); }
TYPED_TEST(Reductions, Logsumexp) { AXES(logsumexp); }

TYPED_TEST(Reductions, InitialAndWhere) {
  using T = TypeParam;
  const std::string dtype = std::string("/") + check::tag<T>();
  const auto x = [&](const std::string& name) { return check::input<T>(name + dtype + "/in0"); };
  const auto mask = [&](const std::string& name) { return check::input<bool>(name + dtype + "/in1"); };
  std::string name = "sum.axis=1.initial=1.5";
  check::expect(name + dtype, nax::sum(x(name), {.axis = 1, .initial = T(1.5)}));
  name += ".where";
  check::expect(name + dtype, nax::sum(x(name), {.axis = 1, .initial = T(1.5), .where = mask(name)}));
  name = "max.axis=1.initial=0";
  check::expect(name + dtype, nax::max(x(name), {.axis = 1, .initial = T(0)}));
  name += ".where";
  check::expect(name + dtype, nax::max(x(name), {.axis = 1, .initial = T(0), .where = mask(name)}));
  name = "min.axis=1.initial=0.where";
  check::expect(name + dtype, nax::min(x(name), {.axis = 1, .initial = T(0), .where = mask(name)}));
  name = "mean.axis=1.where";
  check::expect(name + dtype, nax::mean(x(name), {.axis = 1, .where = mask(name)}));
  for (name = "max.nan"; name != ""; name = name == "max.nan" ? "min.nan" : "")
    check::expect(name + dtype, name == "max.nan" ? nax::max(x(name)) : nax::min(x(name)));
  name = "logsumexp.large";
  check::expect(name + dtype, nax::logsumexp(x(name), {.axis = 1}));
  name = "logsumexp.-inf";
  check::expect(name + dtype, nax::logsumexp(x(name), {.axis = 1}));
}

TYPED_TEST(Reductions, Softmax) {
  const std::string dtype = std::string("/") + check::tag<TypeParam>();
  for (const std::string tag : {"", ".axis=0", ".large"}) {
    const int axis = tag == ".axis=0" ? 0 : -1;
    std::string name = "softmax" + tag + dtype;
    check::expect(name, nax::nn::softmax(check::input<TypeParam>(name + "/in0"), {.axis = axis}));
    name = "log_softmax" + tag + dtype;
    check::expect(name, nax::nn::log_softmax(check::input<TypeParam>(name + "/in0"), {.axis = axis}));
  }
}

TEST(ReductionTypes, SmallIntegersAddIn32Bits) {
  const auto axis1 = [](auto zero, const char* dtype) {
    using T = decltype(zero);
    const std::string d = std::string(".axis=1/") + dtype;
    const auto x = [&](const char* f) { return check::input<T>(f + d + "/in0"); };
    check::expect("sum" + d, nax::sum(x("sum"), {.axis = 1}));
    check::expect("max" + d, nax::max(x("max"), {.axis = 1}));
    check::expect("min" + d, nax::min(x("min"), {.axis = 1}));
    check::expect("any" + d, nax::any(x("any"), {.axis = 1}));
  };
  axis1(std::int8_t{}, "i8");
  axis1(std::int32_t{}, "i32");
  axis1(std::int64_t{}, "i64");
  axis1(std::uint8_t{}, "u8");
  check::expect("sum/bool", nax::sum(check::input<bool>("sum/bool/in0")));
  check::expect("max/bool", nax::max(check::input<bool>("max/bool/in0")));
  check::expect("all/bool", nax::all(check::input<bool>("all/bool/in0")));
  check::expect("mean/bool", nax::mean(check::input<bool>("mean/bool/in0")));
  check::expect("mean/i32", nax::mean(check::input<std::int32_t>("mean/i32/in0")));
}

TEST(ReductionTypes, HalfAndComplex) {
  using nax::half;
  using Complex = std::complex<float>;
  check::expect("sum/f16", nax::sum(check::input<half>("sum/f16/in0"), {.axis = -1}));
  check::expect("mean/f16", nax::mean(check::input<half>("mean/f16/in0"), {.axis = -1}));
  check::expect("max/f16", nax::max(check::input<half>("max/f16/in0"), {.axis = -1}));
  check::expect("logsumexp/bf16",
                nax::logsumexp(check::input<nax::bfloat16>("logsumexp/bf16/in0"), {.axis = -1}));
  check::expect("sum/c64", nax::sum(check::input<Complex>("sum/c64/in0")));
  check::expect("mean/c64", nax::mean(check::input<Complex>("mean/c64/in0")));
}

}  // namespace golden_test

#undef AXES
