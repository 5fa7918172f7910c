#pragma once

#include "nax/backend/expression_slots.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/expr/evaluation/kernels.hpp"
#if defined(NAX_CUDA_FORMULAS) && !NAX_CUDA_KERNELS
#include "nax/devices/cuda/expressions/device_formulas.hpp"
#endif

// The kernels of an expression for a GPU. There are four: forward and backward, each for operands that lie in
// rows or repeat along them (a thread takes pieces of 16 bytes) and for operands of any strides (a thread
// takes an element). They exist in files that are compiled as CUDA, or for the emulated device; such a file
// puts their launchers into the expression's slot before main begins. A C++ file with NAX_CUDA_FORMULAS puts
// there what compiles kernels when they first run (device_formulas.hpp).

#if NAX_CUDA_KERNELS

#include <algorithm>

#include "nax/devices/cuda/launch/complex_parts.hpp"
#include "nax/devices/cuda/launch/loop.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/rules/complex_number.hpp"

NAX_BEGIN
namespace detail {

// The type as which a thread reads an element, and the one in which it computes.
template <class T>
struct DeviceNumber {
  using Stored = T;
  using Lane = lane_t<T>;
};
template <class R>
struct DeviceNumber<std::complex<R>> {
  using Stored = rules::numbers::Complex<R>;
  using Lane = Stored;
};
template <class T>
using device_stored_t = typename DeviceNumber<T>::Stored;
template <class T>
using device_lane_t = typename DeviceNumber<T>::Lane;

// A thread's values: one element each.
struct DeviceLaneBase : ScalarLane {
  template <class T>
  using Value = device_lane_t<T>;

  template <class T>
  static constexpr Value<T> constant(const void* slot) {
    device_stored_t<T> x;
    std::memcpy(&x, slot, sizeof x);
    return static_cast<Value<T>>(x);
  }
  template <class To, class From>
  static constexpr Value<To> cast(const Value<From>& x) {
    return cpu::convert_element<Value<From>, Value<To>>(x);
  }
};

// Elements as they are stored, computed in their lane type.
struct DeviceLane : DeviceLaneBase {
  template <class T>
  static constexpr Value<T> load(const void* leaf, std::int64_t i) {
    return static_cast<Value<T>>(static_cast<const device_stored_t<T>*>(leaf)[i]);
  }
  template <class T>
  static constexpr void store(const Value<T>& x, void* out, std::int64_t i) {
    static_cast<device_stored_t<T>*>(out)[i] = static_cast<device_stored_t<T>>(x);
  }
};

// Stores shares, or adds them to what is there. Gradients are of the lanes' types.
struct DeviceSink {
  char* const* grads;
  unsigned added;
  std::int64_t i;
  template <class T, int L>
  constexpr void deposit(const device_lane_t<T>& g) {
    using Lane = device_lane_t<T>;
    if (!grads[L]) return;
    Lane& to = reinterpret_cast<Lane*>(grads[L])[i];
    to = added >> L & 1 ? static_cast<Lane>(to + g) : g;
  }
};

// Bytes of an element: of leaf l as it is stored, and of its gradient.
template <class E>
constexpr std::size_t leaf_bytes(int l) {
  return dtype_size(leaf_table<E>.stored[l]);
}
template <class E>
constexpr std::size_t gradient_bytes(int l) {
  return leaf_bytes<E>(l) == 2 ? 4 : leaf_bytes<E>(l);
}

template <class E>
struct DeviceForward {
  static constexpr int leaves = Tree<E>::leaves;
  cuda::Loop<leaves + 1> loop;
  ConstantSlots<Tree<E>::constants> constants;

