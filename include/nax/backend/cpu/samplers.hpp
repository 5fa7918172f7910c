#pragma once

#include <cstddef>
#include <cstdint>

#include "nax/backend/cpu/threefry.hpp"

// Draws by rejection, for float and double (of poisson: int32 and int64): elements first ... first + n - 1 of
// what a key gives, each with its own parameters.
NAX_BEGIN
namespace cpu {

// Marsaglia and Tsang, 2000; or the logarithms of such draws, which are accurate where those underflow.
template <class T>
void draw_gamma(std::uint64_t key, std::uint64_t first, std::int64_t n, const T* alphas, bool logarithm,
                T* out);
// -1 for a rate below 0 or NaN. `rounds`: what poisson_rounds gives at most for the elements of the whole
// draw; 0 where no rate is 10 or more.
template <class I>
void draw_poisson(std::uint64_t key, std::uint64_t first, std::int64_t n, const float* rates,
                  std::size_t rounds, I* out);
template <class T>
std::size_t poisson_rounds(std::uint64_t key, std::uint64_t first, std::int64_t n, const T* rates);
// NaN for a count below 0, or a probability beyond [0, 1].
template <class T>
void draw_binomial(std::uint64_t key, std::uint64_t first, std::int64_t n, const T* counts,
                   const T* probabilities, std::size_t rounds, T* out);
template <class T>
std::size_t binomial_rounds(std::uint64_t key, std::uint64_t first, std::int64_t n, const T* counts,
                            const T* probabilities);

}  // namespace cpu
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/backend/cpu/sampler_kernels.hpp"
#endif
