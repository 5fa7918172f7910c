#pragma once

#include "nax/backend/operations.hpp"
#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/loop.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/devices/cuda/launch/unroll.hpp"
#include "nax/loops/threefry.hpp"
#include "nax/rules/quantiles.hpp"

// Random numbers: an element's counter is its place in its key's draw. A draw's function takes (key, counter)
// to an element.
NAX_BEGIN
namespace cuda {

// Keys to draw from: an array on the device, or one.
struct Keys {
  const std::uint64_t* many;
  std::uint64_t one;
};

using detail::compute_t, detail::Draw, detail::DrawKind;

// A thread draws some neighbours, whose rounds overlap, and writes them in one access.
template <class T, class Function>
struct DrawElements {
  static constexpr int per = sizeof(T) < 4 ? 4 : piece_bytes / static_cast<int>(sizeof(T));
  using Drawn = Piece<per* static_cast<int>(sizeof(T))>;
  Keys keys;
  AnyDivisor n;  // elements a key
  std::int64_t size;
  Function function;
  T* out;

  constexpr void operator()(std::int64_t i) const {
    const std::int64_t first = i * per;
    T* const to = out + first;
    if (first + per <= size && reinterpret_cast<std::uintptr_t>(to) % sizeof(Drawn) == 0) {
      Drawn drawn{};
      NAX_GPU_UNROLL
      for (int j = 0; j < per; ++j) drawn.set(j, element(first + j));
      drawn.store(reinterpret_cast<char*>(to));
    } else {
      NAX_GPU_ROLLED
      for (int j = 0; j < per && first + j < size; ++j) to[j] = element(first + j);
    }
  }

 private:
  constexpr T element(std::int64_t i) const {
    const std::int64_t row = keys.many ? n.quotient(i) : 0;
    const std::uint64_t key = keys.many ? keys.many[row] : keys.one;
    return function(key, static_cast<std::uint64_t>(i - row * n.by));
  }
};

template <class U>
struct DrawBits {
  constexpr U operator()(std::uint64_t key, std::uint64_t counter) const {
    const loops::Words words = loops::threefry(key, counter);
    if constexpr (sizeof(U) == 8)
      return static_cast<U>(loops::word_pair(words));
    else
      return static_cast<U>(words.first ^ words.second);
  }
};
template <class T>
struct DrawUniform {
  compute_t<T> low, high;
  constexpr T operator()(std::uint64_t key, std::uint64_t counter) const {
    using C = compute_t<T>;
    const loops::Words words = loops::threefry(key, counter);
    return static_cast<T>(
        detail::UniformInterval<T>(low, high)(C(detail::unit<T>(words.first, words.second))));
  }
};
template <class T, class Quantile>
struct DrawQuantile {
  DrawUniform<T> uniform;
  Quantile quantile;
  constexpr T operator()(std::uint64_t key, std::uint64_t counter) const {
    return static_cast<T>(quantile.template value<T>(static_cast<compute_t<T>>(uniform(key, counter))));
  }
};
template <class T>
struct DrawBernoulli {
  T limit;
  constexpr bool operator()(std::uint64_t key, std::uint64_t counter) const {
    const loops::Words words = loops::threefry(key, counter);
    return detail::unit<T>(words.first, words.second) < limit;
  }
};
template <class T>
struct DrawSign {
  DrawBernoulli<float> positive;
  constexpr T operator()(std::uint64_t key, std::uint64_t counter) const {
    return static_cast<T>(positive(key, counter) ? 1.f : -1.f);
  }
};
// From two draws of type U, so that the bias of the remainder is small; a span of 0 stands for all of U.
template <class T, class U>
struct DrawInteger {
  U low, span, multiplier;
  constexpr U remainder(U x) const { return span == 0 ? x : static_cast<U>(x % span); }
  constexpr T operator()(std::uint64_t key, std::uint64_t counter) const {
    const U higher = DrawBits<U>()(loops::word_pair(loops::threefry(key, 0)), counter),
            lower = DrawBits<U>()(loops::word_pair(loops::threefry(key, 1)), counter);
    const U offset = remainder(static_cast<U>(remainder(higher) * multiplier + remainder(lower)));
    return static_cast<T>(static_cast<U>(low + offset));
  }
};

class DrawLauncher {
 public:
  DrawLauncher(Device device, const Draw& draw, const Keys& keys, std::int64_t n, DType dtype,
               std::int64_t size, char* out)
      : device_(device), draw_(draw), keys_(keys), n_(n), dtype_(dtype), size_(size), out_(out) {}

