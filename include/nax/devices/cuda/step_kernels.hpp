#pragma once

#include <algorithm>
#include <cmath>

#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/loops/leaf_steps.hpp"
#include "nax/rules/floating.hpp"

// Steps of optimisers: all leaves of a tree in one launch. A leaf is cut into chunks, and a block of threads
// does a chunk; the table of the leaves is a parameter of the kernel, so that nothing is uploaded.
NAX_BEGIN
namespace cuda {

// The numbers of a rule in the type L that elements of type T are computed in.
template <class T, class L>
struct StepRates {
  L momentum, decay, first, first_kept, second, second_kept, eps, eps_root, rate, debias_mu, debias_nu;

  static constexpr L rounded(double x) { return static_cast<L>(static_cast<T>(x)); }

  // `mu`, `nu`: factors that make up for means that began at zero, where the host knows the count.
  constexpr StepRates(const loops::StepNumbers& n, L mu, L nu)
      : momentum(rounded(n.momentum)),
        decay(rounded(n.weight_decay)),
        first(rounded(1 - n.b1)),
        first_kept(rounded(n.b1)),
        second(rounded(1 - n.b2)),
        second_kept(rounded(n.b2)),
        eps(rounded(n.eps)),
        eps_root(rounded(n.eps_root)),
        rate(n.rate_at ? static_cast<L>(*reinterpret_cast<const T*>(n.rate_at)) : rounded(n.rate)),
        debias_mu(n.count_at ? debias(n.b1, *n.count_at) : mu),
        debias_nu(n.count_at ? debias(n.b2, *n.count_at) : nu) {}

  // 1 / (1 - decay^steps), rounded to the precision of the elements at last.
  static constexpr L debias(double decay, std::int32_t steps) {
    using std::pow;
    return static_cast<L>(static_cast<T>(1 / (1 - pow(static_cast<L>(decay), static_cast<L>(steps)))));
  }
};

// Rounds as the arrays would that the parts of a step are stored in.
template <class T>
struct StepElement {
  using L = wide_t<T>;
  L g, p, m, v;

  static constexpr L stored(L x) { return static_cast<L>(static_cast<T>(x)); }
  static constexpr L flushed(L x) { return stored(rules::flush::value(x, std::numeric_limits<L>::min())); }

  // Brings m and v up to date; the update.
  constexpr L sgd(const loops::StepNumbers& n, const StepRates<T, L>& r) {
    if (n.rule == loops::StepRule::sgd) return stored(g * -r.rate);
    m = flushed(g + r.momentum * m);
    return stored((n.rule == loops::StepRule::momentum ? m : flushed(g + r.momentum * m)) * -r.rate);
  }
  constexpr L adam(const loops::StepNumbers& n, const StepRates<T, L>& r) {
    using std::sqrt;
    m = flushed(r.first * g + r.first_kept * m);
    v = flushed(r.second * (g * g) + r.second_kept * v);
    L u = stored((m * r.debias_mu) / (sqrt(v * r.debias_nu + r.eps_root) + r.eps));
    if (n.decays) u = flushed(u + r.decay * p);
    return stored(u * -r.rate);
  }
};

inline constexpr int step_threads = 256;  // a block's

template <class T, bool is_adam>
struct StepLeaves {
  using L = wide_t<T>;
  static constexpr int most_leaves = 40;  // a kernel's parameters may take 4 KB
  static constexpr int averages = is_adam ? 2 : 1, per = piece_bytes / static_cast<int>(sizeof(T));
  static constexpr std::int64_t chunk = 4 * step_threads * per;  // elements

  loops::StepNumbers numbers;
  L debias_mu, debias_nu;
  int count;
  std::int64_t chunks[most_leaves];  // of this leaf and those before it
  loops::LeafStep leaves[most_leaves];

  template <class OneTeam>
  constexpr void operator()(const OneTeam& team, std::int64_t i) const {
    int l = 0;
    for (int end = count; l + 1 < end;) {  // the leaf whose chunk it is lies in [l, end)
      const int middle = (l + end) / 2;
      if (chunks[middle - 1] <= i)
        l = middle;
      else
        end = middle;
    }
    const loops::LeafStep& leaf = leaves[l];
    const std::int64_t begin = (l > 0 ? i - chunks[l - 1] : i) * chunk,
                       end = begin + chunk < leaf.size ? begin + chunk : leaf.size;
    const StepRates<T, L> rates(numbers, debias_mu, debias_nu);
    const bool whole = in_pieces(leaf);
    for (std::int64_t j = begin + team.thread() * per; j < end; j += team.threads() * per)
      advance(leaf, rates, j, whole && j + per <= end, end - j < per ? static_cast<int>(end - j) : per);
  }

