#pragma once

#include "nax/backend/cuda/launch.hpp"
#include "nax/backend/cuda/slots.hpp"
#include "nax/expr/kernels.hpp"

// The kernels of an expression for a GPU. There are four: forward and backward, each for operands that lie in
// a row (a thread takes pieces of 16 bytes) and for operands of any strides (a thread takes an element). They
// exist in files that are compiled as CUDA, or for the emulated device; such a file puts their launchers into
// the expression's slot before main begins.
NAX_BEGIN
namespace detail {

// Complex numbers have no functions on a GPU.
template <class E>
struct HasDeviceForm {
  static constexpr bool value = !is_complex_v<typename E::value_type>;
};
template <class Rule, class... A>
struct HasDeviceForm<Expr<Rule, A...>> {
  static constexpr bool value =
      !is_complex_v<typename Expr<Rule, A...>::value_type> && (HasDeviceForm<A>::value && ...);
};

}  // namespace detail
NAX_END

#if NAX_CUDA_KERNELS

#include "nax/backend/cuda/loop.hpp"

NAX_BEGIN
namespace detail {

// Elements as they are stored, computed in their lane type.
struct DeviceLane : ScalarLane {
  template <class T>
  static constexpr Value<T> load(const void* leaf, std::int64_t i) {
    return static_cast<lane_t<T>>(static_cast<const T*>(leaf)[i]);
  }
  template <class T>
  static constexpr void store(const Value<T>& x, void* out, std::int64_t i) {
    static_cast<T*>(out)[i] = static_cast<T>(x);
  }
};

// Stores shares, or adds them to what is there. Gradients are of the lanes' types.
struct DeviceSink {
  char* const* grads;
  unsigned added;
  std::int64_t i;
  template <class T, int L>
  constexpr void deposit(const lane_t<T>& g) {
    if (!grads[L]) return;
    lane_t<T>& to = reinterpret_cast<lane_t<T>*>(grads[L])[i];
    to = added >> L & 1 ? static_cast<lane_t<T>>(to + g) : g;
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

// Shared by the bodies for contiguous operands: element i of the grid is a piece of `per` elements.
template <class E>
struct InRow {
  static constexpr int leaves = Tree<E>::leaves;
  static constexpr std::size_t widest() {
    std::size_t bytes = sizeof(lane_t<typename E::value_type>);
    for (int l = 0; l < leaves; ++l) bytes = gradient_bytes<E>(l) > bytes ? gradient_bytes<E>(l) : bytes;
    return bytes;
  }
  static constexpr int per = static_cast<int>(cuda::piece_bytes / widest());
  std::int64_t n;
  ConstantSlots<Tree<E>::constants> constants;
  unsigned repeated;  // bit o: operand o is one element for all

  template <std::size_t bytes>
  constexpr void load(int operand, const char* data, std::int64_t piece, unsigned char* to) const {
    using Pieces = cuda::Piece<per * bytes>;
    if (repeated >> operand & 1)
      for (int j = 0; j < per; ++j)
        *reinterpret_cast<cuda::Piece<bytes>*>(to + j * bytes) =
            *reinterpret_cast<const cuda::Piece<bytes>*>(data);
    else
      *reinterpret_cast<Pieces*>(to) = reinterpret_cast<const Pieces*>(data)[piece];
  }
  template <std::size_t bytes>
  constexpr void store(const unsigned char* from, char* data, std::int64_t piece) const {
    using Pieces = cuda::Piece<per * bytes>;
    reinterpret_cast<Pieces*>(data)[piece] = *reinterpret_cast<const Pieces*>(from);
  }
};

template <class E>
struct DeviceForwardInRow : InRow<E> {
  using InRow<E>::leaves, InRow<E>::per;
  char* data[leaves + 1];

  constexpr void operator()(std::int64_t piece) const {
    compute(piece, std::make_integer_sequence<int, leaves>());
  }

 private:
  using T = typename E::value_type;
  template <int... l>
  constexpr void compute(std::int64_t piece, std::integer_sequence<int, l...>) const {
    const void* from[leaves + 1];
    const std::int64_t begin = piece * per;
    if (begin + per <= this->n) {
      alignas(16) unsigned char in[leaves + 1][16], out[16];
      (this->template load<leaf_bytes<E>(l)>(l, data[l], piece, in[l]), ...);
      ((from[l] = in[l]), ...);
      for (int j = 0; j < per; ++j)
        DeviceLane::store<T>(Root<DeviceLane, E>(LeafSource{&this->constants, from}, j).value, out, j);
      this->template store<sizeof(T)>(out, data[leaves], piece);
    } else {
      for (std::int64_t i = begin; i < this->n; ++i) {
        ((from[l] = data[l] + (this->repeated >> l & 1 ? 0 : i * leaf_bytes<E>(l))), ...);
        DeviceLane::store<T>(Root<DeviceLane, E>(LeafSource{&this->constants, from}, 0).value, data[leaves],
                             i);
      }
    }
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
  unsigned char (&shares)[leaves][16];
  int j;
  template <class T, int L>
  constexpr void deposit(const lane_t<T>& g) {
    reinterpret_cast<lane_t<T>*>(shares[L])[j] = g;
  }
};

template <class E>
struct DevicePullInRow : InRow<E> {
  using InRow<E>::leaves, InRow<E>::per;
  unsigned wanted, added;
  char* data[2 * leaves + 1];

  constexpr void operator()(std::int64_t piece) const {
    compute(piece, std::make_integer_sequence<int, leaves>());
  }

 private:
  using T = typename E::value_type;
  using Shares = unsigned char[leaves][16];

  template <int... l>
  constexpr void compute(std::int64_t piece, std::integer_sequence<int, l...>) const {
    const void* from[leaves];
    const std::int64_t begin = piece * per;
    if (begin + per <= this->n) {
      alignas(16) unsigned char in[leaves + 1][16];
      alignas(16) Shares shares;
      (this->template load<leaf_bytes<E>(l)>(l, data[l], piece, in[l]), ...);
      this->template load<sizeof(T)>(leaves, data[leaves], piece, in[leaves]);
      ((from[l] = in[l]), ...);
      for (int j = 0; j < per; ++j) {
        PieceSink<leaves> sink{shares, j};
        pull_from(Root<DeviceLane, E>(LeafSource{&this->constants, from}, j),
                  DeviceLane::load<T>(in[leaves], j), sink);
      }
      unsigned kept = wanted;
      (add_to_first<l>(shares, kept, std::make_integer_sequence<int, l>()), ...);
      (store_share<l>(shares, kept, piece), ...);
    } else {
      char* to[leaves];
      for (std::int64_t i = begin; i < this->n; ++i) {
        ((from[l] = data[l] + (this->repeated >> l & 1 ? 0 : i * leaf_bytes<E>(l)),
          to[l] = wanted >> l & 1 ? data[leaves + 1 + l] + i * gradient_bytes<E>(l) : nullptr),
         ...);
        DeviceSink sink{to, added, 0};
        pull_from(Root<DeviceLane, E>(LeafSource{&this->constants, from}, 0),
                  DeviceLane::load<T>(data[leaves], this->repeated >> leaves & 1 ? 0 : i), sink);
      }
    }
  }

  template <std::size_t bytes>
  static constexpr void add(unsigned char* to, const unsigned char* from) {
    using Number = std::conditional_t<bytes == 8, double, float>;
    for (int j = 0; j < per; ++j)
      reinterpret_cast<Number*>(to)[j] += reinterpret_cast<const Number*>(from)[j];
  }
  // Leaves that are one array share a gradient: that of the first.
  template <int l, int... k>
  constexpr void add_to_first(Shares& shares, unsigned& kept, std::integer_sequence<int, k...>) const {
    (add_to<k, l>(shares, kept), ...);
  }
  template <int k, int l>
  constexpr void add_to(Shares& shares, unsigned& kept) const {
    if constexpr (carries_leaf<E>(k) && carries_leaf<E>(l) && leaf_bytes<E>(k) == leaf_bytes<E>(l)) {
      if (!(kept >> k & kept >> l & 1) || data[leaves + 1 + k] != data[leaves + 1 + l]) return;
      add<gradient_bytes<E>(l)>(shares[k], shares[l]);
      kept &= ~(1u << l);
    }
  }
  template <int l>
  constexpr void store_share(Shares& shares, unsigned kept, std::int64_t piece) const {
    if constexpr (carries_leaf<E>(l)) {
      constexpr std::size_t bytes = gradient_bytes<E>(l);
      if (!(kept >> l & 1)) return;
      if (added >> l & 1) {
        alignas(16) unsigned char sum[16];
        this->template load<bytes>(leaves + 1 + l, data[leaves + 1 + l], piece, sum);
        add<bytes>(sum, shares[l]);
        this->template store<bytes>(sum, data[leaves + 1 + l], piece);
      } else {
        this->template store<bytes>(shares[l], data[leaves + 1 + l], piece);
      }
    }
  }
};

// ---- launchers

template <class Body, int operands>
void set_row(Body& body, const cuda::Loop<operands>& loop, const void* constants) {
  body.n = loop.size;
  std::memcpy(&body.constants, constants, sizeof body.constants);
  body.repeated = 0;
  for (int o = 0; o < operands; ++o) {
    body.data[o] = loop.data[o];
    if (loop.rank > 0 && loop.strides[o][0] == 0) body.repeated |= 1u << o;
  }
}

template <class E>
void launch_forward(Device device, const void* constants, const Dims& shape, const loops::Operand* operands) {
  const auto loop = cuda::make_loop<Tree<E>::leaves + 1>(shape, operands);
  if (is_flat(loop, operands)) {
    DeviceForwardInRow<E> body;
    set_row(body, loop, constants);
    cuda::launch(device, (loop.size + body.per - 1) / body.per, body);
  } else {
    DeviceForward<E> body{loop, {}};
    std::memcpy(&body.constants, constants, sizeof body.constants);
    cuda::launch(device, loop.size, body);
  }
}

template <class E>
void launch_pull(Device device, const void* constants, const Dims& shape, const loops::Operand* operands,
                 unsigned added) {
  constexpr int leaves = Tree<E>::leaves;
  const auto loop = cuda::make_loop<2 * leaves + 1>(shape, operands);
  unsigned wanted = 0;
  for (int l = 0; l < leaves; ++l)
    if (loop.data[leaves + 1 + l]) wanted |= 1u << l;
  if (is_flat(loop, operands)) {
    DevicePullInRow<E> body;
    set_row(body, loop, constants);
    body.wanted = wanted;
    body.added = added;
    cuda::launch(device, (loop.size + body.per - 1) / body.per, body);
  } else {
    DevicePull<E> body{loop, {}, wanted, added};
    std::memcpy(&body.constants, constants, sizeof body.constants);
    cuda::launch(device, loop.size, body);
  }
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
  if constexpr (HasDeviceForm<E>::value) fill_slot<E>.needed();
#endif
}

}  // namespace detail
NAX_END
