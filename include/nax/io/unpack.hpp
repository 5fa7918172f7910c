#pragma once

#include "nax/io/file.hpp"

// Files packed as a whole: gzip (RFC 1952) and zlib (RFC 1950). By our own inflate, so that nothing is
// linked.
NAX_BEGIN
namespace io {

// How the content of a file is packed. `automatic`: as its first bytes say.
enum class Compression : std::uint8_t { automatic, none, gzip, zlib };

namespace detail {

NAX_ENGINE bool has_gzip_magic(const Source& source);
// A header of zlib's is two bytes: one in a thousand of other files begins like it.
NAX_ENGINE bool has_zlib_header(const Source& source);

// The content of a file packed by gzip (one member or more) or zlib. Throws IoError that names the offset for
// what is cut short, damaged (lengths and checksums are looked at) or of another kind.
NAX_ENGINE Bytes unpack(const Source& source, Compression by);

// All bytes of a file or an object, unpacked where it begins as gzip's do. Throws IoError that names it.
NAX_ENGINE Bytes read_unpacked(const char* function, const std::string& path);

}  // namespace detail
}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/unpack-inl.hpp"
#endif