 private:
  // Do all arrays lie at addresses that pieces may have?
  static constexpr bool in_pieces(const loops::LeafStep& leaf) {
    auto all = reinterpret_cast<std::uintptr_t>(leaf.gradient) |
               reinterpret_cast<std::uintptr_t>(leaf.params) | reinterpret_cast<std::uintptr_t>(leaf.result);
    for (int a = 0; a < averages; ++a)
      all |= reinterpret_cast<std::uintptr_t>(leaf.from[a]) | reinterpret_cast<std::uintptr_t>(leaf.to[a]);
    return all % piece_bytes == 0;
  }
  static constexpr void load(const char* from, std::int64_t j, bool whole, int n, Piece<16>& to) {
    if (!from) return;
    const char* const at = from + j * static_cast<std::int64_t>(sizeof(T));
    if (whole) {
      to = Piece<16>::load(at);
    } else {
      for (int k = 0; k < per; ++k)
        if (k < n) to.set(k, *(reinterpret_cast<const T*>(at) + k));
    }
  }
  static constexpr void store(const Piece<16>& from, char* to, std::int64_t j, bool whole, int n) {
    if (!to) return;
    char* const at = to + j * static_cast<std::int64_t>(sizeof(T));
    if (whole) {
      from.store(at);
    } else {
      for (int k = 0; k < per; ++k)
        if (k < n) *(reinterpret_cast<T*>(at) + k) = from.template get<T>(k);
    }
  }
  // The n elements from j on, in one access of each array where they are whole pieces.
  constexpr void advance(const loops::LeafStep& leaf, const StepRates<T, L>& rates, std::int64_t j,
                         bool whole, int n) const {
    Piece<16> g{}, p{}, m{}, v{};
    load(leaf.gradient, j, whole, n, g);
    load(leaf.params, j, whole, n, p);
    load(leaf.from[0], j, whole, n, m);
    if constexpr (is_adam) load(leaf.from[1], j, whole, n, v);
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int k = 0; k < per; ++k) {
      StepElement<T> x{lane(g, k), lane(p, k), lane(m, k), lane(v, k)};
      L u = L(0);
      if constexpr (is_adam)
        u = x.adam(numbers, rates);
      else
        u = x.sgd(numbers, rates);
      p.set(k, static_cast<T>(numbers.adds_to_params ? x.p + u : u));
      m.set(k, static_cast<T>(x.m));
      v.set(k, static_cast<T>(x.v));
    }
    store(p, leaf.result, j, whole, n);
    store(m, leaf.to[0], j, whole, n);
    if constexpr (is_adam) store(v, leaf.to[1], j, whole, n);
  }
  static constexpr L lane(const Piece<16>& piece, int k) { return static_cast<L>(piece.template get<T>(k)); }
};

template <class T, bool is_adam>
void launch_steps_of(Device device, const loops::StepNumbers& numbers, const loops::LeafStep* leaves,
                     int count) {
  using Body = StepLeaves<T, is_adam>;
  for (int first = 0; first < count; first += Body::most_leaves) {
    Body body{};
    body.numbers = numbers;
    if (is_adam && !numbers.count_at) {
      body.debias_mu = StepRates<T, wide_t<T>>::debias(numbers.b1, numbers.count);
      body.debias_nu = StepRates<T, wide_t<T>>::debias(numbers.b2, numbers.count);
    }
    std::int64_t chunks = 0;
    for (int l = first; l < count && body.count < Body::most_leaves; ++l) {
      chunks += (leaves[l].size + Body::chunk - 1) / Body::chunk;
      body.leaves[body.count] = leaves[l];
      body.chunks[body.count++] = chunks;
    }
    launch_teams(device, chunks, step_threads, body);
  }
}

// Precondition: a floating dtype, and no leaf without elements.
inline void launch_steps(Device device, DType dtype, const loops::StepNumbers& numbers,
                         const loops::LeafStep* leaves, int count) {
  const auto launch_of = [&]<class T>(std::type_identity<T>) {
    if (numbers.rule == loops::StepRule::adam)
      launch_steps_of<T, true>(device, numbers, leaves, count);
    else
      launch_steps_of<T, false>(device, numbers, leaves, count);
  };
  if (dtype == DType::float16) return launch_of(std::type_identity<half>());
  if (dtype == DType::bfloat16) return launch_of(std::type_identity<bfloat16>());
  if (dtype == DType::float64) return launch_of(std::type_identity<double>());
  launch_of(std::type_identity<float>());
}

}  // namespace cuda
NAX_END
