// The part of nax::compiled for draws by rejection.
#define NAX_COMPILED_LIBRARY
#include "nax/backend/cpu/sampler_rows.hpp"
#include "nax/compiled/provide.hpp"

NAX_BEGIN
namespace cpu {
namespace {

template <class T>
void provide_all() {
  provide<SamplerKernel<Sampler::gamma>, T>();
  provide<SamplerKernel<Sampler::loggamma>, T>();
  provide<SamplerKernel<Sampler::binomial>, T>();
}

}  // namespace

void provide_samplers() {
  provide_all<float>();
  provide_all<double>();
  provide<SamplerKernel<Sampler::poisson>, std::int32_t>();
  provide<SamplerKernel<Sampler::poisson>, std::int64_t>();
}

}  // namespace cpu
NAX_END
