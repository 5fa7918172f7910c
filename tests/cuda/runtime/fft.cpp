#include <cufft.h>

#include <cmath>
#include <complex>
#include <limits>

#include "cuda/runtime/world.hpp"

// A stand-in of cuFFT: plans of lines, checked when they are made and called, and sums of products on the
// host when the stream gets there.
//
// Violations: an operand, result or work area that is not in memory of the plan's card, a plan destroyed
// before work that it was given has run. Kept of the library's rules: without automatic allocation a call
// needs a work area; its contents are lost, and so is the operand of a transform to real numbers; ends whose
// imaginary parts are not zero give NaN there, since the library promises nothing.
namespace {

using namespace stand_in;

struct Plan {
  int card = 0;
  bool allocates = true, made = false;
  cufftType type{};
  std::int64_t n = 0, batch = 0, from_stride = 0, from_distance = 0, to_stride = 0, to_distance = 0;
  std::size_t work_bytes = 0;
  char* work = nullptr;
  cudaStream_t stream = nullptr;
  bool destroyed = false;

  bool wide() const { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }
  bool from_real() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  bool to_real() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  std::int64_t from_places() const { return to_real() ? n / 2 + 1 : n; }
  std::int64_t to_places() const { return from_real() ? n / 2 + 1 : n; }
  std::size_t from_bytes() const { return (wide() ? 8u : 4u) * (from_real() ? 1u : 2u); }
  std::size_t to_bytes() const { return (wide() ? 8u : 4u) * (to_real() ? 1u : 2u); }
};

std::map<cufftHandle, std::shared_ptr<Plan>>& plans() {
  static auto* const all = new std::map<cufftHandle, std::shared_ptr<Plan>>;
  return *all;
}
std::shared_ptr<Plan> plan_of(cufftHandle handle) {
  const auto at = plans().find(handle);
  return at == plans().end() ? nullptr : at->second;
}

// A call of cuFFT is one of those that may fail.
template <class F>
cufftResult fft_call(const F& f, bool destroys = false) {
  cufftResult result = CUFFT_INTERNAL_ERROR;
  const cudaError_t code = call(
      [&](World& w, auto&) {
        result = f(w);
        return cudaSuccess;
      },
      destroys);
  if (code == cudaErrorMemoryAllocation) return CUFFT_ALLOC_FAILED;
  return code == cudaSuccess ? result : CUFFT_INTERNAL_ERROR;
}

// Whether all of it lies in one block of the card that is not freed.
bool in_block(World& w, const void* address, std::size_t bytes, int card) {
  const Block* const block = w.block_of(address);
  if (!block || block->freed || block->device != card) return false;
  const Block* const last = w.block_of(static_cast<const char*>(address) + bytes - 1);
  return last == block;
}
bool distinct(std::int64_t places, std::int64_t stride, std::int64_t batch, std::int64_t distance) {
  return distance > (places - 1) * stride || stride > (batch - 1) * distance;
}
std::size_t extent(std::int64_t places, std::int64_t stride, std::int64_t batch, std::int64_t distance) {
  return static_cast<std::size_t>((places - 1) * stride + (batch - 1) * distance + 1);
}

template <class R>
void transform(const Plan& p, R* from, R* to, int direction) {
  using C = std::complex<double>;
  const std::int64_t n = p.n, from_step = p.from_real() ? 1 : 2, to_step = p.to_real() ? 1 : 2;
  std::vector<C> x(static_cast<std::size_t>(n)), root(x.size());
  for (std::int64_t j = 0; j < n; ++j)
    root[static_cast<std::size_t>(j)] =
        std::polar(1., direction * 2 * M_PI * static_cast<double>(j) / static_cast<double>(n));
  for (std::int64_t line = 0; line < p.batch; ++line) {
    R* const in = from + line * p.from_distance * from_step;
    R* const out = to + line * p.to_distance * to_step;
    for (std::int64_t j = 0; j < p.from_places(); ++j) {
      R* const at = in + j * p.from_stride * from_step;
      C& here = x[static_cast<std::size_t>(j)];
      here = C(at[0], p.from_real() ? 0 : at[1]);
      if (!p.to_real()) continue;
      if ((j == 0 || 2 * j == n) && at[1] != 0) here = std::numeric_limits<double>::quiet_NaN();
      if (j > 0) x[static_cast<std::size_t>(n - j)] = std::conj(here);
      at[0] = at[1] = std::numeric_limits<R>::quiet_NaN();
    }
    for (std::int64_t k = 0; k < p.to_places(); ++k) {
      C sum = 0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += x[static_cast<std::size_t>(j)] * root[static_cast<std::size_t>(j * k % n)];
      R* const at = out + k * p.to_stride * to_step;
      at[0] = static_cast<R>(sum.real());
      if (!p.to_real()) at[1] = static_cast<R>(sum.imag());
    }
  }
}

cufftResult execute(cufftHandle handle, cufftType type, void* from, void* to, int direction) {
  return fft_call([&](World& w) {
    const std::shared_ptr<Plan> plan = plan_of(handle);
    if (!plan || !plan->made) return CUFFT_INVALID_PLAN;
    const Plan p = *plan;
    if (p.type != type) return CUFFT_INVALID_TYPE;
    if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
    if (p.work_bytes > 0 && !p.allocates && !p.work) return CUFFT_NO_WORKSPACE;
    for (const void* side : {from, to})
      if (reinterpret_cast<std::uintptr_t>(side) % (p.wide() ? 16 : 8) != 0) return CUFFT_UNALIGNED_DATA;
    if (!w.streams.count(p.stream) || p.stream->device != p.card || p.card != current)
      return CUFFT_INVALID_DEVICE;
    const auto run = [plan, p, from, to, direction, &w] {
      const std::size_t in =
          extent(p.from_places(), p.from_stride, p.batch, p.from_distance) * p.from_bytes();
      const std::size_t out = extent(p.to_places(), p.to_stride, p.batch, p.to_distance) * p.to_bytes();
      if (plan->destroyed || !in_block(w, from, in, p.card) || !in_block(w, to, out, p.card) ||
          (p.work_bytes > 0 && !in_block(w, p.work, p.work_bytes, p.card))) {
        ++w.violations;
        return;
      }
      if (p.work_bytes > 0) std::memset(p.work, 0xA5, p.work_bytes);
      if (p.wide())
        transform(p, static_cast<double*>(from), static_cast<double*>(to), direction);
      else
        transform(p, static_cast<float*>(from), static_cast<float*>(to), direction);
    };
    return w.enqueue(p.stream, run) == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
  });
}

}  // namespace

