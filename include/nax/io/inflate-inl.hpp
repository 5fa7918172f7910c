#pragma once

#include <algorithm>

#include "nax/io/inflate.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE int PrefixCode::reversed(int word) {
  word = (word & 0x5555) << 1 | (word >> 1 & 0x5555);
  word = (word & 0x3333) << 2 | (word >> 2 & 0x3333);
  word = (word & 0x0f0f) << 4 | (word >> 4 & 0x0f0f);
  return ((word & 0xff) << 8 | word >> 8) >> 1;
}

NAX_ENGINE bool PrefixCode::build(const std::uint8_t* lengths, int symbols, bool one_is_enough) {
  int count[longest + 1] = {};
  for (int s = 0; s < symbols; ++s) ++count[lengths[s]];
  count[0] = 0;
  int used = 0;  // of the 2^15 words of 15 bits
  for (int bits = 1, place = 0; bits <= longest; ++bits) {
    first_[bits] = place - (used >> (longest - bits));
    place += count[bits];
    used += count[bits] << (longest - bits);
    end_[bits] = used;
  }
  std::fill(std::begin(quick_), std::end(quick_), std::uint16_t{0});
  if (used > 1 << longest) return false;
  const bool one = one_is_enough && count[1] == 1 && used == 1 << (longest - 1);
  if (used < 1 << longest && used != 0 && !one) return false;
  int next[longest + 1];
  for (int bits = 1; bits <= longest; ++bits) next[bits] = end_[bits - 1] >> (longest - bits);
  for (int s = 0; s < symbols; ++s) {
    const int bits = lengths[s];
    if (bits == 0) continue;
    const int code = next[bits]++;
    sorted_[first_[bits] + code] = static_cast<std::uint16_t>(s);
    if (bits > quick_bits) continue;
    for (int word = reversed(code) >> (longest - bits); word < 1 << quick_bits; word += 1 << bits)
      quick_[word] = static_cast<std::uint16_t>(s << 4 | bits);
  }
  return true;
}

NAX_ENGINE int PrefixCode::find(std::uint64_t word, int& bits) const {
  const int quick = quick_[word & ((1 << quick_bits) - 1)];
  if (quick != 0) [[likely]] {
    bits = quick & 15;
    return quick >> 4;
  }
  const int code = reversed(static_cast<int>(word & ((1 << longest) - 1)));
  for (bits = quick_bits + 1; bits <= longest; ++bits)
    if (code < end_[bits]) return sorted_[first_[bits] + (code >> (longest - bits))];
  return bits = 0;
}

NAX_ENGINE Inflate::Inflate(const Source& source, std::uint64_t at, std::uint64_t end, std::string place)
    : source_(source), place_(std::move(place)), next_(at), end_(end) {}

NAX_ENGINE void Inflate::damaged(const char* why) const { source_.fail(place_ + "is damaged: " + why); }

NAX_ENGINE void Inflate::truncated() const { source_.fail(place_ + "is truncated: its data end early"); }

NAX_ENGINE bool Inflate::more_input() {
  in_ = 0;
  in_end_ = static_cast<std::size_t>(std::min<std::uint64_t>(sizeof in_buffer_, end_ - next_));
  source_.read(next_, in_buffer_, in_end_);
  next_ += in_end_;
  return in_end_ > 0;
}

NAX_ENGINE void Inflate::fixed_codes() {
  std::uint8_t lengths[288];
  for (int s = 0; s < 288; ++s)
    lengths[s] = static_cast<std::uint8_t>(s < 144 ? 8 : s < 256 ? 9 : s < 280 ? 7 : 8);
  symbols_.build(lengths, 288, false);
  std::fill(lengths, lengths + 32, std::uint8_t{5});
  distances_.build(lengths, 32, false);
}

NAX_ENGINE int Inflate::next_symbol(const PrefixCode& code) {
  int bits;
  const int symbol = code.find(bits_, bits);
  if (bits == 0) [[unlikely]]
    damaged("bits that no code has");
  drop(bits);
  return symbol;
}

NAX_ENGINE void Inflate::read_codes() {
  static constexpr std::uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                             11, 4,  12, 3, 13, 2, 14, 1, 15};
  const int symbols = take(5) + 257, distances = take(5) + 1, lengths_given = take(4) + 4;
  if (symbols > 286 || distances > 30) damaged("a code for more symbols than there are");
  std::uint8_t lengths[286 + 30] = {};
  for (int i = 0; i < lengths_given; ++i) {
    refill();
    lengths[order[i]] = static_cast<std::uint8_t>(take(3));
  }
  if (!symbols_.build(lengths, 19, false)) damaged("the code of its codes");
  std::fill(lengths, lengths + 19, std::uint8_t{0});
  for (int i = 0; i < symbols + distances;) {
    refill();
    const int length = next_symbol(symbols_);
    if (length < 16) {
      lengths[i++] = static_cast<std::uint8_t>(length);
      continue;
    }
    if (length == 16 && i == 0) damaged("a code that repeats nothing");
    const std::uint8_t value = length == 16 ? lengths[i - 1] : std::uint8_t{0};
    const int times = length == 16 ? 3 + take(2) : length == 17 ? 3 + take(3) : 11 + take(7);
    if (times > symbols + distances - i) damaged("a code for more symbols than it says");
    std::fill(lengths + i, lengths + i + times, value);
    i += times;
  }
  if (lengths[256] == 0) damaged("a block without an end");
  if (!symbols_.build(lengths, symbols, true) || !distances_.build(lengths + symbols, distances, true))
    damaged("a code that is none");
}

