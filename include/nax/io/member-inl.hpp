#pragma once

#include "nax/io/member.hpp"

NAX_BEGIN
namespace io::detail {

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
