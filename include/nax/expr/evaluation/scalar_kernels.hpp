#pragma once

#include "nax/expr/evaluation/kernels.hpp"

// The kernels of an expression for a single element. Arithmetic alone has kernels of its own, which spare it
// the general ones' padding; they too compute in packets, of copies of the element, so that a number has the
// value that it would have in an array.
NAX_BEGIN
namespace detail {

template <class C>
struct FirstLane : PacketLane<C> {
  template <class T>
  [[gnu::always_inline]] static simd::Packet<C> load(const void* leaf, std::int64_t) {
    return simd::Packet<C>(*static_cast<const C*>(leaf));
  }
  template <class T>
  [[gnu::always_inline]] static void store(const simd::Packet<C>& x, void* out, std::int64_t) {
    *static_cast<C*>(out) = simd::uniform(x);
  }
};

template <class E>
void scalar_forward_kernel(const void* constants, const void* const* leaves, void* out, std::int64_t) {
  using T = typename E::value_type;
  using Lane = FirstLane<T>;
  Lane::template store<T>(Root<Lane, E>(LeafSource{constants, leaves}, 0).value, out, 0);
}

template <class E>
void scalar_pull_kernel(const void* constants, const void* const* leaves, const void* g, void* const* grads,
                        unsigned added, void*, std::int64_t) {
  using T = typename E::value_type;
  using Lane = FirstLane<T>;
  StoreSink<Lane> sink{grads, added, 0};
  pull_from(Root<Lane, E>(LeafSource{constants, leaves}, 0), Lane::template load<T>(g, 0), sink);
}

template <class E>
inline constexpr bool has_scalar_kernels =
    std::is_same_v<packet_element_t<E>, typename E::value_type>&& kernel_lane_t<E>::width > 1 &&
    Functions<E>::value == 0 && AllLeaves<typename E::value_type, E>::are;
template <class E>
constexpr cpu::ForwardKernel scalar_forward_kernel_of() {
  if constexpr (has_scalar_kernels<E>)
    return scalar_forward_kernel<E>;
  else
    return forward_kernel_of<E>();
}
template <class E>
constexpr cpu::PullKernel scalar_pull_kernel_of() {
  if constexpr (has_scalar_kernels<E>)
    return scalar_pull_kernel<E>;
  else
    return pull_kernel_of<E>();
}

}  // namespace detail
NAX_END
