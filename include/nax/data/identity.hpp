#pragma once

#include <sys/stat.h>

#include <mutex>
#include <string>
#include <typeinfo>
#include <vector>

#include "nax/data/remote.hpp"
#include "nax/data/stage.hpp"
#include "nax/data/trees.hpp"

// Which data a source reads and of what types, for fingerprints: a cache or a position of other data is
// refused.
namespace nax::inline NAX_ABI::data::detail {

// A hash of bytes in memory, at the memory's speed. Sees accidents, not attacks.
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

}  // namespace nax::inline NAX_ABI::data::detail

#if !defined(NAX_CALLS_LIBRARY)  // bodies
namespace nax::inline NAX_ABI::data::detail {

// Eight lanes of 64 bits; each step of a lane is invertible, so that no single change is lost.
NAX_ENGINE std::uint64_t content_hash(const void* data, std::size_t size) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  const auto mixed = [](std::uint64_t state, std::uint64_t word) {
    state = (state ^ word) * odd;
    return state ^ state >> 32;
  };
  const auto* from = static_cast<const unsigned char*>(data);
  std::uint64_t lanes[8] = {1, 2, 3, 4, 5, 6, 7, 8}, total = size;
  for (; size >= sizeof lanes; size -= sizeof lanes, from += sizeof lanes) {
    std::uint64_t words[8];
    std::memcpy(words, from, sizeof words);
    for (std::size_t k = 0; k < 8; ++k) lanes[k] = mixed(lanes[k], words[k]);
  }
  std::uint64_t rest[8] = {};
  if (size > 0) std::memcpy(rest, from, size);
  for (std::size_t k = 0; k < 8; ++k) total = mixed(total, mixed(lanes[k], rest[k]));
  return total;
}

NAX_ENGINE void describe_files(Fingerprint& print, const std::vector<std::string>& paths) {
  std::vector<std::string> remote;
  for (const std::string& path : paths) {
    print.add(path);
    if (is_remote(path)) {
      remote.push_back(path);
      continue;
    }
    struct stat status;
    if (::stat(path.c_str(), &status) != 0) {
      print.add("missing");
      continue;
    }
    print.add(static_cast<std::int64_t>(status.st_size));
    print.add(static_cast<std::int64_t>(status.st_mtim.tv_sec));
    print.add(static_cast<std::int64_t>(status.st_mtim.tv_nsec));
  }
  if (remote.empty() || !remote_store) return;
  for (const std::string& version : remote_store->versions(remote)) print.add(version);
}

}  // namespace nax::inline NAX_ABI::data::detail
#endif
