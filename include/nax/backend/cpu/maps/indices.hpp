#pragma once

#include "nax/core/dtype.hpp"
#include "nax/loops/index_mode.hpp"
#include "nax/loops/lines.hpp"
#include "nax/loops/operand.hpp"

// Index arrays on the host.
NAX_BEGIN
namespace cpu {

// Returns whether an index was dropped.
NAX_ENGINE bool wrap_indices(loops::IndexMode mode, std::int64_t extent, std::int64_t window,
                             const Dims& shape, const loops::Operand& from, const loops::Operand& to);

NAX_ENGINE void true_positions(std::int64_t n, const bool* mask, const loops::Room& room);

NAX_ENGINE void one_hot(const loops::Lines& lines, DType label, const char* labels, DType dtype, char* to);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/maps/indices-inl.hpp"
#endif
