#pragma once

#include "nax/data/shuffle.hpp"

NAX_BEGIN
namespace data::detail {

NAX_ENGINE std::uint64_t shuffle_word(const random::Key& key, const char* function) {
  if (key.ndim() != 0) raise<ValueError>({function, ": a key is needed, as .key"});
  random::detail::check_single(function, key);
  need_plain(function, "the key", key.words());
  return key.words().item();
}

NAX_ENGINE std::vector<std::uint32_t> shuffled_indices(std::uint64_t key, std::int64_t n) {
  if (n > std::int64_t{UINT32_MAX}) raise<ValueError>({"shuffle: too many elements: ", n});
  std::vector<std::uint32_t> order(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::uint64_t bits[256];
  for (std::int64_t last = n - 1; last > 0;) {
    const std::int64_t count = std::min<std::int64_t>(256, last);
    cpu::random_bits(key, static_cast<std::uint64_t>(n - 1 - last), count, bits);
    for (std::int64_t k = 0; k < count; ++k, --last)
      std::swap(order[static_cast<std::size_t>(last)],
                order[static_cast<std::size_t>(below(bits[k], last + 1))]);
  }
  return order;
}

}  // namespace data::detail
NAX_END
