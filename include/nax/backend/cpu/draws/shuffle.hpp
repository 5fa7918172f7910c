#pragma once

#include <cstdint>

#include "nax/core/dtype.hpp"
#include "nax/loops/lines.hpp"

// Permutations: positions along lines, sorted by random keys of 32 bits, once or, where equal keys are
// likely, several times.
NAX_BEGIN
namespace cpu {

// Writes, for each of `rows` keys, the first `kept` of the shuffled positions of each line; sort keys are
// drawn for all elements of the lines. dtype: int32 or int64.
NAX_ENGINE void shuffle(const loops::Lines& lines, std::int64_t kept, const std::uint64_t* keys,
                        std::int64_t rows, DType dtype, void* to);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/draws/shuffle-inl.hpp"
#endif
