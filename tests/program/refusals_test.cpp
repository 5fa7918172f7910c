#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <nax/nax.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/refusal.hpp"

// Refusals of recordings: arrays of one that has ended, and functions that are called as they are.
namespace refusals_test {
using namespace nax;
using D = Array<double>;

constexpr const char* ended =
    "jit: this array belongs to a recording of jit that has ended, and has no elements; return it from the "
    "function instead";

// 2 x of a recording that has ended.
D left_behind(const D& x) {
  D left;
  jit([&](const D& v) { return left = D(v * 2.), D(v + 1.); })(x);
  return left;
}

TEST(Refusals, AnArrayOfAnEndedRecordingIsCalledSo) {
  const D x{1, 2, 3}, m{{1, 2}, {3, 4}}, left = left_behind(x), square = left_behind(m);
  const std::vector<std::function<void()>> uses = {
      [&] { left.to_vector(); },
      [&] { left.data(); },
      [&] { left(0).item(); },
      [&] { std::ostringstream() << left; },
      [&] { eval(left + 1.); },
      [&] { eval(left + x); },
      [&] { eval(x * left); },
      [&] { sum(left); },
      [&] { max(left); },
      [&] { sort(left); },
      [&] { argsort(left); },
      [&] { cumsum(left); },
      [&] { prod(left); },
      [&] { unique(left); },
      [&] { x.at(0).set(left(0)); },
      [&] { left.at(0).set(1.); },
      [&] { x.at(0).add(left(0)); },
      [&] {
        take(left, Array<int>{0, 1});
      },
      [&] { x(left.astype<int>()); },
      [&] {
        concatenate({x, left});
      },
      [&] {
        stack({left, x});
      },
      [&] { matmul(square, m); },
      [&] { matmul(m, square); },
      [&] { einsum("ij,jk->ik", m, square); },
      [&] { eval(where(left > 0., left, x)); },
      [&] { grad([](const D& v) { return D(sum(v * v)); })(left); },
      [&] { grad([&](const D& v) { return D(sum(v * left)); })(x); },
      [&] { vmap([](const D& v) { return D(v * 2.); })(left); },
      [&] { linalg::inv(square); },
      [&] { linalg::qr(square); },
      [&] { fft::fft(left); },
      [&] { left.astype<float>(); },
      [&] {
        D copy = left;
        copy += 1.;
      },
      [&] { jit([&](const D& v) { return D(v + left); })(x); },
      [&] { jit([&](const D& v) { return D(v * 3.); })(left); },
  };
  for (std::size_t i = 0; i < uses.size(); ++i)
    EXPECT_EQ(refusal<DeviceError>(uses[i]), ended) << "use " << i;
}

TEST(Refusals, APullbackOfAnEndedRecordingIsCalledSo) {
  const D x{1, 2, 3};
  using Pull = decltype(vjp([](const D& v) { return D(sin(v) * v); }, x).second);
  std::vector<Pull> kept;
  jit([&](const D& v) {
    auto [y, pull] = vjp([](const D& u) { return D(sin(u) * u); }, v);
    kept.push_back(pull);
    return y;
  })(x);
  EXPECT_EQ(refusal<DeviceError>([&] { kept[0](D{1, 1, 1}); }), ended);
  // Of a number.
  using PullNumber = decltype(vjp([](const D& v) { return D(sin(v) * v); }, D(1.)).second);
  std::vector<PullNumber> numbers;
  jit([&](const D& v) {
    auto [y, pull] = vjp([](const D& u) { return D(sin(u) * u); }, v);
    numbers.push_back(pull);
    return y;
  })(D(1.));
  EXPECT_EQ(refusal<DeviceError>([&] { numbers[0](1.); }), ended);
}

TEST(Refusals, ErrorsOfTheFunctionReachTheCallerAtOnce) {
  int calls = 0;
  const auto fails = jit([&](const D& x) {
    ++calls;
    if (x.ndim() == 1) throw std::runtime_error("mine");
    return D(x * 2.);
  });
  EXPECT_EQ(refusal<std::runtime_error>([&] { fails(D{1, 2}); }), "mine");
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(fails(D{1, 2}), std::runtime_error);
  EXPECT_EQ(calls, 2);
  struct Other {};
  const auto throws = jit([&](const D& x) -> D { return ++calls, throw Other(), x; });
  EXPECT_THROW(throws(D{1}), Other);
  EXPECT_EQ(calls, 3);
  const auto shapes = jit([&](const D& x) { return ++calls, D(x + D{1, 2, 3}); });
  EXPECT_THROW(shapes(D{1, 2}), ShapeError);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(fails(D{{1.}}).item(), 2);
}

TEST(Refusals, WhatCannotBeRecordedIsCalledAsItIsAndCounted) {
  const JitReport before = jit_report();
  const D x{3, 1, 2};
  int calls = 0;
  const auto reads = jit([&](const D& v) { return ++calls, D(v * v(0).item()); });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reads(x).to_vector(), (std::vector<double>{9, 3, 6}));
  EXPECT_EQ(calls, 4);  // one recording in vain
  const auto goes_on = jit([&](const D& v) {
    try {
      return D(v * v(0).item());
    } catch (const std::exception&) {
      return D(v * 0.);
    }
  });
  EXPECT_EQ(goes_on(x).to_vector(), (std::vector<double>{9, 3, 6}));
  const auto prints = jit([&](const D& v) { return std::ostringstream() << v, D(v + 1.); });
  EXPECT_EQ(prints(x).to_vector(), (std::vector<double>{4, 2, 3}));
  const auto moves = jit([&](const D& v) { return D(device_put(v, devices("cpu")[0]) + 1.); });
  EXPECT_EQ(moves(x).to_vector(), (std::vector<double>{4, 2, 3}));
  const auto plain = jit([](const D& v) { return D(v * 2.); });
  plain(x);

