#pragma once

#include "nax/random/key.hpp"

NAX_BEGIN
namespace random {

NAX_ENGINE auto Key::operator[](std::int64_t i) const -> Key {
  Layout layout = nax::detail::layout_of(words_);
  if (ndim() == 0) throw IndexError("key: too many indices: a single key has no axes");
  const std::int64_t n = shape(0);
  if (i < -n || i >= n) raise<IndexError>({"key: index ", i, " is out of bounds for axis 0 with size ", n});
  const std::size_t axis = layout.levels.size();
  const std::int64_t offset = (i < 0 ? i + n : i) * layout.strides[axis];
  layout.shape.erase(axis);
  layout.strides.erase(axis);
  return Key(nax::detail::typed<std::uint64_t>(nax::detail::view(words_, std::move(layout), offset)));
}

}  // namespace random
NAX_END
NAX_BEGIN
namespace random::detail {

NAX_ENGINE void check_single(const char* function, const Key& key) {
  check_operand(function, key.words());
  if (key.ndim() != 0)
    raise<ValueError>(
        {function, ": takes one key, not keys of shape ", key.shape(), "; map over them with vmap"});
}

NAX_ENGINE Frame below(const Frame& outer, const Dims& visible) {
  Frame frame;
  frame.levels = outer.levels;
  frame.shape.append(outer.shape.begin(), outer.shape.begin() + outer.hidden());
  frame.shape.append(visible.begin(), visible.end());
  return frame;
}

NAX_ENGINE ArrayBase allocate_draw(const char* function, const Key& key, const Shape& shape, DType dtype,
                                   ArrayBase& words, Device device) {
  check_single(function, key);
  words = contiguous(key.words());
  const Frame frame = below(layout_of(words), shape);
  count_elements(function, frame.shape);
  return allocate(dtype, frame, device);
}

NAX_ENGINE ArrayBase draw_values(const char* function, const Key& key, const Shape& shape, const Draw& form,
                                 DType dtype, Device device) {
  ArrayBase words;
  ArrayBase result = allocate_draw(function, key, shape, dtype, words, device);
  const std::int64_t rows = layout_of(words).size(), size = layout_of(result).size();
  if (size == 0) return result;
  const bool is_number = rows == 1 && !share_memory(words.device(), device);
  if (!is_number) words = beside(result, words);
  backend::run(device,
               ops::Draw{form, is_number ? *elements<const std::uint64_t>(words, transforms_handled) : 0,
                         size / rows, size, dtype},
               {is_number ? nullptr : device_data(words), device_data(result)});
  return result;
}

}  // namespace random::detail
NAX_END
NAX_BEGIN
namespace random {

NAX_ENGINE Array<std::uint32_t> key_data(const Key& key) {
  using namespace nax::detail;
  ArrayBase words = contiguous(key.words());
  // Read backwards, since the second word is the low one, which memory has first.
  Layout halves = layout_of(words);
  for (std::int64_t& stride : halves.strides) stride *= 2;
  append_axis(halves, 2, -1);
  ArrayAccess::dtype(words) = DType::uint32;
  ArrayAccess::offset(words) *= 2;
  return nax::detail::typed<std::uint32_t>(placed(contiguous(view(std::move(words), std::move(halves), 1))));
}

NAX_ENGINE Key wrap_key_data(const Array<std::uint32_t>& data) {
  using namespace nax::detail;
  if (data.ndim() == 0 || data.shape(-1) != 2)
    raise<ShapeError>(
        {"wrap_key_data: the last axis must hold the two words of a key, shape ", data.shape()});
  const std::size_t last = layout_of(data).shape.size() - 1;
  Layout backwards = layout_of(data);
  const std::int64_t second = backwards.strides[last];
  backwards.strides[last] = -second;
  // A copy of its own, so that keys are aligned.
  ArrayBase words = copy_over(view(data, std::move(backwards), second), layout_of(data));
  Frame frame = layout_of(words);
  frame.shape.pop_back();
  ArrayAccess::dtype(words) = DType::uint64;
  return Key(nax::detail::typed<std::uint64_t>(view(std::move(words), Layout::contiguous(std::move(frame)))));
}

}  // namespace random
NAX_END
NAX_BEGIN
namespace random::detail {

NAX_ENGINE Key split_keys(const Key& key, const Shape& shape) {
  return Key(nax::detail::typed<std::uint64_t>(
      draw_values("split", key, shape, Draw(), DType::uint64, device_for("split", key.words()))));
}

// The low words of integers of 32 or 64 bits: numbers modulo 2^32.
NAX_ENGINE ArrayBase low_words(ArrayBase x) {
  if (dtype_size(x.dtype()) == 8) {
    Layout low = layout_of(x);
    for (std::int64_t& stride : low.strides) stride *= 2;
    ArrayAccess::offset(x) *= 2;
    ArrayAccess::layout(x) = std::move(low);
  }
  ArrayAccess::dtype(x) = DType::uint32;
  return x;
}

NAX_ENGINE Key fold_in(const Key& key, const ArrayBase& data) {
  check_single("fold_in", key);
  if (const Shape shape = layout_of(data).visible_shape(); !shape.empty())
    raise<ShapeError>({"fold_in: data must be a single number, shape ", shape});
  const Frame frame = broadcast("fold_in", layout_of(key.words()), layout_of(data));
  const Device device = device_for("fold_in", on_accelerator(data) ? data : key.words());
  const ArrayBase folded = allocate(DType::uint64, frame, device);
  const auto spread = [&](const ArrayBase& x) {
    const bool same = static_cast<const Frame&>(layout_of(x)) == frame && layout_of(x).is_contiguous();
    return same ? beside(folded, x) : copy_over(beside(folded, x), frame);
  };
  const ArrayBase keys = spread(key.words()), numbers = spread(low_words(data));
  if (frame.size() > 0)
    backend::run(device, ops::FoldIn{frame.size()},
                 {device_data(keys), device_data(numbers), device_data(folded)});
  return Key(nax::detail::typed<std::uint64_t>(folded));
}

}  // namespace random::detail
NAX_END
