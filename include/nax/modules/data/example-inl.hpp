#pragma once

#include "nax/modules/data/example.hpp"

NAX_BEGIN
namespace data::detail {

// A message of protocol buffers: fields one behind the other, each a number, a wire type and a value.
class ProtoReader {
 public:
  enum Wire : std::uint32_t { varint_wire = 0, fixed64_wire = 1, bytes_wire = 2, fixed32_wire = 5 };

  // `refusal` begins the errors.
  ProtoReader(const io::Bytes& bytes, const char* refusal)
      : refusal_(refusal), begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

  // The next field's number and wire type; false at the end of the message.
  bool next(std::uint32_t& field, std::uint32_t& wire);
  std::uint64_t varint();
  // A message, or a string, within this one.
  ProtoReader message();
  io::Bytes bytes() {
    const ProtoReader of = message();
    return io::Bytes(of.at_, of.end_);
  }
  std::string text() {
    const ProtoReader of = message();
    return std::string(of.at_, of.end_);
  }
  float fixed32();
  // All that is left, as floats.
  void floats(std::vector<float>& to);
  bool done() const { return at_ == end_; }
  // The value of an unknown field.
  void skip(std::uint32_t wire);
  [[noreturn, gnu::cold]] void fail(const char* what) const;

 private:
  const std::uint8_t* take(std::uint64_t size);
  const char* refusal_;
  const std::uint8_t *begin_, *at_, *end_;
};

NAX_ENGINE void ProtoReader::fail(const char* what) const {
  raise<IoError>({refusal_, ": ", what, " at offset ", at_ - begin_});
}

NAX_ENGINE const std::uint8_t* ProtoReader::take(std::uint64_t size) {
  if (size > static_cast<std::uint64_t>(end_ - at_)) fail("a value that is longer than what it lies in");
  const std::uint8_t* const from = at_;
  at_ += size;
  return from;
}

NAX_ENGINE std::uint64_t ProtoReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    const std::uint8_t byte = *take(1);
    if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  fail("a number of more than ten bytes");
}

NAX_ENGINE bool ProtoReader::next(std::uint32_t& field, std::uint32_t& wire) {
  if (done()) return false;
  const std::uint64_t tag = varint();
  if (tag > UINT32_MAX || tag >> 3 == 0) fail("an impossible field");
  field = static_cast<std::uint32_t>(tag >> 3), wire = static_cast<std::uint32_t>(tag & 7);
  return true;
}

NAX_ENGINE ProtoReader ProtoReader::message() {
  const std::uint64_t size = varint();
  ProtoReader inner = *this;
  inner.at_ = take(size);
  inner.end_ = at_;
  return inner;
}