  const JitReport after = jit_report();
  EXPECT_GE(after.recordings, before.recordings + 1);
  const std::string reason = ": reads an array's elements, which are not there while jit records";
  const auto count = [&](const std::string& text) {
    const auto in = [&](const JitReport& report) {
      const auto found = report.plain.find(text);
      return found == report.plain.end() ? 0 : found->second;
    };
    return in(after)-in(before);
  };
  EXPECT_EQ(count("item" + reason), 4);
  EXPECT_EQ(count("to_string" + reason), 1);
  std::ostringstream text;
  text << after;
  EXPECT_NE(text.str().find(": item" + reason + '\n'), std::string::npos) << text.str();
}

// The reason for which f is called as it is, or "recorded".
template <class F, class... X>
std::string why_plain(const F& f, const X&... x) {
  const JitReport before = jit_report();
  jit(f)(x...);
  for (const auto& [reason, count] : jit_report().plain)
    if (const auto at = before.plain.find(reason); at == before.plain.end() || at->second < count)
      return reason;
  return "recorded";
}

TEST(Refusals, AReasonNamesTheFunctionOrTheArgument) {
  const D x{3, 1, 2};
  const std::string reads = ": reads an array's elements, which are not there while jit records";
  EXPECT_EQ(why_plain([](const D& v) { return D(v + 1.); }, x), "recorded");
  EXPECT_EQ(why_plain([](const D& v) { return D(v(0) > 1. ? v : -v); }, x), "bool" + reads);
  EXPECT_EQ(why_plain([](const D& v) { return D(v * v.data()[0]); }, x), "data" + reads);
  EXPECT_EQ(why_plain([](const D& v) { return D(v * v.to_vector()[0]); }, x), "to_vector" + reads);
  EXPECT_EQ(why_plain([](const D& v) { return to_string(v); }, x),
            "jit: the function returns something else than a tree of arrays");
}