  void launch_all() const {
    check_real(dtype_);
    with_type(dtype_, [&]<class T>(std::type_identity<T>) {
      if constexpr (is_floating_v<T>)
        floating<T>();
      else if constexpr (std::is_same_v<T, bool>)
        run<bool>(DrawBernoulli<float>{static_cast<float>(draw_.high)});
      else
        integral<T>();
    });
  }

 private:
  template <class T, class Function>
  void run(const Function& function) const {
    using Body = DrawElements<T, Function>;
    launch(device_, (size_ + Body::per - 1) / Body::per,
           Body{keys_, AnyDivisor(n_), size_, function, reinterpret_cast<T*>(out_)});
  }
  template <class T>
  DrawUniform<T> uniform() const {
    return {static_cast<compute_t<T>>(draw_.low), static_cast<compute_t<T>>(draw_.high)};
  }
  template <class T, class Quantile>
  void quantile(const Quantile& of = {}) const {
    run<T>(DrawQuantile<T, Quantile>{uniform<T>(), of});
  }
  template <class T>
  void floating() const {
    using C = compute_t<T>;
    switch (draw_.kind) {
      case DrawKind::uniform:
        return run<T>(uniform<T>());
      case DrawKind::normal:
        return quantile<T, rules::NormalQuantile>();
      case DrawKind::gumbel:
        return quantile<T, rules::GumbelQuantile>();
      case DrawKind::exponential:
        return quantile<T, rules::ExponentialQuantile>();
      case DrawKind::laplace:
        return quantile<T, rules::LaplaceQuantile>();
      case DrawKind::logistic:
        return quantile<T, rules::LogisticQuantile>();
      case DrawKind::cauchy:
        return quantile<T, rules::CauchyQuantile>();
      case DrawKind::clipped_normal:
        return quantile<T>(
            rules::ClippedNormalQuantile<T>{static_cast<C>(draw_.least), static_cast<C>(draw_.most)});
      case DrawKind::rademacher:
        return run<T>(DrawSign<T>{{0.5f}});
      case DrawKind::bits:
      case DrawKind::integers:
      case DrawKind::bernoulli:
        break;
    }
    refuse();
  }
  template <class T>
  void integral() const {
    using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    switch (draw_.kind) {
      case DrawKind::rademacher:
        return run<T>(DrawSign<T>{{0.5f}});
      case DrawKind::integers:
        return run<T>(DrawInteger<T, U>{static_cast<U>(draw_.offset), static_cast<U>(draw_.span),
                                        static_cast<U>(draw_.multiplier)});
      case DrawKind::bits:
        return run<T>(DrawBits<T>());
      case DrawKind::uniform:
      case DrawKind::bernoulli:
      case DrawKind::normal:
      case DrawKind::gumbel:
      case DrawKind::exponential:
      case DrawKind::laplace:
      case DrawKind::logistic:
      case DrawKind::cauchy:
      case DrawKind::clipped_normal:
        break;
    }
    refuse();
  }
  [[noreturn]] void refuse() const {
    raise<DeviceError>({"random: no draw of this kind of ", dtype_name(dtype_), " on ", device_});
  }

  Device device_;
  const Draw& draw_;
  Keys keys_;
  std::int64_t n_;
  DType dtype_;
  std::int64_t size_;
  char* out_;
};

// Each key with the number beside it.
struct FoldIn {
  const std::uint64_t* keys;
  const std::uint32_t* numbers;
  std::uint64_t* to;
  constexpr void operator()(std::int64_t i) const {
    to[i] = loops::word_pair(loops::threefry(keys[i], numbers[i]));
  }
};

}  // namespace cuda
NAX_END