NAX_ENGINE float ProtoReader::fixed32() {
  const auto bits = io::detail::little_endian<std::uint32_t>(take(4));
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

NAX_ENGINE void ProtoReader::floats(std::vector<float>& to) {
  const auto n = static_cast<std::size_t>(end_ - at_) / 4;
  to.reserve(to.size() + n);
  for (std::size_t i = 0; i < n; ++i) to.push_back(fixed32());
  if (!done()) fail("a list of floats that ends within one");
}

NAX_ENGINE void ProtoReader::skip(std::uint32_t wire) {
  switch (wire) {
    case varint_wire:
      varint();
      return;
    case fixed64_wire:
      take(8);
      return;
    case bytes_wire:
      message();
      return;
    case fixed32_wire:
      take(4);
      return;
    default:
      fail("a value of an unknown kind");
  }
}

// f(field, wire) for each field of a message; those that it does not take (false) are passed over.
template <class F>
void for_each_field(ProtoReader& in, const F& f) {
  for (std::uint32_t field, wire; in.next(field, wire);)
    if (!f(field, wire)) in.skip(wire);
}

// Numbers may be packed into one field, or have one each.
inline void read_list(ProtoReader list, Feature& to) {
  for_each_field(list, [&](std::uint32_t field, std::uint32_t wire) {
    if (field != 1) return false;
    const bool packed = wire == ProtoReader::bytes_wire;
    if (to.kind == Feature::Kind::bytes && packed) {
      to.bytes.push_back(list.bytes());
    } else if (to.kind == Feature::Kind::floats && packed) {
      list.message().floats(to.floats);
    } else if (to.kind == Feature::Kind::floats && wire == ProtoReader::fixed32_wire) {
      to.floats.push_back(list.fixed32());
    } else if (to.kind == Feature::Kind::int64s && packed) {
      ProtoReader numbers = list.message();
      while (!numbers.done()) to.int64s.push_back(static_cast<std::int64_t>(numbers.varint()));
    } else if (to.kind == Feature::Kind::int64s && wire == ProtoReader::varint_wire) {
      to.int64s.push_back(static_cast<std::int64_t>(list.varint()));
    } else {
      return false;
    }
    return true;
  });
}

// One of three lists; the last one counts, and goes on where one of its kind stood.
inline void read_feature(ProtoReader in, Feature& to) {
  for_each_field(in, [&](std::uint32_t field, std::uint32_t wire) {
    if (field < 1 || field > 3 || wire != ProtoReader::bytes_wire) return false;
    const auto kind = static_cast<Feature::Kind>(field);
    if (to.kind != kind) to = Feature{kind};
    read_list(in.message(), to);
    return true;
  });
}

// A map's entries, whose values read_value(message, value) reads.
template <class Value, class Read>
void read_entries(ProtoReader in, std::map<std::string, Value>& to, Read read_value) {
  for_each_field(in, [&](std::uint32_t field, std::uint32_t wire) {
    if (field != 1 || wire != ProtoReader::bytes_wire) return false;
    std::string name;
    Value value;
    ProtoReader entry = in.message();
    for_each_field(entry, [&](std::uint32_t part, std::uint32_t of) {
      if ((part != 1 && part != 2) || of != ProtoReader::bytes_wire) return false;
      if (part == 1)
        name = entry.text();
      else
        read_value(entry.message(), value);
      return true;
    });
    to.insert_or_assign(std::move(name), std::move(value));
    return true;
  });
}

inline void read_features(ProtoReader in, std::map<std::string, Feature>& to) {
  read_entries(in, to, read_feature);
}

inline const char* kind_text(Feature::Kind kind) {
  constexpr const char* texts[] = {"no list", "a bytes_list", "a float_list", "an int64_list"};
  return texts[static_cast<int>(kind)];
}

inline const Feature& need_feature(const Example& example, const std::string& name, Feature::Kind kind) {
  const Feature& feature = example[name];
  if (feature.kind != kind)
    raise<ValueError>(
        {"Example: feature '", name, "' has ", kind_text(feature.kind), ", not ", kind_text(kind)});
  return feature;
}

template <class T>
Array<T> array_of(const std::vector<T>& values) {
  ArrayBase a = allocate_on_host(dtype_of<T>, Frame{Shape{static_cast<std::int64_t>(values.size())}, {}});
  if (!values.empty()) std::memcpy(raw_data(a), values.data(), values.size() * sizeof(T));
  return nax::detail::typed<T>(std::move(a));
}

template <class T>
const T& only(const std::vector<T>& values, const std::string& name) {
  if (values.size() != 1)
    raise<ValueError>({"Example: feature '", name, "' has ", values.size(), " values, not one"});
  return values[0];
}

}  // namespace data::detail
NAX_END
NAX_BEGIN
namespace data {

NAX_ENGINE Example parse_example(const io::Bytes& bytes) {
  Example example;
  detail::ProtoReader in(bytes, "parse_example: the bytes are no tf.train.Example");
  detail::for_each_field(in, [&](std::uint32_t field, std::uint32_t wire) {
    if (field != 1 || wire != detail::ProtoReader::bytes_wire) return false;
    detail::read_features(in.message(), example.features);
    return true;
  });
  return example;
}

NAX_ENGINE const Feature& Example::operator[](const std::string& name) const {
  const auto found = features.find(name);
  if (found != features.end()) return found->second;
  std::string there;
  for (const auto& [key, feature] : features) there += (there.empty() ? "'" : ", '") + key + "'";
  raise<ValueError>({"Example: there is no feature '", name, "', only ", there.empty() ? "none" : there});
}

NAX_ENGINE const std::vector<io::Bytes>& Example::bytes_list(const std::string& name) const {
  return detail::need_feature(*this, name, Feature::Kind::bytes).bytes;
}
NAX_ENGINE Array<float> Example::float_list(const std::string& name) const {
  return detail::array_of(detail::need_feature(*this, name, Feature::Kind::floats).floats);
}
NAX_ENGINE Array<std::int64_t> Example::int64_list(const std::string& name) const {
  return detail::array_of(detail::need_feature(*this, name, Feature::Kind::int64s).int64s);
}
NAX_ENGINE const io::Bytes& Example::bytes(const std::string& name) const {
  return detail::only(bytes_list(name), name);
}
NAX_ENGINE std::string Example::text(const std::string& name) const {
  const io::Bytes& of = bytes(name);
  return std::string(of.begin(), of.end());
}
NAX_ENGINE float Example::float32(const std::string& name) const {
  return detail::only(detail::need_feature(*this, name, Feature::Kind::floats).floats, name);
}
NAX_ENGINE std::int64_t Example::int64(const std::string& name) const {
  return detail::only(detail::need_feature(*this, name, Feature::Kind::int64s).int64s, name);
}

}  // namespace data
NAX_END
