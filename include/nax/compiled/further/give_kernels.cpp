// Shows the kernels of an object of further instructions (further_kernels.hpp) to a library of fewer. All
// sources of the object define NAX_GIVES_KERNELS.
#define NAX_COMPILED_LIBRARY
#include "nax/compiled/kernel_lists.hpp"
#include "nax/compiled/provide.hpp"
#include "nax/core/further_kernels.hpp"

#define NAX_NAME_(instructions) nax_kernels_##instructions
#define NAX_NAME(instructions) NAX_NAME_(instructions)

extern "C" nax_shared::FurtherKernels NAX_NAME(NAX_ABI)();
extern "C" nax_shared::FurtherKernels NAX_NAME(NAX_ABI)() {
  using namespace nax;
  cpu::provide_listed_kernels();
  cpu::provide_fft();
  cpu::provide_convolutions();
  cpu::provide_samplers();
  cpu::provide_reducers();
  cpu::provide_products();
#if !defined(NAX_FEW_KERNELS)
  cpu::provide_factorisations<float>();
  cpu::provide_factorisations<double>();
  cpu::provide_factorisations<std::complex<float>>();
  cpu::provide_factorisations<std::complex<double>>();
#endif
  static std::vector<nax_shared::FurtherKernel> kernels;
  static std::vector<nax_shared::FurtherReducer> reducers;
  cpu::lists::kernels([&]<class Kernel, class T>() {
    const auto function = cpu::find_kernel<Kernel>(dtype_of<T>);
    kernels.push_back({Kernel::name, static_cast<int>(dtype_of<T>), reinterpret_cast<void (*)()>(function)});
  });
  cpu::lists::reducers([&]<class Op, class From>() {
    const DType from = dtype_of<From>, to = dtype_of<typename Op::Acc>;
    reducers.push_back({static_cast<int>(Op::kind), static_cast<int>(from), static_cast<int>(to),
                        cpu::reducer_slot(Op::kind, from, to).load()});
  });
  return {kernels.data(), static_cast<int>(kernels.size()), reducers.data(),
          static_cast<int>(reducers.size())};
}
