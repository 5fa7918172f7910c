#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "nax/backend/cpu/draws/shuffle.hpp"
#include "nax/backend/cpu/draws/threefry.hpp"
#include "nax/backend/cpu/sort/sort.hpp"

NAX_BEGIN
namespace cpu {

namespace detail {

// Shuffles the positions along the lines of one array.
class Shuffle {
 public:
  explicit Shuffle(const loops::Lines& lines)
      : lines_(lines),
        positions_(static_cast<std::size_t>(lines.count() * lines.n)),
        sort_keys_(positions_.size()),
        pairs_(static_cast<std::size_t>(2 * lines.n)) {}

  void run(std::uint64_t key) {
    const std::int64_t size = lines_.count() * lines_.n;
    for (std::int64_t i = 0; i < size; ++i)
      positions_[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(i / lines_.inner % lines_.n);
    for (int rounds = loops::shuffle_rounds(size); rounds > 0; --rounds) {
      random_bits(word_pair(threefry(key, 1)), 0, size, sort_keys_.data());
      key = word_pair(threefry(key, 0));
      for (std::int64_t l = 0; l < lines_.count(); ++l) sort_line(first(l));
    }
  }
  template <class I>
  void write(std::int64_t kept, I* to) const {
    for (std::int64_t l = 0; l < lines_.count(); ++l) {
      const std::int64_t from = first(l), at = l / lines_.inner * kept * lines_.inner + l % lines_.inner;
      for (std::int64_t i = 0; i < kept; ++i)
        to[at + i * lines_.inner] =
            static_cast<I>(positions_[static_cast<std::size_t>(from + i * lines_.inner)]);
    }
  }

 private:
  std::int64_t first(std::int64_t line) const {
    return line / lines_.inner * lines_.n * lines_.inner + line % lines_.inner;
  }
  // Those with equal keys stay in order.
  void sort_line(std::int64_t at) {
    std::uint64_t* sorted = pairs_.data();
    const std::int64_t n = lines_.n;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto from = static_cast<std::size_t>(at + i * lines_.inner);
      sorted[i] = std::uint64_t{sort_keys_[from]} << 32 | positions_[from];
    }
    const auto key = [](std::uint64_t pair) { return static_cast<std::uint32_t>(pair >> 32); };
    if (n < radix_from)
      std::stable_sort(sorted, sorted + n, [&](std::uint64_t a, std::uint64_t b) { return key(a) < key(b); });
    else
      sorted = radix_sort(sorted, sorted + n, n, key);
    for (std::int64_t i = 0; i < n; ++i)
      positions_[static_cast<std::size_t>(at + i * lines_.inner)] = static_cast<std::uint32_t>(sorted[i]);
  }

  loops::Lines lines_;
  std::vector<std::uint32_t> positions_, sort_keys_;
  std::vector<std::uint64_t> pairs_;
};

}  // namespace detail

NAX_ENGINE void shuffle(const loops::Lines& lines, std::int64_t kept, const std::uint64_t* keys,
                        std::int64_t rows, DType dtype, void* to) {
  const std::int64_t size = lines.count() * kept;
  parallel_for(rows, 1, [&](std::int64_t begin, std::int64_t end) {
    detail::Shuffle one(lines);
    for (std::int64_t row = begin; row < end; ++row) {
      one.run(keys[row]);
      if (dtype == DType::int32)
        one.write(kept, static_cast<std::int32_t*>(to) + row * size);
      else
        one.write(kept, static_cast<std::int64_t*>(to) + row * size);
    }
  });
}

}  // namespace cpu
NAX_END
