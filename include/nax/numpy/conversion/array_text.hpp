#pragma once

#include <cctype>
#include <cstring>
#include <functional>
#include <string>

#include "nax/core/bools.hpp"
#include "nax/core/text_number.hpp"
#include "nax/numpy/conversion/print.hpp"
#include "nax/numpy/creation/creation.hpp"
#include "nax/numpy/indexing/index_items.hpp"

// The texts of arrays besides str(): with separators, as Python would read them, and back.
NAX_BEGIN

// Options that are not given are those of set_printoptions.
template <class T>
struct Array2stringOptions {
  std::optional<int> max_line_width = {}, precision = {};
  std::optional<bool> suppress_small = {};
  std::string separator = " ", prefix = "";                  // the prefix is only counted, as in NumPy
  std::function<std::string(const T&)> formatter = nullptr;  // of one element
  std::optional<int> threshold = {}, edgeitems = {};
  std::string suffix = "";  // counted, too
};
struct ArrayStrOptions {
  std::optional<int> max_line_width = {}, precision = {};
  std::optional<bool> suppress_small = {};
};

namespace detail {

// Cells in brackets with any separator between them, as NumPy's _formatArray sets them. `width` is what is
// left of the line for the brackets that are open.
class SeparatedCells {
 public:
  SeparatedCells(const std::vector<std::string>& cells, const Shape& shape, Summary summary,
                 std::string separator)
      : cell_(cells.data()), shape_(shape), summary_(summary), separator_(std::move(separator)) {
    bare_ = separator_.substr(0, separator_.find_last_not_of(' ') + 1);
  }

  std::string text(std::size_t axis, const std::string& indent, std::int64_t width);

 private:
  const std::string* cell_;
  Shape shape_;
  Summary summary_;
  std::string separator_, bare_;
};

template <class T>
Array<T> on_host_for_text(const char* function, const Array<T>& x) {
  check_operand(function, x);
  if (is_batched(x)) throw_batched(function, "return it from the mapped function instead");
  unknown_while_recording(function, x.device());
  return typed<T>(on_host(contiguous(x, transforms_handled)));
}
inline PrintOptions changed(PrintOptions o, const std::optional<int>& width,
                            const std::optional<int>& precision, const std::optional<bool>& suppress) {
  o.linewidth = width.value_or(o.linewidth);
  o.precision = precision.value_or(o.precision);
  o.suppress = suppress.value_or(o.suppress);
  return o;
}

// Returns what repr() writes behind the elements: the shape where the text does not show it, the type where
// it is not NumPy's default for such numbers.
NAX_ENGINE std::string repr_of(const std::string& elements, DType dtype, const Shape& shape,
                               const PrintOptions& options);

}  // namespace detail

// The elements in brackets: array2string(x, {.separator = ", "}). Throws ValueError for an array batched by
// vmap.
template <detail::ArrayLike X>
std::string array2string(const X& x_, const Array2stringOptions<typename X::value_type>& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::on_host_for_text("array2string", detail::as_array(x_));
  const Shape shape = x.shape();
  if (x.size() == 0) return "[]";
  PrintOptions o =
      detail::changed(get_printoptions(), options.max_line_width, options.precision, options.suppress_small);
  o.threshold = options.threshold.value_or(o.threshold);
  o.edgeitems = options.edgeitems.value_or(o.edgeitems);
  const detail::Summary summary{x.size() > o.threshold, o.edgeitems};
  const Layout& layout = detail::layout_of(x);
  std::vector<T> shown;
  detail::gather_shown(shown, detail::elements<const T>(x, detail::transforms_handled), layout.shape.data(),
                       layout.strides.data(), layout.ndim(), summary);
  std::vector<std::string> cells;
  if (options.formatter)
    for (const T& element : shown) cells.push_back(options.formatter(element));
  else
    cells = detail::format_cells(shown, o);
  if (shape.empty()) return cells[0].substr(cells[0].find_first_not_of(' '));
  return detail::SeparatedCells(cells, shape, summary, options.separator)
      .text(0, std::string(options.prefix.size() + 1, ' '),
            o.linewidth - static_cast<std::int64_t>(options.suffix.size()));
}

// str(x). Throws ValueError for an array batched by vmap.
template <detail::ArrayLike X>
std::string array_str(const X& x_, const ArrayStrOptions& options = {}) {
  using T = typename X::value_type;
  const Array<T> x = detail::on_host_for_text("array_str", detail::as_array(x_));
  const Layout& layout = detail::layout_of(x);
  return format_array(
      detail::elements<const T>(x, detail::transforms_handled), layout.shape.data(), layout.strides.data(),
      layout.ndim(),
      detail::changed(get_printoptions(), options.max_line_width, options.precision, options.suppress_small));
}

// repr(x), as NumPy has it: array([1., 2.], dtype=float32). Throws ValueError for an array batched by vmap.
template <detail::ArrayLike X>
std::string array_repr(const X& x_, const ArrayStrOptions& options = {}) {
  const auto x = detail::on_host_for_text("array_repr", detail::as_array(x_));
  const PrintOptions o =
      detail::changed(get_printoptions(), options.max_line_width, options.precision, options.suppress_small);
  const std::string text = array2string(x, {.max_line_width = o.linewidth,
                                            .precision = o.precision,
                                            .suppress_small = o.suppress,
                                            .separator = ", ",
                                            .prefix = "array(",
                                            .suffix = ")"});
  return detail::repr_of(text, x.dtype(), x.shape(), o);
}

