#pragma once

#include "nax/io/npy_header.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE std::string npy_header(const std::string& descr, const Shape& shape) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + to_string(shape) + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header;
}

NAX_ENGINE NpyHeader NpyDictionary::read() {
  NpyHeader header;
  bool have_descr = false, have_order = false, have_shape = false;
  expect('{');
  while (!accept('}')) {
    const std::string_view key = string();
    expect(':');
    if (key == "descr" && !have_descr) {
      const bool structured = peek() == '[' || peek() == '(';
      if (structured)
        nested();
      else
        header.descr = std::string(string());
      if (structured) header.descr = structured_descr;
      have_descr = true;
    } else if (key == "fortran_order" && !have_order) {
      header.fortran_order = boolean();
      have_order = true;
    } else if (key == "shape" && !have_shape) {
      tuple(header.shape);
      have_shape = true;
    } else {
      member_.fail("has a header with '" + std::string(key.substr(0, 64)) + "' in it, once too often");
    }
    if (!accept(',') && peek() != '}') damaged();
  }
  if (peek() != '\0' || at_ != text_.size()) damaged();
  if (!have_descr) member_.fail("has a header without 'descr'");
  if (!have_order) member_.fail("has a header without 'fortran_order'");
  if (!have_shape) member_.fail("has a header without 'shape'");
  return header;
}

NAX_ENGINE std::string_view NpyDictionary::string() {
  const char quote = peek();
  if (quote != '\'' && quote != '"') damaged();
  const std::size_t end = text_.find(quote, at_ + 1);
  if (end == std::string_view::npos) damaged();
  const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  return inside;
}

NAX_ENGINE void NpyDictionary::nested() {
  std::int64_t depth = 0;
  do {
    const char c = peek();
    if (c == '\0') damaged();
    if (c == '\'' || c == '"') {
      string();
      continue;
    }
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    ++at_;
  } while (depth > 0);
}

NAX_ENGINE bool NpyDictionary::boolean() {
  peek();
  for (const std::string_view word : {std::string_view("True"), std::string_view("False")})
    if (text_.substr(at_, word.size()) == word) {
      at_ += word.size();
      return word.size() == 4;
    }
  member_.fail("has a header whose 'fortran_order' is neither True nor False");
}

NAX_ENGINE void NpyDictionary::tuple(Shape& shape) {
  expect('(');
  bool comma = true;
  while (!accept(')')) {
    if (!comma || !is_digit(peek())) member_.fail("has a header whose 'shape' is none");
    std::int64_t extent = 0;
    for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
      if (extent > std::int64_t{1} << 55) member_.fail("has an impossible shape");
      extent = extent * 10 + (text_[at_] - '0');
    }
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // of Python 2
    shape.push_back(extent);
    if (shape.size() > 64) member_.fail("has a shape of more than NumPy's 64 axes");
    comma = accept(',');
  }
  if (shape.size() == 1 && !comma) member_.fail("has a header whose 'shape' is none");  // (3) is a number
}

NAX_ENGINE NpyHeader read_npy_header(Member& member) {
  std::uint8_t start[12];
  if (member.left() < 10) member.fail("is not an array of NumPy");
  member.read(start, 10);
  if (std::memcmp(start, "\x93NUMPY", 6) != 0) member.fail("is not an array of NumPy");
  if (start[6] < 1 || start[6] > 3 || start[7] != 0) member.fail("is of an unknown version of the format");
  const bool longer = start[6] >= 2;  // versions 2 and 3 count in four bytes
  if (longer) member.read(start + 10, 2);
  const std::size_t length =
      longer ? little_endian<std::uint32_t>(start + 8) : little_endian<std::uint16_t>(start + 8);
  if (length > member.left()) member.fail("is truncated in its header");
  if (length > 0xffff) member.fail("has a header longer than that of any plain array");
  std::string text(length, '\0');
  member.read(text.data(), length);
  return NpyDictionary(member, text).read();
}

NAX_ENGINE bool same_descr(std::string_view descr, DType dtype, bool& swapped) {
  const std::string_view ours = npy_descr(dtype);
  swapped = !descr.empty() && descr[0] == '>';
  return descr.size() == ours.size() && descr.substr(1) == ours.substr(1) &&
         (descr[0] == ours[0] || descr[0] == '>' || descr[0] == '=' || descr[0] == '|' || descr[0] == '<');
}

}  // namespace io::detail
NAX_END
