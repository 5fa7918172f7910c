#pragma once

// The version of these headers, which CMake reads from here.
#define NAX_VERSION_MAJOR 0
#define NAX_VERSION_MINOR 2
#define NAX_VERSION_PATCH 0
// To compare with: `#if NAX_VERSION >= 200` is 0.2.0 or later.
#define NAX_VERSION (NAX_VERSION_MAJOR * 10000 + NAX_VERSION_MINOR * 100 + NAX_VERSION_PATCH)
