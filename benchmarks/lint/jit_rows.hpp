#pragma once

// Rows of lint.sh --jit, of float and double: the inputs are those of lint.hpp.

#include <algorithm>
#include <chrono>

#include "jit_row.hpp"

namespace bench::lint {

inline constexpr std::array<std::int64_t, 2> jit_sizes = {262'144, 64};

template <class T, class X>
auto in_type(const X& x) {
  if constexpr (std::is_same_v<X, Array<float>>)
    return x.template astype<T>();
  else if constexpr (std::is_same_v<X, Array<std::complex<float>>>)
    return x.template astype<std::complex<T>>();
  else
    return x;
}

// Calls f and g in turns; the least times of one call.
template <class F, class G>
void time_in_turns(const F& f, const G& g, double& of_f, double& of_g) {
  constexpr int rounds = 7;
  constexpr double budget = .01;
  const auto seconds = [](const auto& call, std::int64_t n) {
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < n; ++i) call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
           static_cast<double>(n);
  };
  of_f = seconds(f, 2), of_g = seconds(g, 2);
  for (int round = 0; round < rounds; ++round) {
    of_f = std::min(of_f, seconds(f, 1 + static_cast<std::int64_t>(budget / of_f)));
    of_g = std::min(of_g, seconds(g, 1 + static_cast<std::int64_t>(budget / of_g)));
  }
}

template <class F, class... X>
Compared compare(const F& f, const X&... x) {
  Compared result;
  const std::size_t before = nax::memory_stats().in_use;
  const auto bytes_of = [&](const auto& call) {
    call();
    nax::reset_peak_memory();
    call();
    return static_cast<std::int64_t>(nax::memory_stats().peak - before);
  };
  const auto plain = [&] { [[maybe_unused]] const auto y = f(x...); };
  result.plain.bytes = bytes_of(plain);
  const auto recorded = nax::jit(f, {.required = true});
  const auto jit = [&] { [[maybe_unused]] const auto y = recorded(x...); };
  try {
    result.jit.bytes = bytes_of(jit);
    time_in_turns(plain, jit, result.plain.seconds, result.jit.seconds);
  } catch (const nax::DeviceError& why) {
    result.refusal = why.what();
  }
  return result;
}

template <class Make, class Run>
void add_types(Rows& rows, const std::string& name, Make make, Run run) {
  const auto add_type = [&]<class T>(T, const char* type) {
    for (const std::int64_t n : jit_sizes)
      rows.push_back({name, type, n, [=] {
                        const auto in = make(n);
                        return run(n, in_type<T>(in.x), in_type<T>(in.y), in.i);
                      }});
  };
  using X = decltype(make(1).x);
  if constexpr (std::is_same_v<decltype(in_type<double>(std::declval<X>())), X>) {
    add_type(0.f, "");
  } else {
    add_type(0.f, "float");
    add_type(0., "double");
  }
}

// f(x, y, i, n)
template <class Make, class F>
void add(Rows& rows, const std::string& name, Make make, F f) {
  add_types(rows, name, make, [=](std::int64_t n, const auto&... in) {
    return compare([=](const std::decay_t<decltype(in)>&... x) { return nax::tree::materialise(f(x..., n)); },
                   in...);
  });
}
// The gradient of the result's sum, by x.
template <class Make, class F>
void add_gradient(Rows& rows, const std::string& name, Make make, F f) {
  add_types(rows, name + ".grad", make,
            [=]<class X, class Y, class I>(std::int64_t n, const X& x, const Y& y, const I& i) {
              return compare(
                  [=](const X& x, const Y& y, const I& i) {
                    return nax::grad([&](const X& x) { return nax::sum(f(x, y, i, n)); })(x);
                  },
                  x, y, i);
            });
}

}  // namespace bench::lint
