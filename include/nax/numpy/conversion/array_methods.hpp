#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/indexing/at.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"

// The members of Array: those that hand out elements and rows are here, the others come with the functions
// they are short for.
NAX_BEGIN

// Row-major elements. The handle of a view takes up the copy, so that the pointer lives as long as this
// array; handles that other threads read at the same time must be row-major already. Of an array on a GPU
// the host gets a copy, which lives as long as the array's memory.
template <class Element>
const Element* Array<Element>::data() const {
  if (detail::is_batched(*this)) detail::throw_batched("data", "return it from the mapped function instead");
  if (!layout_.is_contiguous()) {
    ArrayBase copied = detail::copy_over(*this, layout_);
    detail::ArrayAccess::serial(copied) = serial_;
    static_cast<ArrayBase&>(const_cast<Array&>(*this)) = std::move(copied);
  }
  if (!detail::on_accelerator(*this))
    return detail::elements<const Element>(*this, detail::transforms_handled);
  detail::unknown_while_recording("data", device());
  detail::Buffer* const buffer = buffer_.get();
  if (buffer->address && !buffer->source) {
    ArrayBase whole = *this;
    Frame all;
    all.shape.push_back(static_cast<std::int64_t>(buffer->bytes / sizeof(Element)));
    detail::ArrayAccess::offset(whole) = 0;
    detail::ArrayAccess::layout(whole) = Layout::contiguous(std::move(all));
    buffer->source = new detail::HostCopy(detail::on_host(whole));
  }
  return static_cast<const Element*>(buffer->source->gather()) + offset_;
}

template <class Element>
std::vector<Element> Array<Element>::to_vector() const {
  if (detail::is_batched(*this))
    detail::throw_batched("to_vector", "return it from the mapped function instead");
  detail::unknown_while_recording("to_vector", device());
  const ArrayBase flat = detail::on_host(detail::contiguous(*this, detail::transforms_handled));
  const Element* first = detail::elements<const Element>(flat);
  return std::vector<Element>(first, first + size());
}

// Walks the first axis; each row is a view.
template <class Element>
class RowIterator {
 public:
  using value_type = Array<Element>;
  using difference_type = std::ptrdiff_t;
  using reference = Array<Element>;
  using pointer = void;
  using iterator_category = std::input_iterator_tag;

  RowIterator() = default;
  RowIterator(const Array<Element>& array, std::int64_t row) : array_(&array), row_(row) {}
  Array<Element> operator*() const { return (*array_)(row_); }
  RowIterator& operator++() {
    ++row_;
    return *this;
  }
  RowIterator operator++(int) {
    RowIterator before = *this;
    ++row_;
    return before;
  }
  friend bool operator==(const RowIterator& a, const RowIterator& b) { return a.row_ == b.row_; }

 private:
  const Array<Element>* array_ = nullptr;
  std::int64_t row_ = 0;
};

template <class Element>
RowIterator<Element> Array<Element>::begin() const {
  detail::check_operand("iter", *this);
  if (ndim() == 0) throw TypeError("iter: iteration over a 0-d array");
  return {*this, 0};
}
template <class Element>
RowIterator<Element> Array<Element>::end() const {
  if (ndim() == 0) throw TypeError("iter: iteration over a 0-d array");
  return {*this, shape(0)};
}

NAX_END
