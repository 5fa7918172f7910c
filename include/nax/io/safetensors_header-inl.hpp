#pragma once

#include "nax/core/json_text.hpp"
#include "nax/io/safetensors_header.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE std::string shown(std::string_view text) {
  constexpr std::size_t longest = 100;
  std::string out;
  for (const char c : text.substr(0, longest))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text.size() > longest ? out + "..." : out;
}

NAX_ENGINE bool is_utf8(std::string_view text) {
  for (std::size_t length; !text.empty(); text.remove_prefix(length))
    if ((length = nax::detail::utf8_length(text)) == 0) return false;
  return true;
}

NAX_ENGINE std::string json_string(std::string_view text) {
  constexpr std::string_view escapes = "b\bt\tn\nf\fr\r\"\"\\\\", digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    std::size_t i = 1;
    while (i < escapes.size() && escapes[i] != c) i += 2;
    if (i < escapes.size())
      (out += '\\') += escapes[i - 1];
    else if (static_cast<unsigned char>(c) < 0x20)
      ((out += "\\u00") += digits[static_cast<std::size_t>(c) >> 4]) +=
          digits[static_cast<std::size_t>(c) & 15];
    else
      out += c;
  }
  return out += '"';
}

NAX_ENGINE std::string SafetensorsJson::string() {
  expect('"');
  std::string out;
  while (true) {
    if (at_ >= text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) damaged();
    const char c = text_[at_++];
    if (c == '"') return out;
    if (c == '\\')
      escaped(out);
    else
      out += c;
  }
}

NAX_ENGINE std::uint32_t SafetensorsJson::hex_digits() {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (is_digit(c))
      value = value << 4 | static_cast<std::uint32_t>(c - '0');
    else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
      value = value << 4 | static_cast<std::uint32_t>((c | 0x20) - 'a' + 10);
    else
      damaged();
  }
  return value;
}

NAX_ENGINE void SafetensorsJson::escaped(std::string& out) {
  if (at_ >= text_.size()) damaged();
  constexpr std::string_view escapes = "b\bt\tn\nf\fr\r\"\"\\\\//";
  const char c = text_[at_++];
  for (std::size_t i = 0; i < escapes.size(); i += 2)
    if (c == escapes[i]) {
      out += escapes[i + 1];
      return;
    }
  if (c != 'u') damaged();
  std::uint32_t code = hex_digits();
  if (code >= 0xd800 && code < 0xe000) {  // two that stand for one character beyond 0xffff
    if (code >= 0xdc00 || text_.substr(at_, 2) != "\\u") damaged();
    at_ += 2;
    const std::uint32_t low = hex_digits();
    if (low < 0xdc00 || low >= 0xe000) damaged();
    code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
  }
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xe0 | code >> 12);
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
    }
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

NAX_ENGINE std::uint64_t SafetensorsJson::number() {
  if (!is_digit(peek())) damaged();
  if (text_[at_] == '0' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])) damaged();
  std::uint64_t value = 0;
  for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
    if (value > std::uint64_t{1} << 55) source_.fail("has a header with an impossible number in it");
    value = value * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
  }
  return value;
}

NAX_ENGINE TensorInfo SafetensorsJson::tensor(const std::string& name) {
  TensorInfo info;
  bool have_dtype = false, have_shape = false;
  std::size_t offsets = 0;
  const auto fail = [&](const std::string& what) { source_.fail("(" + shown(name) + ") has " + what); };
  object([&](const std::string& key) {
    if (key == "dtype" && !have_dtype) {
      info.dtype = string();
      have_dtype = true;
    } else if (key == "shape" && !have_shape) {
      numbers([&](std::uint64_t extent) {
        info.shape.push_back(static_cast<std::int64_t>(extent));
        if (info.shape.size() > 64) fail("a shape of more than 64 axes");
      });
      have_shape = true;
    } else if (key == "data_offsets" && offsets == 0) {
      numbers([&](std::uint64_t at) { (++offsets == 1 ? info.begin : info.end) = at; });
      if (offsets != 2) fail("other than two data_offsets");
    } else {
      fail("an entry '" + shown(key) + "', which the format has not or has once only");
    }
  });
  if (!have_dtype || !have_shape || offsets == 0) fail("no dtype, shape or data_offsets");
  return info;
}

// A value of any kind, nested or not.
NAX_ENGINE void SafetensorsJson::skip_value() {
  std::size_t depth = 0;
  do {
    const char c = peek();
    if (c == '\0') damaged();
    if (c == '"') {
      string();
      continue;
    }
    depth += c == '{' || c == '[';
    if (c == '}' || c == ']') {
      if (depth == 0) damaged();
      --depth;
    }
    ++at_;
    // A number or a word ends before what stands behind a value.
    if (depth == 0 && c != '}' && c != ']')
      while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '}' && !is_space(text_[at_])) ++at_;
  } while (depth > 0);
}