NAX_ENGINE void Inflate::decode() {
  static constexpr std::uint16_t length_base[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                  15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                  67, 83, 99, 115, 131, 163, 195, 227, 258};
  static constexpr std::uint8_t length_extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                  2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  static constexpr std::uint16_t distance_base[] = {
      1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
      193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  std::uint8_t* const out = out_.get();
  while (made_ + longest_match <= 3 * window) {
    refill();
    const int symbol = next_symbol(symbols_);
    if (symbol < 256) {
      out[made_++] = static_cast<std::uint8_t>(symbol);
      continue;
    }
    if (symbol == 256) {
      block_ = Block::none;
      return;
    }
    if (symbol > 285) damaged("a match of no known length");
    const int l = symbol - 257;
    const std::size_t length = length_base[l] + static_cast<std::size_t>(take(length_extra[l]));
    const int d = next_symbol(distances_);
    if (d > 29) damaged("a match at no known distance");
    const std::size_t distance = distance_base[d] + static_cast<std::size_t>(take(d < 4 ? 0 : (d - 2) / 2));
    if (distance > made_) damaged("a match before its beginning");
    std::uint8_t* const to = out + made_;
    const std::uint8_t* const from = to - distance;
    if (distance >= length)
      std::memcpy(to, from, length);
    else
      for (std::size_t i = 0; i < length; ++i) to[i] = from[i];
    made_ += length;
  }
}

NAX_ENGINE std::size_t Inflate::read(std::uint8_t* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size && (given_ < made_ || unpack())) {
    const std::size_t n = std::min(size - done, made_ - given_);
    std::memcpy(to + done, out_.get() + given_, n);
    done += n, given_ += n;
  }
  return done;
}

NAX_ENGINE void Inflate::refill() {
  if (in_end_ - in_ >= 8) [[likely]] {
    bits_ |= little_endian<std::uint64_t>(in_buffer_ + in_) << count_;
    in_ += static_cast<std::size_t>(63 - count_) >> 3;
    count_ |= 56;
    return;
  }
  while (count_ < 56) {
    if (in_ == in_end_ && !more_input()) {
      if (count_ < padding_) truncated();
      padding_ += 8;
    } else {
      bits_ |= static_cast<std::uint64_t>(in_buffer_[in_++]) << count_;
    }
    count_ += 8;
  }
}

NAX_ENGINE bool Inflate::unpack() {
  if (!out_) out_ = std::unique_ptr<std::uint8_t[]>(new std::uint8_t[3 * window]);
  if (made_ > 2 * window) {
    std::memmove(out_.get(), out_.get() + made_ - window, window);
    made_ = given_ = window;
  }
  while (made_ == given_) {
    if (block_ == Block::none) {
      if (last_) return false;
      begin_block();
    }
    if (block_ == Block::stored) copy_stored();
    if (block_ == Block::coded) decode();
    if (count_ < padding_) truncated();
  }
  return true;
}

NAX_ENGINE void Inflate::begin_block() {
  refill();
  last_ = take(1) == 1;
  switch (take(2)) {
    case 0: {
      drop(count_ & 7);  // on to a whole byte
      refill();
      const int size = take(16), inverted = take(16);
      if (size != (inverted ^ 0xffff)) damaged("the length of a stored block");
      stored_ = static_cast<std::size_t>(size);
      block_ = Block::stored;
      break;
    }
    case 1:
      fixed_codes();
      block_ = Block::coded;
      break;
    case 2:
      read_codes();
      block_ = Block::coded;
      break;
    default:
      damaged("a block of no known kind");
  }
}

NAX_ENGINE void Inflate::copy_stored() {
  for (; stored_ > 0 && count_ > padding_ && made_ < 3 * window; --stored_)
    out_[made_++] = static_cast<std::uint8_t>(take(8));
  if (stored_ > 0 && made_ < 3 * window) {
    bits_ = 0, count_ = 0, padding_ = 0;  // of what lies in the buffer, bits_ held a copy
    while (stored_ > 0 && made_ < 3 * window) {
      if (in_ == in_end_ && !more_input()) truncated();
      const std::size_t n = std::min({stored_, in_end_ - in_, 3 * window - made_});
      std::memcpy(out_.get() + made_, in_buffer_ + in_, n);
      made_ += n, in_ += n, stored_ -= n;
    }
  }
  if (stored_ == 0) block_ = Block::none;
}

}  // namespace io::detail
NAX_END
