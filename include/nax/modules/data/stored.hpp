#pragma once

#include <map>
#include <optional>
#include <string>
#include <type_traits>

#include "nax/io/file.hpp"
#include "nax/modules/data/trees.hpp"

// Elements as bytes, for caches on disk: what the type knows is not written. Only this machine's programs
// read it.
NAX_BEGIN
namespace data::detail {

class ByteWriter {
 public:
  void put(const void* data, std::size_t size);
  void number(std::uint64_t value) { put(&value, sizeof value); }
  void array(const ArrayBase& a);
  io::Bytes bytes;
};

// Throws IoError where the bytes are not what the type wants.
class ByteReader {
 public:
  ByteReader(const io::Bytes& bytes, std::size_t at) : bytes_(bytes), at_(at) {}
  void get(void* to, std::size_t size);
  std::uint64_t number() {
    std::uint64_t value;
    get(&value, sizeof value);
    return value;
  }
  // How many of something that takes at least a byte each.
  std::uint64_t count() {
    const std::uint64_t n = number();
    if (n > bytes_.size() - at_) throw IoError("cache: a stored element is too short");
    return n;
  }
  ArrayBase array(DType dtype);
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  const io::Bytes& bytes_;
  std::size_t at_;
};

template <class T>
void store_value(ByteWriter& out, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    out.number(value.size());
    out.put(value.data(), value.size());
  } else {
    constexpr tree::NodeKind kind = tree::detail::kind_of<T>;
    if constexpr (is_array_v<T>) {
      out.array(value);
    } else if constexpr (kind == tree::NodeKind::leaf) {
      static_assert(std::is_trivially_copyable_v<T>, "cache: a leaf of this type cannot be stored");
      out.put(&value, sizeof value);
    } else if constexpr (kind == tree::NodeKind::fixed) {
      using Held = typename T::static_type;
      static_assert(std::is_same_v<Held, std::string> || std::is_trivially_copyable_v<Held>,
                    "cache: a Static of this type cannot be stored");
      if constexpr (std::is_same_v<Held, std::string>)
        store_value(out, *value);
      else
        out.put(&*value, sizeof *value);
    } else if constexpr (kind == tree::NodeKind::sequence) {
      out.number(value.size());
      for (const auto& item : value) store_value(out, item);
    } else if constexpr (kind == tree::NodeKind::map) {
      out.number(value.size());
      for (const auto& [key, item] : value) store_value(out, key), store_value(out, item);
    } else if constexpr (kind == tree::NodeKind::optional) {
      out.number(value.has_value());
      if (value) store_value(out, *value);
    } else {
      std::apply([&](const auto&... child) { (store_value(out, child), ...); },
                 tree::detail::children(value));
    }
  }
}

template <class T>
void restore_value(ByteReader& in, T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    value.resize(in.count());
    in.get(value.data(), value.size());
  } else {
    constexpr tree::NodeKind kind = tree::detail::kind_of<T>;
    if constexpr (is_array_v<T>) {
      value = nax::detail::typed<typename T::value_type>(in.array(dtype_of<typename T::value_type>));
    } else if constexpr (kind == tree::NodeKind::leaf) {
      in.get(&value, sizeof value);
    } else if constexpr (kind == tree::NodeKind::fixed) {
      typename T::static_type held{};
      if constexpr (std::is_same_v<typename T::static_type, std::string>)
        restore_value(in, held);
      else
        in.get(&held, sizeof held);
      value = T(std::move(held));
    } else if constexpr (kind == tree::NodeKind::sequence) {
      const std::uint64_t n = in.count();
      if constexpr (requires { value.resize(n); }) {
        value.resize(n);
      } else if (n != value.size()) {
        throw IoError("cache: a stored element is of another type");
      }
      for (auto& item : value) restore_value(in, item);
    } else if constexpr (kind == tree::NodeKind::map) {
      for (std::uint64_t n = in.count(); n > 0; --n) {
        typename T::key_type key{};
        restore_value(in, key);
        restore_value(in, value[key]);
      }
    } else if constexpr (kind == tree::NodeKind::optional) {
      if (in.number() != 0) restore_value(in, value.emplace());
    } else {
      std::apply([&](auto&... child) { (restore_value(in, child), ...); }, tree::detail::children(value));
    }
  }
}

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/stored-inl.hpp"
#endif
