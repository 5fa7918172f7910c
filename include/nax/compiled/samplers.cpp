// The part of nax::compiled for draws by rejection.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/samplers.hpp"

NAX_BEGIN
namespace cpu {
template void draw_gamma(std::uint64_t, std::uint64_t, std::int64_t, const float*, bool, float*);
template void draw_gamma(std::uint64_t, std::uint64_t, std::int64_t, const double*, bool, double*);
template std::size_t poisson_rounds(std::uint64_t, std::uint64_t, std::int64_t, const float*);
template void draw_poisson(std::uint64_t, std::uint64_t, std::int64_t, const float*, std::size_t,
                           std::int32_t*);
template void draw_poisson(std::uint64_t, std::uint64_t, std::int64_t, const float*, std::size_t,
                           std::int64_t*);
template std::size_t binomial_rounds(std::uint64_t, std::uint64_t, std::int64_t, const float*, const float*);
template std::size_t binomial_rounds(std::uint64_t, std::uint64_t, std::int64_t, const double*,
                                     const double*);
template void draw_binomial(std::uint64_t, std::uint64_t, std::int64_t, const float*, const float*,
                            std::size_t, float*);
template void draw_binomial(std::uint64_t, std::uint64_t, std::int64_t, const double*, const double*,
                            std::size_t, double*);
}  // namespace cpu
NAX_END
