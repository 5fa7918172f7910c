#pragma once

#include <atomic>
#include <cstdlib>
#include <ctime>

#include "nax/io/file.hpp"

// Files in the making, beside the name that they get when they are whole: "<name>.part<host>-<process>-<n>".
// A process that is killed leaves its own behind; the next one that uses the folder removes them.
NAX_BEGIN
namespace io::detail {

// A name for the making of `path` that no other process and thread uses.
NAX_ENGINE std::string part_name(const std::string& path);

// Removes those files of the folder whose process, on this machine, has ended, and those older than a day.
NAX_ENGINE void sweep_parts(const std::string& folder);

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/part_files-inl.hpp"
#endif
