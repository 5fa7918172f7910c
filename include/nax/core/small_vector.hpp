#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "nax/core/abi.hpp"

NAX_BEGIN

// A vector of a trivial type that keeps up to N elements in place: shapes and strides are copied with every
// array handle, so that their usual ranks must not touch the heap.
template <class T, int N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;

  SmallVector() = default;
  SmallVector(std::size_t n, T value) {
    resize_for_overwrite(n);
    for (T& x : *this) x = value;
  }
  template <class It>
  requires(!std::is_integral_v<It>) SmallVector(It first, It last)
      : SmallVector() {  // delegates, so that the heap block is freed if push_back throws
    for (; first != last; ++first) push_back(static_cast<T>(*first));
  }
  SmallVector(const SmallVector& other) { copy_from(other); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      size_ = 0;
      copy_from(other);
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~SmallVector() { release(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool lies_in_place() const { return capacity_ == N; }
  T* data() { return capacity_ == N ? inline_ : heap_; }
  const T* data() const { return capacity_ == N ? inline_ : heap_; }
  T* begin() & { return data(); }
  T* end() & { return data() + size_; }
  const T* begin() const& { return data(); }
  const T* end() const& { return data() + size_; }
  // Of a temporary, `x.shape().begin()`, they would dangle: keep it in a variable first.
  const T* begin() const&& = delete;
  const T* end() const&& = delete;
  // Counted from 0, by a number of any integer type.
  template <class I>
  requires std::is_integral_v<I> T& operator[](I i) { return data()[static_cast<std::size_t>(i)]; }
  template <class I>
  requires std::is_integral_v<I>
  const T& operator[](I i) const { return data()[static_cast<std::size_t>(i)]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }

  void push_back(T value) {
    reserve(size_ + 1);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize_for_overwrite(std::size_t n) {
    reserve(n);
    size_ = static_cast<std::uint32_t>(n);
  }
  void insert(std::size_t position, T value) {
    push_back(value);
    T* p = data();
    for (std::size_t i = size_ - 1; i > position; --i) p[i] = p[i - 1];
    p[position] = value;
  }
  void erase(std::size_t position) {
    T* p = data();
    for (std::size_t i = position; i + 1 < size_; ++i) p[i] = p[i + 1];
    --size_;
  }
  template <class It>
  void append(It first, It last) {
    for (; first != last; ++first) push_back(static_cast<T>(*first));
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return a.size_ == b.size_ && equal(a.data(), b.data(), a.size_);
  }

 private:
  static bool equal(const T* a, const T* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  void reserve(std::size_t n) {
    if (n > capacity_) [[unlikely]]
      grow(n);
  }
  [[gnu::noinline]] void grow(std::size_t n) {
    const std::size_t wanted = n > 2u * capacity_ ? n : 2u * capacity_;
    T* grown = new T[wanted];
    std::memcpy(static_cast<void*>(grown), data(), size_ * sizeof(T));
    release();
    heap_ = grown;
    capacity_ = static_cast<std::uint32_t>(wanted);
  }
  // One or two elements go one by one: a block copy that reads what was just written element by element
  // stalls.
  void copy_inline(const SmallVector& other) {
    if (size_ > 2) {
      std::memcpy(inline_, other.inline_, sizeof inline_);
    } else {
      if (size_ > 0) inline_[0] = other.inline_[0];
      if (size_ > 1) inline_[1] = other.inline_[1];
    }
  }
  void copy_from(const SmallVector& other) {
    if (capacity_ == N && other.capacity_ == N) {
      size_ = other.size_;
      copy_inline(other);
    } else {
      copy_heap(other);
    }
  }
  [[gnu::noinline]] void copy_heap(const SmallVector& other) {
    resize_for_overwrite(other.size_);
    std::memcpy(static_cast<void*>(data()), other.data(), size_ * sizeof(T));
  }
  void take(SmallVector& other) {
    size_ = other.size_;
    capacity_ = other.capacity_;
    if (capacity_ == N)
      copy_inline(other);
    else
      heap_ = other.heap_;
    other.capacity_ = N;
    other.size_ = 0;
  }
  void release() {
    if (capacity_ != N) [[unlikely]]
      release_heap();
  }
  [[gnu::noinline, gnu::cold]] void release_heap() {
    delete[] heap_;
    capacity_ = N;
  }

  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = N;
  union {
    T inline_[N];
    T* heap_;
  };
  static_assert(sizeof(T*) <= sizeof(T) * N);
};

NAX_END
