#pragma once

#include "nax/modules/exporting/exporter.hpp"

// Functions as C, which runs without nax.
NAX_BEGIN
namespace io {

struct SaveCOptions {
  std::string name = {};                  // of the C function; the file's without its ending
  std::vector<std::string> inputs = {};   // names of the arrays that f is called with; x0, x1, ... without
  std::vector<std::string> outputs = {};  // of the arrays that it returns; y0, y1, ...
  std::size_t text_bytes = 4 << 20;       // more bytes of weights than these go to a file beside the source
};

namespace detail {
NAX_ENGINE void write_c(const std::string& path, const Graph& graph, const SaveCOptions& options);
}  // namespace detail

// Writes what f computes of arguments like these as a C function: `model.c` and `model.h`, which any compiler
// of C11 or C++11 builds, with nothing of nax. f is what jit takes: it computes with arrays and reads no
// element. `arguments` is its argument, or a tuple of them; their arrays and those of the result become
// pointers to row-major elements, and their shapes are fixed, the batch included. `model(x0, y0)` uses static
// memory, so one thread may call it at a time; `model_with(x0, y0, scratch)` uses MODEL_SCRATCH_BYTES given
// to it. Neither allocates. Arrays that f captured, as a module's parameters, are constants in the source,
// weights packed for the kernels of products and convolutions. Where they are more than `text_bytes`, they
// lie in `model.bin`, which GNU C's assembler includes: it is looked for where the compiler is called and in
// folders of -I. Long loops stay loops, others are written turn by turn. Compile with -O3 -march=native:
// kernels are loops over vectors of GNU C, as wide as the machine's. Mathematical functions are those of the
// C library.
//
// Throws ValueError that names a step which cannot be written (random draws, linear algebra, derivatives,
// FFTs, complex numbers, half precision, results without elements), or where a name is no identifier, a
// word of C, C++ or their headers, or the function's that of one of the C library's, or used twice, or the
// file would be overwritten by its header; DeviceError where f cannot be recorded; IoError where a file
// cannot be written.
template <class F, class A>
void save_c(const std::string& path, const F& f, const A& arguments, const SaveCOptions& options = {}) {
  detail::write_c(path, detail::graph_of("save_c", detail::System::c, f, arguments), options);
}

// Writes a program: save_c("model.c", make_program(f)(x)).
template <class F, class A>
void save_c(const std::string& path, const ProgramOf<F, A>& program, const SaveCOptions& options = {}) {
  save_c(path, program.function(), program.arguments(), options);
}

}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/exporting/save_c-inl.hpp"
#endif
