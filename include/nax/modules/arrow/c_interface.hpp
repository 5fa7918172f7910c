#pragma once

#include <cstdint>
#include <utility>

#include "nax/core/abi.hpp"

// The structs of Arrow's C data and C stream interfaces, as their specifications declare them; those of
// another library's header serve as well.
// Source: https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
}
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
extern "C" {
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
}
#endif

NAX_BEGIN
namespace data {
namespace detail {

// Owns what a struct of these stands for, and releases it once. Moves as the specification says: the struct
// is copied, and the source marked as released.
template <class C>
class ArrowOwned {
 public:
  ArrowOwned() = default;
  // Takes it from the caller.
  explicit ArrowOwned(C* from) : c_(*from) { from->release = nullptr; }
  ArrowOwned(ArrowOwned&& other) noexcept : c_(std::exchange(other.c_, C{})) {}
  ArrowOwned& operator=(ArrowOwned&& other) noexcept {
    std::swap(c_, other.c_);
    return *this;
  }
  ~ArrowOwned() {
    if (c_.release) c_.release(&c_);
  }
  C* get() { return &c_; }
  const C& operator*() const { return c_; }
  const C* operator->() const { return &c_; }

 private:
  C c_{};
};

}  // namespace detail

// A stream of batches that has one owner, who may hand it on as ArrowArrayStream*: who takes it moves it out,
// as Arrow's consumers do.
class ArrowStream : public detail::ArrowOwned<ArrowArrayStream> {
 public:
  using ArrowOwned::ArrowOwned;
  operator ArrowArrayStream*() { return get(); }
};

}  // namespace data
NAX_END
