#pragma once

#include <cstdlib>
#include <cstring>

#include "nax/core/profile.hpp"
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

// The names of operations for NVIDIA's tools (Nsight Systems): ranges of NVTX, where the toolkit has its
// headers and NAX_NVTX is 1 in the environment.
NAX_BEGIN
namespace cuda {

inline void provide_name_ranges() {
#if __has_include(<nvtx3/nvToolsExt.h>)
  const char* const wanted = std::getenv("NAX_NVTX");
  if (!wanted || std::strcmp(wanted, "1") != 0) return;
  namespace profile = nax::detail::profile;
  profile::name_ranges = {[](const char* name) noexcept { nvtxRangePushA(name); },
                          []() noexcept { nvtxRangePop(); }};
  profile::on.fetch_or(profile::naming_ranges);
#endif
}

}  // namespace cuda
NAX_END