struct FromstringOptions {
  std::int64_t count = -1;  // so many numbers at most; all there are
  std::string sep = "";     // between them; a blank stands for any white space
};
namespace detail {

// Numbers out of text.
template <class T>
std::vector<T> parsed_numbers(const char* function, const std::string& text,
                              const FromstringOptions& options) {
  static_assert(!is_complex_v<T>, "fromstring: complex numbers are not read");
  if (options.sep.empty())
    raise<ValueError>({function, ": `sep` must be given; bytes are read by frombuffer and fromfile"});
  std::vector<T> out;
  const char* at = text.c_str();
  const char* const end = at + text.size();
  const auto blanks = [&] {
    while (at < end && std::isspace(static_cast<unsigned char>(*at))) ++at;
  };
  const auto refuse = [&] {
    raise<ValueError>({function, ": string or file could not be read to its end due to unmatched data: '",
                       std::string(at, end).substr(0, 20), "'"});
  };
  blanks();
  while (at < end && (options.count < 0 || static_cast<std::int64_t>(out.size()) < options.count)) {
    std::conditional_t<std::is_same_v<T, bool>, std::int64_t, T> value{};  // 2 is true
    std::size_t length = 0;
    const std::string_view rest(at, static_cast<std::size_t>(end - at));
    switch (number_of_text(rest, value, &length)) {
      case TextNumber::none:
        refuse();
        break;
      case TextNumber::beyond:
        raise<ValueError>(
            {function, ": ", dtype_name(dtype_of<T>), " does not hold '", rest.substr(0, length), "'"});
      case TextNumber::read:
        out.push_back(static_cast<T>(value));
    }
    at += length;
    for (const char c : options.sep) {
      if (std::isspace(static_cast<unsigned char>(c))) {
        blanks();
      } else if (at < end) {
        blanks();
        if (at == end) break;
        if (*at != c) refuse();
        ++at;
      }
    }
    blanks();
  }
  return out;
}

}  // namespace detail

// The numbers of a text: fromstring<int>("1, 2", {.sep = ","}). The result has shape (n,) for n numbers.
// Throws ValueError for what is no number and for one that T does not hold.
template <Dtype T = float>
Array<T> fromstring(const std::string& string, const FromstringOptions& options = {}) {
  return detail::typed<T>(
      detail::placed(detail::host_numbers<T>(detail::parsed_numbers<T>("fromstring", string, options))));
}

struct FrombufferOptions {
  std::int64_t count = -1;  // elements; all that are left
  std::int64_t offset = 0;  // bytes to leave out
};
namespace detail {

// Bytes as elements, copied.
template <class T>
Array<T> array_of_bytes(const char* function, const void* data, std::size_t bytes,
                        const FrombufferOptions& options) {
  if (options.offset < 0 || static_cast<std::size_t>(options.offset) > bytes)
    raise<ValueError>(
        {function, ": offset must be non-negative and no greater than buffer length (", bytes, ")"});
  const std::size_t left = bytes - static_cast<std::size_t>(options.offset);
  if (options.count < 0 && left % sizeof(T) != 0)
    raise<ValueError>({function, ": buffer size must be a multiple of element size: ", left,
                       " bytes, elements of ", sizeof(T)});
  const std::size_t there = left / sizeof(T);
  if (options.count >= 0 && static_cast<std::size_t>(options.count) > there)
    raise<ValueError>({function, ": buffer is smaller than requested size: ", left, " bytes for ",
                       options.count, " elements of ", sizeof(T)});
  const std::size_t n = options.count < 0 ? there : static_cast<std::size_t>(options.count);
  Array<T> a = typed<T>(allocate_on_host(dtype_of<T>, new_frame(function, Shape{n})));
  if (n > 0) std::memcpy(elements<T>(a), static_cast<const char*>(data) + options.offset, n * sizeof(T));
  if constexpr (std::is_same_v<T, bool>) normalize_bools(elements<T>(a), n);
  return typed<T>(placed(std::move(a)));
}

template <class X>
concept ContiguousData = requires(const X& x) {
  {std::data(x)};
  {std::size(x)};
};
template <class X>
concept IterableNumbers = requires(const X& x) {
  x.begin() != x.end();
};

}  // namespace detail

// Copies the bytes of a contiguous range (a string, a vector, a span) into a 1-d array of type T. Throws
// ValueError where they are no whole number of elements, or fewer than `count`.
template <Dtype T = float, detail::ContiguousData Buffer>
Array<T> frombuffer(const Buffer& buffer, const FrombufferOptions& options = {}) {
  static_assert(std::is_trivially_copyable_v<std::remove_cvref_t<decltype(*std::data(buffer))>>,
                "frombuffer: a range of plain bytes or numbers");
  return detail::array_of_bytes<T>("frombuffer", std::data(buffer),
                                   std::size(buffer) * sizeof(*std::data(buffer)), options);
}

struct FromiterOptions {
  std::int64_t count = -1;  // so many; all
};
// Copies the numbers of a range into a 1-d array. Throws ValueError where there are fewer than `count`.
template <class T = void, detail::IterableNumbers Range>
auto fromiter(const Range& range, const FromiterOptions& options = {}) {
  using S = std::remove_cvref_t<decltype(*range.begin())>;
  using To = typename std::conditional_t<std::is_void_v<T>, std::type_identity<element_t<S>>,
                                         std::type_identity<T>>::type;
  std::vector<To> out;
  for (const auto& x : range) {
    if (options.count >= 0 && static_cast<std::int64_t>(out.size()) == options.count) break;
    out.push_back(static_cast<To>(x));
  }
  if (static_cast<std::int64_t>(out.size()) < options.count)
    raise<ValueError>({"fromiter: iterator too short: expected ", options.count, " but iterator had only ",
                       out.size(), " items"});
  return detail::typed<To>(detail::placed(detail::host_numbers<To>(out)));
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/numpy/conversion/array_text-inl.hpp"
#endif
