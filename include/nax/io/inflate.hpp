#pragma once

#include <algorithm>
#include <memory>

#include "nax/io/file.hpp"

// Deflate (RFC 1951), as numpy.savez_compressed packs with it. Our own and not zlib's: nax.hpp reads what
// NumPy writes, and must not ask its users to link a library for it. (A hook that io/gzip.hpp fills would
// make the same load work in one program and fail in the next, by what else that includes.) It computes no
// more than it is asked for: how much is right, the caller knows.
NAX_BEGIN
namespace io::detail {

// A prefix code: from bits to symbols.
class PrefixCode {
 public:
  // From the length of each symbol's code, 0 for none. False where no such code exists, and where bits remain
  // that mean nothing; a code of one symbol, which has nothing to tell apart, may have those if so said.
  bool build(const std::uint8_t* lengths, int symbols, bool one_is_enough);
  // The symbol that these bits begin with, and how many of them are its own; 0 where they mean nothing.
  int find(std::uint64_t word, int& bits) const;

 private:
  static constexpr int longest = 15, quick_bits = 10;
  // Codes are written from their highest bit on, everything else from its lowest.
  static int reversed(int word) {
    word = (word & 0x5555) << 1 | (word >> 1 & 0x5555);
    word = (word & 0x3333) << 2 | (word >> 2 & 0x3333);
    word = (word & 0x0f0f) << 4 | (word >> 4 & 0x0f0f);
    return ((word & 0xff) << 8 | word >> 8) >> 1;
  }

  std::uint16_t quick_[1 << quick_bits];  // by the next ten bits: symbol << 4 | length, 0 for longer ones
  std::uint16_t sorted_[288];             // by length, then by value
  int first_[longest + 1] = {};           // added to a code of this length: its place in sorted_
  int end_[longest + 1] = {};             // above all codes up to this length, as words of 15 bits
};

// The bytes that lie packed from offset `at` to `end` of a file, in a row.
class Inflate {
 public:
  Inflate(const Source& source, std::uint64_t at, std::uint64_t end, std::string place)
      : source_(source), place_(std::move(place)), next_(at), end_(end) {}
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;

  // Fills `to`; less than `size` only at the end. Throws IoError for what is no such stream.
  std::size_t read(std::uint8_t* to, std::size_t size);
  // Behind the end of the stream: how many bytes does it not need?
  std::uint64_t left() const {
    return end_ - next_ + (in_end_ - in_) + static_cast<std::uint64_t>((count_ - padding_) / 8);
  }

 private:
  static constexpr std::size_t window = 1 << 15, longest_match = 258;
  enum class Block { none, stored, coded };

  [[noreturn, gnu::cold]] void damaged(const char* why) const { source_.fail(place_ + "is damaged: " + why); }
  [[noreturn, gnu::cold]] void truncated() const {
    source_.fail(place_ + "is truncated: its data end early");
  }

  // Refills to at least 48 bits. Bits behind the end are zeros, which callers must not consume.
  void refill();
  bool more_input() {
    in_ = 0;
    in_end_ = static_cast<std::size_t>(std::min<std::uint64_t>(sizeof in_buffer_, end_ - next_));
    source_.read(next_, in_buffer_, in_end_);
    next_ += in_end_;
    return in_end_ > 0;
  }
  void drop(int n) {
    bits_ >>= n;
    count_ -= n;
  }
  int take(int n) {
    const int value = static_cast<int>(bits_ & ((std::uint64_t{1} << n) - 1));
    drop(n);
    return value;
  }

  // Makes at least one byte more; false at the end of the stream.
  bool unpack();

  void begin_block();
  void fixed_codes() {
    std::uint8_t lengths[288];
    for (int s = 0; s < 288; ++s)
      lengths[s] = static_cast<std::uint8_t>(s < 144 ? 8 : s < 256 ? 9 : s < 280 ? 7 : 8);
    symbols_.build(lengths, 288, false);
    std::fill(lengths, lengths + 32, std::uint8_t{5});
    distances_.build(lengths, 32, false);
  }
  // The lengths of both codes come in a third one, whose lengths come first.
  void read_codes() {
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

  int next_symbol(const PrefixCode& code) {
    int bits;
    const int symbol = code.find(bits_, bits);
    if (bits == 0) [[unlikely]]
      damaged("bits that no code has");
    drop(bits);
    return symbol;
  }

  void copy_stored();

  void decode() {
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

  const Source& source_;
  std::string place_;
  std::uint64_t next_, end_;  // in the file: what is not in the buffer yet
  std::uint8_t in_buffer_[1 << 14];
  std::size_t in_ = 0, in_end_ = 0;
  std::uint64_t bits_ = 0;
  int count_ = 0, padding_ = 0;  // bits in bits_; the last of them are behind the end
  Block block_ = Block::none;
  bool last_ = false;
  std::size_t stored_ = 0;
  PrefixCode symbols_, distances_;
  std::unique_ptr<std::uint8_t[]> out_;  // what the next matches may reach back to, then what is new
  std::size_t made_ = 0, given_ = 0;
};

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/inflate-inl.hpp"
#endif
