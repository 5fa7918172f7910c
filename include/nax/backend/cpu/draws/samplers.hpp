#pragma once

#include <cstddef>
#include <cstdint>

#include "nax/backend/cpu/kernel_slots.hpp"
#include "nax/rules/sampler.hpp"

// Draws by rejection that the host's operations find by kind and dtype: float and double (of poisson: int32
// and int64). Each of `rows` keys gives n elements; row-major parameters have one for each. Defined in
// sampler_kernels.hpp.
NAX_BEGIN
namespace cpu {

using nax::detail::Sampler;
using SamplerFunction = void(const std::uint64_t* keys, std::int64_t rows, std::int64_t n,
                             const void* const* parameters, void* out);

template <Sampler kind>
struct SamplerKernel {
  static constexpr const char* name = nax::detail::name_of(kind);
  using Function = SamplerFunction;
  template <class T>
  static void run(const std::uint64_t* keys, std::int64_t rows, std::int64_t n, const void* const* parameters,
                  void* out);
};

inline SamplerFunction* sampler_kernel(Sampler kind, DType dtype) {
  switch (kind) {
    case Sampler::gamma:
      return kernel_for<SamplerKernel<Sampler::gamma>>(dtype);
    case Sampler::loggamma:
      return kernel_for<SamplerKernel<Sampler::loggamma>>(dtype);
    case Sampler::poisson:
      return kernel_for<SamplerKernel<Sampler::poisson>>(dtype);
    case Sampler::binomial:
      return kernel_for<SamplerKernel<Sampler::binomial>>(dtype);
  }
  return nullptr;
}

}  // namespace cpu
NAX_END