NAX_ENGINE std::map<std::string, std::string> SafetensorsJson::read_weight_map() {
  std::map<std::string, std::string> files;
  object([&](const std::string& key) {
    if (key != "weight_map") return skip_value();
    object([&](const std::string& name) { files.emplace(name, string()); });
  });
  return files;
}

NAX_ENGINE SafetensorsHeader SafetensorsJson::read() {
  SafetensorsHeader header;
  bool have_metadata = false;
  if (text_.empty() || text_[0] != '{') source_.fail("is no safetensors file: its header is no JSON object");
  const auto twice = [&](const std::string& name) { source_.fail("has '" + shown(name) + "' twice"); };
  object([&](const std::string& name) {
    if (name != "__metadata__") {
      if (!header.tensors.emplace(name, tensor(name)).second) twice(name);
      return;
    }
    if (have_metadata) twice(name);
    have_metadata = true;
    object([&](const std::string& key) {
      if (!header.metadata.emplace(key, string()).second) twice(key);
    });
  });
  if (peek() != '\0' || at_ != text_.size()) damaged();
  return header;
}

// Checks that an array's bytes are as many as its dtype and shape say, and finds its dtype.
NAX_ENGINE void check_tensor(const Source& source, const std::string& name, TensorInfo& info) {
  const auto fail = [&](const std::string& what) { source.fail("(" + shown(name) + ") " + what); };
  // In bits; types that are not here may come with later versions, and are no concern until they are read.
  static constexpr std::pair<std::string_view, unsigned> others[] = {
      {"F4", 4}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}};
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < dtype_count; ++i)
    if (const char* const ours = safetensors_dtype(static_cast<DType>(i)); ours && info.dtype == ours) {
      info.held = static_cast<DType>(i);
      bits = 8 * dtype_size(*info.held);
    }
  for (const auto& [other, size] : others)
    if (info.dtype == other) bits = size;
  std::uint64_t product = bits == 0 ? 1 : bits;
  bool empty = false;
  for (const std::int64_t extent : info.shape) {
    empty = empty || extent == 0;
    if (extent == 0) continue;
    if (product > (std::uint64_t{1} << 58) / static_cast<std::uint64_t>(extent))
      fail("has an impossible shape " + to_string(info.shape));
    product *= static_cast<std::uint64_t>(extent);
  }
  if (info.end < info.begin) fail("ends before it begins");
  const std::uint64_t bytes = empty ? 0 : product / 8;
  if (bits != 0 && (info.end - info.begin != bytes || (!empty && product % 8 != 0)))
    fail("has " + std::to_string(info.end - info.begin) + " bytes, but " + info.dtype + " of shape " +
         to_string(info.shape) + " takes " + std::to_string(bytes));
}

NAX_ENGINE SafetensorsHeader read_safetensors_header(const Source& source) {
  std::uint8_t start[8];
  if (source.size() < sizeof start)
    source.fail("is no safetensors file: it is shorter than the length of its header");
  source.read(0, start, sizeof start);
  const std::uint64_t length = little_endian<std::uint64_t>(start), rest = source.size() - sizeof start;
  if (length > longest_safetensors_header) source.fail("is no safetensors file: its header is too long");
  if (length > rest) source.fail("is truncated in its header");
  std::string text(static_cast<std::size_t>(length), '\0');
  source.read(sizeof start, text.data(), text.size());
  if (!is_utf8(text)) source.fail("has a header that is no UTF-8");
  SafetensorsHeader header = SafetensorsJson(source, text).read();
  std::vector<TensorInfo*> in_order;
  for (auto& [name, info] : header.tensors) {
    check_tensor(source, name, info);
    in_order.push_back(&info);
  }
  std::sort(in_order.begin(), in_order.end(), [](const TensorInfo* a, const TensorInfo* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::uint64_t at = 0;
  for (TensorInfo* const info : in_order) {
    if (info->begin != at)
      source.fail(std::string("has arrays that ") + (info->begin < at ? "overlap" : "leave a hole") +
                  " at byte " + std::to_string(info->begin) + " of the elements");
    at = info->end;
    info->begin += sizeof start + length, info->end += sizeof start + length;
  }
  const std::uint64_t there = rest - length;
  if (at != there)
    source.fail((there < at ? "is truncated: " : "is too long: ") + std::to_string(there) +
                " bytes of elements instead of " + std::to_string(at));
  return header;
}

}  // namespace io::detail
NAX_END
