#pragma once

#include "nax/devices/cuda/device/scratch.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/reduce/reduce_kernels.hpp"
#include "nax/loops/rejection.hpp"
#include "nax/rules/sampler.hpp"

// Draws by rejection (loops/rejection.hpp), a thread an element. Transformed rejection takes three launches:
// the rounds of each element, the most of a key's draw, and the draw. A thread goes through all of these
// rounds from the first, and keeps the number that was accepted last.
NAX_BEGIN
namespace cuda {

template <class T>
struct GammaSample {
  const std::uint64_t* keys;
  std::int64_t n;
  const T* alphas;
  bool logarithm;
  T* out;
  constexpr void operator()(std::int64_t i) const {
    const std::uint64_t own = loops::child_key(keys[i / n], static_cast<std::uint64_t>(i % n));
    out[i] = loops::gamma_element<T>(own, alphas[i], logarithm);
  }
};

// The numbers of an element drawn one after another.
struct FewKeys {
  loops::RoundKeyChain<1> chain;
  constexpr std::uint64_t operator()(int) {
    std::uint64_t key = 0;
    chain.take(&key);
    return key;
  }
};
struct LastAccepted {
  std::uint64_t key, at;
  int rounds;
  template <class Attempt>
  constexpr auto operator()(const Attempt& attempt) const {
    loops::RoundKeyChain<2> chain{key, 0};
    auto last = attempt.nothing(), value = last;
    for (int round = 0; round < rounds; ++round) {
      std::uint64_t keys[2] = {};
      chain.take(keys);
      if (attempt(keys, at, value)) last = value;
    }
    return last;
  }
};

template <class T>
struct PoissonDraw {
  const float* rates;
  constexpr auto attempt(std::int64_t i) const { return loops::poisson_attempt(rates[i]); }
  constexpr T draw(std::int64_t i, std::uint64_t key, std::uint64_t at, int rounds) const {
    return loops::poisson_element<T>(rates[i], at, FewKeys{{key, 0}}, LastAccepted{key, at, rounds});
  }
};
template <class T>
struct BinomialDraw {
  const T *counts, *probabilities;
  constexpr auto attempt(std::int64_t i) const {
    return loops::binomial_attempt(counts[i], probabilities[i]);
  }
  constexpr T draw(std::int64_t i, std::uint64_t key, std::uint64_t at, int rounds) const {
    return loops::binomial_element<T>(counts[i], probabilities[i], at, FewKeys{{key, 1}},
                                      LastAccepted{key, at, rounds});
  }
};

// The round in which an element's attempt is first accepted, counted from 1.
template <class Draw>
struct SampleRounds {
  Draw draw;
  const std::uint64_t* keys;
  std::int64_t n;
  std::int32_t* to;
  constexpr void operator()(std::int64_t i) const {
    const auto attempt = draw.attempt(i);
    loops::RoundKeyChain<2> chain{keys[i / n], 0};
    auto value = attempt.nothing();
    int round = 0;
    for (bool accepted = false; !accepted && round < loops::most_rounds; ++round) {
      std::uint64_t own[2] = {};
      chain.take(own);
      accepted = attempt(own, static_cast<std::uint64_t>(i % n), value);
    }
    to[i] = round;
  }
};
template <class Draw, class T>
struct SampleElement {
  Draw draw;
  const std::uint64_t* keys;
  std::int64_t n;
  const std::int32_t* rounds;  // of each key
  T* out;
  constexpr void operator()(std::int64_t i) const {
    out[i] = draw.draw(i, keys[i / n], static_cast<std::uint64_t>(i % n), rounds[i / n]);
  }
};

template <class T, class Draw>
void launch_rounds_and_sample(Device device, const Draw& draw, const std::uint64_t* keys, std::int64_t rows,
                              std::int64_t n, char* out) {
  const Scratch each(device, static_cast<std::size_t>(rows * n) * sizeof(std::int32_t)),
      most(device, static_cast<std::size_t>(rows) * sizeof(std::int32_t));
  launch(device, rows * n, SampleRounds<Draw>{draw, keys, n, reinterpret_cast<std::int32_t*>(each.data())});
  Dims shape(1, rows), reduced(1, 0), from(1, n), to(1, 1);
  shape.push_back(n), reduced.push_back(1), from.push_back(1), to.push_back(0);
  launch_reduce(device, loops::ReduceKind::max, shape, reduced,
                {each.data(), from, DType::int32, DType::int32},
                {most.data(), to, DType::int32, DType::int32});
  launch(device, rows * n,
         SampleElement<Draw, T>{draw, keys, n, reinterpret_cast<const std::int32_t*>(most.data()),
                                reinterpret_cast<T*>(out)});
}

template <class T>
void launch_sample_of(Device device, nax::detail::Sampler kind, const std::uint64_t* keys, std::int64_t rows,
                      std::int64_t n, const char* const* parameters, char* out) {
  using enum nax::detail::Sampler;
  if constexpr (std::is_integral_v<T>) {
    launch_rounds_and_sample<T>(device, PoissonDraw<T>{reinterpret_cast<const float*>(parameters[0])}, keys,
                                rows, n, out);
  } else if (kind == binomial) {
    launch_rounds_and_sample<T>(
        device,
        BinomialDraw<T>{reinterpret_cast<const T*>(parameters[0]), reinterpret_cast<const T*>(parameters[1])},
        keys, rows, n, out);
  } else {
    launch(device, rows * n,
           GammaSample<T>{keys, n, reinterpret_cast<const T*>(parameters[0]), kind == loggamma,
                          reinterpret_cast<T*>(out)});
  }
}

// As Operations::sample. Throws DeviceError for a dtype that has no such draw.
inline void launch_sample(Device device, nax::detail::Sampler kind, const std::uint64_t* keys,
                          std::int64_t rows, std::int64_t n, DType dtype, const char* const* parameters,
                          char* out) {
  const auto run = [&]<class T>(std::type_identity<T>) {
    launch_sample_of<T>(device, kind, keys, rows, n, parameters, out);
  };
  if (kind == nax::detail::Sampler::poisson) {
    if (dtype == DType::int32) return run(std::type_identity<std::int32_t>());
    if (dtype == DType::int64) return run(std::type_identity<std::int64_t>());
  } else {
    if (dtype == DType::float32) return run(std::type_identity<float>());
    if (dtype == DType::float64) return run(std::type_identity<double>());
  }
  raise<DeviceError>({nax::detail::name_of(kind), ": no draw of ", dtype_name(dtype), " on ", device});
}

}  // namespace cuda
NAX_END
