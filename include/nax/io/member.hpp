#pragma once

#include <memory>

#include "nax/io/file.hpp"

NAX_BEGIN
namespace io::detail {

class Inflate;

// A part of a file that is read once, from its beginning to its end: a whole .npy, or a member of an archive,
// stored as it is or deflated.
class Member {
 public:
  // All of it; `name` is for messages.
  Member(const Source& source, const std::string& name);
  // `packed` bytes at `at` that stand for `size` others.
  Member(const Source& source, const std::string& name, std::uint64_t at, std::uint64_t packed,
         std::uint64_t size, bool deflated, std::uint32_t crc);
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member();

  std::uint64_t left() const { return size_ - done_; }
  [[noreturn, gnu::cold]] void fail(const std::string& what) const;

  // The next `size` bytes.
  void read(void* to, std::size_t size);
  // Verifies the CRC once all bytes are read.
  void finish();

 private:
  const Source& source_;
  std::string place_;
  std::uint64_t at_ = 0, size_, done_ = 0;
  std::uint32_t crc_ = 0, read_crc_ = 0;
  bool has_crc_ = false;
  std::unique_ptr<Inflate> inflate_;
};

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/crc32.hpp"
#include "nax/io/inflate.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE Member::Member(const Source& source, const std::string& name)
    : source_(source), place_("(" + name + ") "), size_(source.size()) {}

NAX_ENGINE Member::Member(const Source& source, const std::string& name, std::uint64_t at,
                          std::uint64_t packed, std::uint64_t size, bool deflated, std::uint32_t crc)
    : source_(source), place_("(" + name + ") "), at_(at), size_(size), crc_(crc), has_crc_(true) {
  if (deflated) inflate_ = std::make_unique<Inflate>(source, at, at + packed, place_);
}

NAX_ENGINE Member::~Member() = default;

NAX_ENGINE void Member::fail(const std::string& what) const { source_.fail(place_ + what); }

NAX_ENGINE void Member::finish() {
  std::uint8_t more;
  if (inflate_ && (inflate_->read(&more, 1) > 0 || inflate_->left() > 0))
    fail("is damaged: it holds more than it says");
  if (has_crc_ && read_crc_ != crc_) fail("is damaged: its CRC is wrong");
}

NAX_ENGINE void Member::read(void* to, std::size_t size) {
  if (size > left()) fail("is truncated: it ends at offset " + std::to_string(size_));
  if (inflate_) {
    if (inflate_->read(static_cast<std::uint8_t*>(to), size) < size)
      fail("is damaged: it holds less than it says");
  } else {
    source_.read(at_ + done_, to, size);
  }
  done_ += size;
  if (has_crc_) read_crc_ = crc32(to, size, read_crc_);
}

}  // namespace io::detail
NAX_END
#endif
