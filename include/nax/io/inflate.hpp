#pragma once

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
  static int reversed(int word);

  std::uint16_t quick_[1 << quick_bits];  // by the next ten bits: symbol << 4 | length, 0 for longer ones
  std::uint16_t sorted_[288];             // by length, then by value
  int first_[longest + 1] = {};           // added to a code of this length: its place in sorted_
  int end_[longest + 1] = {};             // above all codes up to this length, as words of 15 bits
};

// The bytes that lie packed from offset `at` to `end` of a file, in a row.
class Inflate {
 public:
  Inflate(const Source& source, std::uint64_t at, std::uint64_t end, std::string place);
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

  [[noreturn, gnu::cold]] void damaged(const char* why) const;
  [[noreturn, gnu::cold]] void truncated() const;

  // Refills to at least 48 bits. Bits behind the end are zeros, which callers must not consume.
  void refill();
  bool more_input();
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
  void fixed_codes();
  // The lengths of both codes come in a third one, whose lengths come first.
  void read_codes();

  int next_symbol(const PrefixCode& code);

  void copy_stored();

  void decode();

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
