#pragma once

#include "nax/io/safetensors.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE std::string dotted_name(const std::string& name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = std::string::npos;  // of a step in brackets
    const bool quoted = name.compare(at, 2, "['") == 0;
    if (name[at] == '[') {
      end = name.find(quoted ? "']" : "]", at) + (quoted ? 1 : 0);
      // A quote and a bracket may be part of the key, where no other step follows.
      while (quoted && end + 1 < name.size() && name[end + 1] != '[' && name[end + 1] != '.')
        end = name.find("']", end) + 1;
    }
    if (name[at] != '[') {
      out += name[at++];
      continue;
    }
    if (!out.empty()) out += '.';
    out += quoted ? name.substr(at + 2, end - at - 3) : name.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  return out;
}

NAX_ENGINE void write_safetensors(const std::string& path,
                                  std::vector<std::pair<std::string, ArrayBase>> arrays,
                                  const SaveSafetensorsOptions& options) {
  // The order of the format's authors: wide types first, so that all are aligned, then by name.
  static constexpr DType order[] = {DType::uint64,  DType::int64,  DType::float64, DType::complex64,
                                    DType::float32, DType::uint32, DType::int32,   DType::bfloat16,
                                    DType::float16, DType::uint16, DType::int16,   DType::int8,
                                    DType::uint8,   DType::boolean};
  const auto rank = [](const ArrayBase& a) {
    return std::find(std::begin(order), std::end(order), a.dtype());
  };
  std::sort(arrays.begin(), arrays.end(), [&](const auto& a, const auto& b) {
    const auto of_a = rank(a.second), of_b = rank(b.second);
    return of_a != of_b ? of_a < of_b : a.first < b.first;
  });
  std::string header = "{";
  const auto text = [](const std::string& s) {
    if (!is_utf8(s)) raise<ValueError>({"save_safetensors: a name or text is no UTF-8: ", shown(s)});
    return json_string(s);
  };
  for (const auto& [key, value] : options.metadata)
    header += (header.size() > 1 ? "," : "\"__metadata__\":{") + text(key) + ":" + text(value);
  if (!options.metadata.empty()) header += '}';
  std::uint64_t at = 0;
  std::map<std::string_view, bool> seen;
  for (const auto& [name, array] : arrays) {
    const char* const dtype = safetensors_dtype(array.dtype());
    if (!dtype)
      raise<TypeError>({"save_safetensors: (", name, ") is ", std::string(dtype_name(array.dtype())),
                        ", which safetensors files cannot hold"});
    if (name == "__metadata__" || !seen.emplace(name, true).second)
      raise<ValueError>({"save_safetensors: the name ", name, " is reserved or occurs twice"});
    const std::uint64_t end = at + array.nbytes();
    if (header.size() > 1) header += ',';
    header += text(name) + ":{\"dtype\":\"" + dtype + "\",\"shape\":[";
    for (int axis = 0; axis < array.ndim(); ++axis) {
      if (axis > 0) header += ',';
      header += std::to_string(array.shape(axis));
    }
    header += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(end) + "]}";
    at = end;
  }
  header += '}';
  while (header.size() % 8 != 0) header += ' ';
  if (header.size() > longest_safetensors_header)
    raise<ValueError>({"save_safetensors: names and metadata take more than the format's 100 MB"});
  std::uint8_t length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<std::uint8_t>(std::uint64_t{header.size()} >> 8 * i);
  NewFile file("save_safetensors", path);
  file.write(length, sizeof length);
  file.write(header.data(), header.size());
  for (const auto& [name, array] : arrays) file.write(nax::detail::raw_data(array), array.nbytes());
  file.commit();
}

NAX_ENGINE SafetensorsReader::SafetensorsReader(const Source& source, bool map)
    : source_(source), header_(read_safetensors_header(source)) {
  if (map && source.can_be_mapped()) mapped_ = std::make_shared<const MappedFile>(source);
}

NAX_ENGINE std::vector<std::string> SafetensorsReader::names() const {
  std::vector<std::string> all;
  for (const auto& tensor : header_.tensors) all.push_back(tensor.first);
  return all;
}

NAX_ENGINE const TensorInfo& SafetensorsReader::info(const std::string& name) const {
  const auto found = header_.tensors.find(name);
  if (found == header_.tensors.end()) source_.fail("has no array named " + name);
  return found->second;
}

template <class From>
cpu::ConvertFn float_converter(DType to) {
  return to == DType::float16    ? cpu::convert_run<From, half>
         : to == DType::bfloat16 ? cpu::convert_run<From, bfloat16>
         : to == DType::float32  ? cpu::convert_run<From, float>
                                 : cpu::convert_run<From, double>;
}