  constexpr void operator()(std::int64_t i) const {
    char* at[leaves + 1];
    loop.locate(i, at);
    const void* from[leaves + 1];
    for (int l = 0; l < leaves; ++l) from[l] = at[l];
    DeviceLane::store<typename E::value_type>(Root<DeviceLane, E>(LeafSource{&constants, from}, 0).value,
                                              at[leaves], 0);
  }
};

// Elements of a piece, computed in their lane type.
struct PieceLane : DeviceLaneBase {
  template <class T>
  static constexpr Value<T> load(const void* leaf, std::int64_t j) {
    const cuda::Piece<16>& piece = *static_cast<const cuda::Piece<16>*>(leaf);
    return static_cast<Value<T>>(piece.get<device_stored_t<T>>(static_cast<int>(j)));
  }
};

// Shared by the bodies that take pieces, of which the widest operand's fill 16 bytes.
template <class E, int operands, int widest>
struct InPieces : cuda::PieceBody<operands, cuda::piece_bytes / widest> {
  static constexpr int leaves = Tree<E>::leaves;
  ConstantSlots<Tree<E>::constants> constants;
};

// The bytes of the widest operand: leaves, the result, and, of a pull, gradients.
template <class E, bool pulls>
constexpr int widest_operand() {
  int bytes = sizeof(typename E::value_type);
  for (int l = 0; l < Tree<E>::leaves; ++l)
    bytes = std::max(bytes, static_cast<int>(pulls ? gradient_bytes<E>(l) : leaf_bytes<E>(l)));
  return bytes;
}

template <class E>
struct DeviceForwardInPieces : InPieces<E, Tree<E>::leaves + 1, widest_operand<E, false>()> {
  using Base = InPieces<E, Tree<E>::leaves + 1, widest_operand<E, false>()>;
  using Base::leaves, Base::per;

  constexpr void operator()(std::int64_t piece) const {
    compute(piece, std::make_integer_sequence<int, leaves>());
  }

 private:
  using T = device_stored_t<typename E::value_type>;
  template <int... l>
  constexpr void compute(std::int64_t piece, std::integer_sequence<int, l...>) const {
    char* at[leaves + 1];
    this->loop.pieces.locate(piece, at);
    const int count = this->count(piece);
    cuda::Piece<16> in[leaves + 1]{}, out{};
    const void* from[leaves + 1] = {};
    (this->template load<leaf_bytes<E>(l)>(l, at[l], count, in[l]), ...);
    ((from[l] = &in[l]), ...);
    for (int j = 0; j < per; ++j)
      out.set(j, static_cast<T>(Root<PieceLane, E>(LeafSource{&this->constants, from}, j).value));
    this->template store<sizeof(T)>(out, at[leaves], count);
  }
};

template <class E>
struct DevicePull {
  static constexpr int leaves = Tree<E>::leaves;
  cuda::Loop<2 * leaves + 1> loop;
  ConstantSlots<Tree<E>::constants> constants;
  unsigned wanted, added;

  constexpr void operator()(std::int64_t i) const {
    char* at[2 * leaves + 1];
    loop.locate(i, at);
    const void* from[leaves];
    char* to[leaves];
    for (int l = 0; l < leaves; ++l) {
      from[l] = at[l];
      to[l] = wanted >> l & 1 ? at[leaves + 1 + l] : nullptr;
    }
    DeviceSink sink{to, added, 0};
    pull_from(Root<DeviceLane, E>(LeafSource{&constants, from}, 0),
              DeviceLane::load<typename E::value_type>(at[leaves], 0), sink);
  }
};

// Keeps a piece's shares, leaf by leaf: in registers, since every index is known once loops are unrolled.
template <int leaves>
struct PieceSink {
  cuda::Piece<16> (&shares)[leaves];
  int j;
  template <class T, int L>
  constexpr void deposit(const device_lane_t<T>& g) {
    shares[L].set(j, g);
  }
};

template <class E>
struct DevicePullInPieces : InPieces<E, 2 * Tree<E>::leaves + 1, widest_operand<E, true>()> {
  using Base = InPieces<E, 2 * Tree<E>::leaves + 1, widest_operand<E, true>()>;
  using Base::leaves, Base::per;
  unsigned wanted, added;

  constexpr void operator()(std::int64_t piece) const {
    compute(piece, std::make_integer_sequence<int, leaves>());
  }

 private:
  using T = typename E::value_type;
  using Shares = cuda::Piece<16>[leaves];

  template <int... l>
  constexpr void compute(std::int64_t piece, std::integer_sequence<int, l...>) const {
    char* at[2 * leaves + 1];
    this->loop.pieces.locate(piece, at);
    const int count = this->count(piece);
    cuda::Piece<16> in[leaves + 1]{};
    Shares shares{};
    const void* from[leaves] = {};
    (this->template load<leaf_bytes<E>(l)>(l, at[l], count, in[l]), ...);
    this->template load<sizeof(T)>(leaves, at[leaves], count, in[leaves]);
    ((from[l] = &in[l]), ...);
    for (int j = 0; j < per; ++j) {
      PieceSink<leaves> sink{shares, j};
      pull_from(Root<PieceLane, E>(LeafSource{&this->constants, from}, j), PieceLane::load<T>(&in[leaves], j),
                sink);
    }
    unsigned kept = wanted;
    (add_to_first<l>(shares, kept, std::make_integer_sequence<int, l>()), ...);
    (store_share<l>(shares[l], kept, at[leaves + 1 + l], count), ...);
  }

