#pragma once

#include "nax/backend/cpu/kernel_slots.hpp"

// How sources of the engine hold a list of kernels (kernel_lists.hpp): lists::rows(Providing()).
NAX_BEGIN
namespace cpu {

// Compilers emit a function whose address is stored here.
template <class F>
void emit(F* function) {
  [[maybe_unused]] static F* volatile emitted;
  emitted = function;
}

struct Providing {
  template <class Kernel, class T>
  void operator()() const {
    provide<Kernel, T>();
    emit(&kernel_of_library<Kernel, T>);
  }
};

// The parts of kernel_lists.hpp, in sources of their own.
void provide_listed_kernels();
void provide_reducers();
void provide_products();
void provide_fft();
void provide_convolutions();
void provide_samplers();
template <class T>
void provide_factorisations();

}  // namespace cpu
NAX_END
