#pragma once

#include <array>
#include <concepts>
#include <string>
#include <string_view>

#include "nax/backend/cpu/draws/draw_kernels.hpp"
#include "nax/numpy/views/views.hpp"
#include "nax/tape/levels.hpp"
#include "nax/tree/traits.hpp"

// Keys of the counter-based generator: JAX's, bit for bit. A key is a value; drawing does not change it, so
// each use wants a key of its own, from split or fold_in.
NAX_BEGIN
namespace random {

// A key, or an array of keys: `keys(i)`, `for (auto key : keys)`, `vmap(f)(keys)`. The two words of a key are
// one element of 64 bits, so that the axes of keys are the axes of this array, those of vmap included.
class [[nodiscard]] Key {
 public:
  Key() = default;
  explicit Key(Array<std::uint64_t> words) : words_(std::move(words)) {}

  Shape shape() const { return words_.shape(); }
  std::int64_t shape(std::int64_t axis) const { return words_.shape(axis); }
  int ndim() const { return words_.ndim(); }
  std::int64_t size() const { return words_.size(); }
  const Array<std::uint64_t>& words() const { return words_; }

  // Row i of the first axis; negative ones count from the end. Throws IndexError.
  Key operator[](std::int64_t i) const;
  template <std::integral I>
  Key operator()(I i) const {
    return (*this)[i];
  }
  // Everything that indexes an array: keys(1, 2), keys(slice(0, 2)), keys(_, 0).
  template <class... Index>
  Key operator()(const Index&... index) const {
    return Key(words_(index...));
  }

  class Iterator {
   public:
    Iterator(const Key* keys, std::int64_t row) : keys_(keys), row_(row) {}
    Key operator*() const { return (*keys_)[row_]; }
    Iterator& operator++() {
      ++row_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.row_ == b.row_; }

   private:
    const Key* keys_;
    std::int64_t row_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, shape(0)}; }

 private:
  template <std::same_as<Key> K>
  friend constexpr auto tree_fields(K& key) {
    return std::tie(key.words_);
  }
  Array<std::uint64_t> words_;
};

namespace detail {

using namespace nax::detail;

NAX_ENGINE void check_single(const char* function, const Key& key);

// The hidden axes of `outer`, then these visible ones.
NAX_ENGINE Frame below(const Frame& outer, const Dims& visible);

// Where draws from a key are made: where this thread computes, or where the key is. Keys on the host are
// small, and go along.
inline Device draw_device(const Key& key) {
  return on_accelerator(key.words()) ? key.words().device() : current_device;
}

// The result of a draw from each key: its axes are those of `words` (row-major keys), then `shape`.
NAX_ENGINE ArrayBase allocate_draw(const char* function, const Key& key, const Shape& shape, DType dtype,
                                   ArrayBase& words, Device device);

// An array of this shape and dtype, drawn from each key by the operation of the device.
NAX_ENGINE ArrayBase draw_values(const char* function, const Key& key, const Shape& shape, const Draw& form,
                                 DType dtype, Device device);
template <DrawKind kind, class T>
Array<T> draw(const char* function, const Key& key, const Shape& shape, Draw form = {}) {
  cpu::provide<cpu::DrawKernel<kind>, T>();
  form.kind = kind;
  return nax::detail::typed<T>(draw_values(function, key, shape, form, dtype_of<T>, draw_device(key)));
}

// Makes the draw of each key as a whole on the host, and copies it to the device of this thread.
template <class T, class Fill>
Array<T> draw_whole(const char* function, const Key& key, const Shape& shape, const Fill& fill) {
  ArrayBase words;
  need_host(function, key.words());
  Array<T> result = nax::detail::typed<T>(
      allocate_draw(function, key, shape, dtype_of<T>, words, nax::detail::host_device()));
  const std::int64_t n = shape.count();
  if (n == 0) return nax::detail::typed<T>(placed(std::move(result)));
  parallel_for(layout_of(words).size(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      fill(elements<const std::uint64_t>(words, transforms_handled)[row], 0, n,
           elements<T>(result) + row * n);
  });
  return nax::detail::typed<T>(placed(std::move(result)));
}

}  // namespace detail

// A 0-d key from a seed of 64 bits, all of which count. It lies on the host, and so does what split and
// fold_in make of it, wherever this thread computes. Indexing an array of keys throws IndexError out of
// bounds.
inline Key key(std::int64_t seed) { return Key(nax::detail::host_number(static_cast<std::uint64_t>(seed))); }

// The two uint32 words of each key, along a new last axis. (...) -> (..., 2).
NAX_ENGINE Array<std::uint32_t> key_data(const Key& key);

// The keys with these words; the inverse of key_data. (..., 2) -> (...). Throws ShapeError unless the last
// axis has two elements.
NAX_ENGINE Key wrap_key_data(const Array<std::uint32_t>& data);

// The generator's name, which is JAX's: there is one.
inline std::string_view key_impl(const Key&) { return "threefry2x32"; }
// Returns the key unchanged. JAX marks with it that a key is used twice on purpose.
inline Key clone(const Key& key) { return key; }

namespace detail {
NAX_ENGINE Key split_keys(const Key& key, const Shape& shape);
// data: of 32 or 64 bits.
NAX_ENGINE Key fold_in(const Key& key, const ArrayBase& data);
}  // namespace detail

// Keys of shape `shape`, all different, drawn from one key. Throws ValueError for more than one key, or a
// negative extent.
inline Key split(const Key& key, const Shape& shape) {
  cpu::provide<cpu::DrawKernel<detail::DrawKind::bits>, std::uint64_t>();
  return detail::split_keys(key, shape);
}
// Two 0-d keys: auto [k1, k2] = random::split(key);
inline std::array<Key, 2> split(const Key& key) {
  const Key both = split(key, Shape{2});
  return {both[0], both[1]};
}

// A new 0-d key from a key and a number: a step, the index of an example. Throws ShapeError unless `data` is
// a single number, and ValueError for more than one key.
template <class I>
requires is_integer_v<I> Key fold_in(const Key& key, const Array<I>& data) {
  if constexpr (sizeof(I) < 4)
    return detail::fold_in(key, data.template astype<std::uint32_t>());
  else
    return detail::fold_in(key, data);
}

// The number counts modulo 2^32.
template <std::integral I>
Key fold_in(const Key& key, I data) {
  return fold_in(key, nax::detail::host_number(static_cast<std::uint32_t>(data)));
}

}  // namespace random
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/random/key-inl.hpp"
#endif
