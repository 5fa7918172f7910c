#pragma once

#include <mutex>
#include <string>
#include <typeinfo>
#include <vector>

#include "nax/io/file.hpp"
#include "nax/modules/data/stage.hpp"
#include "nax/modules/data/trees.hpp"

// Which data a source reads and of what types, for fingerprints: a cache or a position of other data is
// refused.
NAX_BEGIN
namespace data::detail {

// A hash of bytes in memory, at the memory's speed. Sees accidents, not attacks.
class ContentHash {
 public:
  static constexpr std::size_t step = 64;
  // `size` is a multiple of `step`, except the last time.
  void add(const void* data, std::size_t size);
  std::uint64_t finish() const;

 private:
  // Eight lanes of 64 bits; each step of a lane is invertible, so that no single change is lost.
  std::uint64_t lanes_[8] = {1, 2, 3, 4, 5, 6, 7, 8}, size_ = 0;
  unsigned char rest_[step] = {};
};
NAX_ENGINE std::uint64_t content_hash(const void* data, std::size_t size);

// Adds the files' paths, sizes and times of change, of addresses what their store says of their version. A
// file that is not there has an identity too: its loop ends in an error.
NAX_ENGINE void describe_files(Fingerprint& print, const std::vector<std::string>& paths);

// Computes a fingerprint once, when it is first asked for: it may take a request or a pass over the data.
class Identity {
 public:
  template <class Describe>
  void describe(Fingerprint& print, const Describe& of) const {
    std::call_once(once_, [&] {
      Fingerprint own(print.purpose());
      of(own);
      value_ = own.value();
    });
    print.add(static_cast<std::int64_t>(value_));
  }

 private:
  mutable std::once_flag once_;
  mutable std::uint64_t value_ = 0;
};

// The types of T's leaves, in order.
template <class T>
void add_types(Fingerprint& print);
template <class T, std::size_t... I>
void add_types_of_children(Fingerprint& print, std::index_sequence<I...>) {
  (add_types<tree::detail::Child<T, I>>(print), ...);
}
template <class T>
void add_types(Fingerprint& print) {
  if constexpr (is_array_v<T>) {
    print.add("array"), print.add(std::string(dtype_name(dtype_of<typename T::value_type>)));
  } else {
    constexpr tree::NodeKind kind = tree::detail::node_kind<T>();
    if constexpr (kind == tree::NodeKind::map) {
      print.add("map"), add_types<typename T::mapped_type>(print);
    } else if constexpr (kind == tree::NodeKind::sequence || kind == tree::NodeKind::optional) {
      print.add("sequence"), add_types<typename T::value_type>(print);
    } else if constexpr (kind == tree::NodeKind::product) {
      print.add("product"), print.add(static_cast<std::int64_t>(tree::detail::child_count_v<T>));
      add_types_of_children<T>(print, std::make_index_sequence<tree::detail::child_count_v<T>>{});
    } else {
      print.add(typeid(T).name());
    }
  }
}

// A user's function, as far as it can be known: its type, which tells two functions of one program apart.
// Only caches look at it, since compilers number lambdas, and a position outlives an edit.
template <class F>
void add_function(Fingerprint& print, const std::string& name, const std::string& version) {
  print.add(version);
  if (print.purpose() != Fingerprint::Purpose::cache) return;
  print.add(typeid(F).name()), print.add(name);
}

inline void add_key(Fingerprint& print, const Array<std::uint64_t>& words) {
  need_plain("data", "the key", words);
  print.add(static_cast<std::int64_t>(elements<const std::uint64_t>(words)[0]));
}

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/identity-inl.hpp"
#endif