  // The gradients of leaf l, elements of a piece, as numbers of which some may be parts of a complex one.
  template <int l>
  static constexpr void add(cuda::Piece<16>& to, const cuda::Piece<16>& from) {
    constexpr bool wide = cuda::part_type(leaf_table<E>.stored[l]) == DType::float64;
    using Number = std::conditional_t<wide, double, float>;
    constexpr int numbers = per * gradient_bytes<E>(l) / static_cast<int>(sizeof(Number));
    for (int j = 0; j < numbers; ++j) to.set(j, to.get<Number>(j) + from.get<Number>(j));
  }
  // Leaves that are one array share a gradient: that of the first.
  template <int l, int... k>
  constexpr void add_to_first(Shares& shares, unsigned& kept, std::integer_sequence<int, k...>) const {
    (add_to<k, l>(shares, kept), ...);
  }
  template <int k, int l>
  constexpr void add_to(Shares& shares, unsigned& kept) const {
    if constexpr (carries_leaf<E>(k) && carries_leaf<E>(l) &&
                  leaf_table<E>.stored[k] == leaf_table<E>.stored[l]) {
      const auto& data = this->loop.pieces.data;
      if (!(kept >> k & kept >> l & 1) || data[leaves + 1 + k] != data[leaves + 1 + l]) return;
      add<l>(shares[k], shares[l]);
      kept &= ~(1u << l);
    }
  }
  template <int l>
  constexpr void store_share(cuda::Piece<16>& share, unsigned kept, char* at, int count) const {
    if constexpr (carries_leaf<E>(l)) {
      constexpr int bytes = gradient_bytes<E>(l);
      if (!(kept >> l & 1)) return;
      if (added >> l & 1) {
        cuda::Piece<16> sum{};
        this->template load<bytes>(leaves + 1 + l, at, count, sum);
        add<l>(share, sum);
      }
      this->template store<bytes>(share, at, count);
    }
  }
};

// ---- launchers

template <class E>
void launch_forward(Device device, const void* constants, const Dims& shape, const loops::Operand* operands) {
  cuda::for_each_narrow(cuda::make_loop<Tree<E>::leaves + 1>(shape, operands), [&](const auto& loop) {
    DeviceForwardInPieces<E> pieces;
    if (cuda::in_pieces(loop, operands, pieces.per, pieces.loop)) {
      std::memcpy(&pieces.constants, constants, sizeof pieces.constants);
      return cuda::launch(device, pieces.loop.pieces.size, pieces);
    }
    DeviceForward<E> body{loop, {}};
    std::memcpy(&body.constants, constants, sizeof body.constants);
    cuda::launch(device, loop.size, body);
  });
}

template <class E>
void launch_pull(Device device, const void* constants, const Dims& shape, const loops::Operand* operands,
                 unsigned added) {
  constexpr int leaves = Tree<E>::leaves;
  cuda::for_each_narrow(cuda::make_loop<2 * leaves + 1>(shape, operands), [&](const auto& loop) {
    unsigned wanted = 0;
    for (int l = 0; l < leaves; ++l)
      if (loop.data[leaves + 1 + l]) wanted |= 1u << l;
    DevicePullInPieces<E> pieces;
    if (cuda::in_pieces(loop, operands, pieces.per, pieces.loop)) {
      std::memcpy(&pieces.constants, constants, sizeof pieces.constants);
      pieces.wanted = wanted;
      pieces.added = added;
      return cuda::launch(device, pieces.loop.pieces.size, pieces);
    }
    DevicePull<E> body{loop, {}, wanted, added};
    std::memcpy(&body.constants, constants, sizeof body.constants);
    cuda::launch(device, loop.size, body);
  });
}

template <class E>
struct FillSlot {
  FillSlot() {
    cuda::expression_kernels<E>.forward = launch_forward<E>;
    if constexpr (Carries<E>::value) cuda::expression_kernels<E>.pull = launch_pull<E>;
  }
  void needed() const {}
};
template <class E>
inline const FillSlot<E> fill_slot{};

}  // namespace detail
NAX_END

#endif

NAX_BEGIN
namespace detail {

template <class E>
void provide_device_kernels() {
#if NAX_CUDA_KERNELS
  fill_slot<E>.needed();
#elif defined(NAX_CUDA_FORMULAS)
  if constexpr (has_formula<E> || has_text_nodes<E>) fill_text_slot<E>.needed();
#endif
}

}  // namespace detail
NAX_END
