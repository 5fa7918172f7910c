#pragma once

#include "nax/io/inflate.hpp"

NAX_BEGIN
namespace io::detail {

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
