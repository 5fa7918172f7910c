#pragma once

#include <string>

#include "nax/io/file.hpp"

// The members of tar archives: ustar, with the long names of pax and of GNU tar.
NAX_BEGIN
namespace data::detail {

struct TarMember {
  std::string name;
  bool regular = false;    // a file, not a folder, a link or the like
  std::uint64_t data = 0;  // where its bytes begin
  std::uint64_t size = 0;  // and how many there are
  std::uint64_t next = 0;  // where the next member begins
};

// The member whose header (or that of its long name) lies at `at`. False where the archive ends there, with a
// block of zeros. Offsets in messages have `base` added to them. Throws IoError for what is no archive or
// ends without saying so.
NAX_ENGINE bool read_tar_member(const io::detail::Source& file, std::uint64_t at, TarMember& member,
                                std::uint64_t base = 0);

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/tar_members-inl.hpp"
#endif