namespace stand_in {
long fft_plans() {
  const std::lock_guard lock(world().mutex);
  return static_cast<long>(plans().size());
}
}  // namespace stand_in

extern "C" {

cufftResult cufftCreate(cufftHandle* handle) {
  return fft_call([&](World& w) {
    w.refuse_in_capture();
    static cufftHandle next = 0;
    plans()[*handle = ++next] = std::make_shared<Plan>();
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftDestroy(cufftHandle handle) {
  return fft_call(
      [&](World& w) {
        const std::shared_ptr<Plan> plan = plan_of(handle);
        if (!plan) return CUFFT_INVALID_PLAN;
        w.refuse_captured([](const CUstream_st*) { return true; });
        plan->destroyed = true;
        plans().erase(handle);
        return CUFFT_SUCCESS;
      },
      true);
}
cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocates) {
  return fft_call([&](World&) {
    const std::shared_ptr<Plan> plan = plan_of(handle);
    if (!plan || plan->made) return CUFFT_INVALID_PLAN;
    plan->allocates = allocates != 0;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* n, long long* from_embedded,
                                long long from_stride, long long from_distance, long long* to_embedded,
                                long long to_stride, long long to_distance, cufftType type, long long batch,
                                size_t* work_bytes) {
  return fft_call([&](World& w) {
    const std::shared_ptr<Plan> plan = plan_of(handle);
    if (!plan || plan->made) return CUFFT_INVALID_PLAN;
    if (rank != 1 || !n || !from_embedded || !to_embedded || !work_bytes) return CUFFT_INVALID_VALUE;
    if (*n < 2 || batch < 1) return CUFFT_INVALID_SIZE;
    plan->card = current;
    plan->type = type;
    plan->n = *n, plan->batch = batch;
    plan->from_stride = from_stride, plan->from_distance = from_distance;
    plan->to_stride = to_stride, plan->to_distance = to_distance;
    if (from_stride < 1 || from_distance < 1 || to_stride < 1 || to_distance < 1 ||
        !distinct(plan->from_places(), from_stride, batch, from_distance) ||
        !distinct(plan->to_places(), to_stride, batch, to_distance))
      return CUFFT_INVALID_VALUE;
    if (plan->allocates) ++w.violations;  // nax's memory is pooled
    // Powers of two go without, as in the library for some.
    plan->work_bytes = (*n & (*n - 1)) == 0 ? 0 : static_cast<std::size_t>(*n * batch) * 16;
    *work_bytes = plan->work_bytes;
    plan->made = true;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftSetWorkArea(cufftHandle handle, void* work) {
  return fft_call([&](World&) {
    const std::shared_ptr<Plan> plan = plan_of(handle);
    if (!plan || !plan->made) return CUFFT_INVALID_PLAN;
    plan->work = static_cast<char*>(work);
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  return fft_call([&](World&) {
    const std::shared_ptr<Plan> plan = plan_of(handle);
    if (!plan) return CUFFT_INVALID_PLAN;
    plan->stream = stream;
    return CUFFT_SUCCESS;
  });
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* from, cufftComplex* to, int direction) {
  return execute(plan, CUFFT_C2C, from, to, direction);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* from, cufftDoubleComplex* to, int direction) {
  return execute(plan, CUFFT_Z2Z, from, to, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* from, cufftComplex* to) {
  return execute(plan, CUFFT_R2C, from, to, CUFFT_FORWARD);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* from, cufftDoubleComplex* to) {
  return execute(plan, CUFFT_D2Z, from, to, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* from, cufftReal* to) {
  return execute(plan, CUFFT_C2R, from, to, CUFFT_INVERSE);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* from, cufftDoubleReal* to) {
  return execute(plan, CUFFT_Z2D, from, to, CUFFT_INVERSE);
}
}
