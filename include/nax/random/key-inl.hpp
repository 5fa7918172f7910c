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

NAX_ENGINE void draw_on_device(const Draw& form, const ArrayBase& words, const ArrayBase& result) {
  const std::int64_t rows = layout_of(words).size(), size = layout_of(result).size();
  if (size == 0) return;
  backend::Keys keys{nullptr, 0};
  ArrayBase there;
  if (rows == 1 && !on_accelerator(words)) {
    keys.one = *elements<const std::uint64_t>(words, transforms_handled);
  } else {
    there = beside(result, words);
    keys.many = reinterpret_cast<const std::uint64_t*>(device_data(there));
  }
  backend::accelerator_operations(result.device())
      .draw(result.device(), form, keys, size / rows, result.dtype(), size, device_data(result));
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

NAX_ENGINE Key split(const Key& key, const Shape& shape) {
  const auto fill = [](std::uint64_t k, std::uint64_t first, std::int64_t n, std::uint64_t* out) {
    cpu::random_bits(k, first, n, out);
  };
  const ArrayBase& words = key.words();
  return Key(detail::draw<std::uint64_t>("split", key, shape, detail::Draw(), fill,
                                         detail::device_for("split", words)));
}

}  // namespace random
NAX_END
NAX_BEGIN
namespace random::detail {

NAX_ENGINE Key fold_in(const Key& key, const ArrayBase& data, std::uint32_t (*word)(const char*)) {
  const Frame frame = broadcast("fold_in", layout_of(key.words()), layout_of(data));
  if (on_accelerator(key.words()) || on_accelerator(data)) {
    const ArrayBase& there = on_accelerator(data) ? data : key.words();
    const ArrayBase keys = copy_over(beside(there, key.words()), frame),
                    numbers = as_dtype(copy_over(beside(there, data), frame), DType::uint32);
    const ArrayBase folded = allocate(DType::uint64, frame, there.device());
    backend::accelerator_operations(there.device())
        .fold_in(there.device(), frame.size(), reinterpret_cast<const std::uint64_t*>(device_data(keys)),
                 reinterpret_cast<const std::uint32_t*>(device_data(numbers)),
                 reinterpret_cast<std::uint64_t*>(device_data(folded)));
    return Key(nax::detail::typed<std::uint64_t>(folded));
  }
  Array<std::uint64_t> words = nax::detail::typed<std::uint64_t>(copy_over(key.words(), frame));
  const ArrayBase flat = copy_over(data, frame);
  std::uint64_t* out = elements<std::uint64_t>(words);
  const char* from = raw_data(flat);
  for (std::int64_t i = 0; i < frame.size(); ++i)
    out[i] = loops::word_pair(
        loops::threefry(out[i], word(from + i * static_cast<std::int64_t>(dtype_size(data.dtype())))));
  return Key(std::move(words));
}

}  // namespace random::detail
NAX_END