// An array of floats on the host in another width.
NAX_ENGINE ArrayBase float_cast(ArrayBase x, DType dtype) {
  const DType from = x.dtype();
  if (from == dtype) return x;
  ArrayBase result = nax::detail::allocate_on_host(dtype, nax::detail::layout_of(x));
  const cpu::ConvertFn convert = from == DType::float16    ? float_converter<half>(dtype)
                                 : from == DType::bfloat16 ? float_converter<bfloat16>(dtype)
                                 : from == DType::float32  ? float_converter<float>(dtype)
                                                           : float_converter<double>(dtype);
  if (x.size() > 0) convert(nax::detail::raw_data(x), 1, nax::detail::raw_data(result), 1, x.size());
  return result;
}

NAX_ENGINE bool SafetensorsReader::gives(const std::string& name, DType dtype, bool cast) const {
  const std::optional<DType>& from = info(name).held;
  return from && (*from == dtype ||
                  (cast && dtype_kind(*from) == Kind::floating && dtype_kind(dtype) == Kind::floating));
}

NAX_ENGINE ArrayBase SafetensorsReader::array(const std::string& name, DType dtype, const Shape* expected,
                                              bool cast) const {
  const TensorInfo& tensor = info(name);
  if (!tensor.held) fail(name, "has dtype " + shown(tensor.dtype) + ", which nax does not hold");
  const DType from = *tensor.held;
  if (!gives(name, dtype, cast))
    fail(name, "has dtype " + std::string(dtype_name(from)) + ", the tree " + std::string(dtype_name(dtype)));
  if (expected && tensor.shape != *expected)
    fail(name, "has shape " + to_string(tensor.shape) + ", the tree " + to_string(*expected));
  const std::uint64_t bytes = tensor.end - tensor.begin;
  if (mapped_ && bytes > 0 && from != DType::boolean && tensor.begin % dtype_size(from) == 0)
    return float_cast(mapped_array(mapped_, tensor.begin, from, tensor.shape), dtype);
  ArrayBase a = nax::detail::allocate_on_host(from, Frame{tensor.shape, {}});
  if (bytes > 0) source_.read(tensor.begin, nax::detail::raw_data(a), static_cast<std::size_t>(bytes));
  if (bytes > 0 && from == DType::boolean) nax::detail::normalize_bools(nax::detail::raw_data(a), bytes);
  return float_cast(std::move(a), dtype);
}

NAX_ENGINE NamesOfFile::NamesOfFile(const Source& source, const std::vector<std::string>& names,
                                    const std::vector<std::pair<std::string, std::string>>& rename) {
  for (const std::string& in_file : names) {
    std::string name = in_file;
    for (const auto& [from, to] : rename)
      if (name.compare(0, from.size(), from) == 0) {
        name = to + name.substr(from.size());
        break;
      }
    const auto [place, is_new] = names_.emplace(name, std::pair(in_file, false));
    if (!is_new)
      source.fail("(" + shown(in_file) + ") is renamed to " + shown(name) + ", as is " +
                  shown(place->second.first));
  }
}

NAX_ENGINE const std::string* NamesOfFile::take(const std::string& name) {
  auto found = names_.find(name);
  if (found == names_.end()) found = names_.find(dotted_name(name));
  if (found == names_.end() || found->second.second) return nullptr;
  found->second.second = true;
  return &found->second.first;
}

NAX_ENGINE std::vector<std::string> NamesOfFile::left() const {
  std::vector<std::string> names;
  for (const auto& [name, of_file] : names_)
    if (!of_file.second) names.push_back(of_file.first);
  return names;
}

NAX_ENGINE void fail_strict(const Source& source, const LoadReport& report) {
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < 8; ++i) text += (i > 0 ? ", " : "") + shown(names[i]);
    return text + (names.size() > 8 ? ", ... (" + std::to_string(names.size()) + ")" : "");
  };
  std::string text;
  if (!report.missing.empty()) text = "has no array named " + list(report.missing);
  if (!report.left.empty())
    text +=
        std::string(text.empty() ? "" : "; it ") + "has " + list(report.left) + ", which the tree has not";
  source.fail(text);
}

}  // namespace io::detail

namespace io {

NAX_ENGINE SafetensorsFile::SafetensorsFile(const std::string& path, const ReadSafetensorsOptions& options)
    : source_("read_safetensors", path),
      cast_(options.cast),
      reader_(detail::within_memory("read_safetensors", path,
                                    [&] { return detail::SafetensorsReader(source_, options.map); })) {}

}  // namespace io
NAX_END