TEST(Refusals, WhereRecordingIsRequiredTheReasonIsThrown) {
  const D x{3, 1, 2};
  const auto reads = jit([](const D& v) { return D(v * v(0).item()); }, {.required = true});
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(refusal<DeviceError>([&] { reads(x); }),
              "item: reads an array's elements, which are not there while jit records");
  const auto number = jit([](const D& v) { return to_string(v); }, {.required = true});
  EXPECT_EQ(refusal<DeviceError>([&] { number(x); }),
            "jit: the function returns something else than a tree of arrays");
  // Within another transform, which records it, nothing is refused.
  EXPECT_EQ(grad([&](const D& v) { return D(sum(reads(v))); })(x).to_vector(),
            (std::vector<double>{3, 3, 3}));
  // An index out of range is an error of the function itself.
  const auto picks = jit([](const D& v, const Array<int>& i) { return D(v(i)); }, {.required = true});
  EXPECT_EQ(picks(x, Array<int>{2}).to_vector(), (std::vector<double>{2}));
  EXPECT_THROW(picks(x, Array<int>{3}), IndexError);
}

// Memory that others own serves as an argument, and stays as it is.
TEST(Refusals, ForeignMemoryIsRecorded) {
  alignas(64) double numbers[6] = {1, 2, 3, 4, 5, 6};
  int calls = 0;
  const auto f = jit([&](const D& x) { return ++calls, D(matmul(x, D(x.T())) + sum(x)); },
                     {.donate_argnums = {0}, .required = true});
  const D mine = D(arange<double>(1., 7.).reshape({2, 3}));
  const std::vector<double> want = D(matmul(mine, D(mine.T())) + sum(mine)).to_vector();
  EXPECT_EQ(f(from_device(numbers, {2, 3})).to_vector(), want);
  EXPECT_EQ(f(from_dlpack<double>(to_dlpack(mine))).to_vector(), want);
  EXPECT_EQ(f(D(from_device(numbers, {3, 2}).reshape({2, 3}))).to_vector(), want);
  EXPECT_EQ(f(copy(mine)).to_vector(), want);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(numbers[5], 6);
  // A result that is the argument shares its memory.
  const auto same = jit([](const D& x) { return std::pair{x, D(x * 2.)}; }, {.required = true});
  EXPECT_EQ(same(from_device(numbers, {6})).first.data(), numbers);
}

TEST(Refusals, ArraysOfMappedFilesAreRecorded) {
  const std::string path = testing::TempDir() + "nax_refusals_" + std::to_string(::getpid()) + ".safetensors";
  const D x{{1, 2, 3}, {4, 5, 6}};
  io::save_safetensors(path, std::map<std::string, D>{{"x", x}});
  {
    const auto f =
        jit([](const std::map<std::string, D>& all) { return D(sin(all.at("x")) * 2.); }, {.required = true});
    std::map<std::string, D> tree{{"x", zeros<double>({2, 3})}};
    io::load_safetensors(path, tree);
    EXPECT_TRUE(allclose(f(tree), D(sin(x) * 2.), {.rtol = 1e-14}).item());
  }
  std::remove(path.c_str());
}

TEST(Refusals, FunctionsWhoseThreadsUseRecordedArraysAreCalledAsTheyAre) {
  const auto f =
      jit([](const D& x) { return std::async(std::launch::async, [&] { return D(x * 2. + 1.); }).get(); });
  for (int i = 0; i < 2; ++i) EXPECT_EQ(f(D{1, 2}).to_vector(), (std::vector<double>{3, 5}));
}

TEST(Refusals, ConstantsGoToTheRecordingsDevice) {
  int calls = 0;
  const auto f = jit([&](const D& x) { return ++calls, D(device_put(D{1, 2}, x.device()) + x); });
  for (int i = 0; i < 2; ++i) EXPECT_EQ(f(D{1, 2}).to_vector(), (std::vector<double>{2, 4}));
  EXPECT_EQ(calls, 1);
}

}  // namespace refusals_test
