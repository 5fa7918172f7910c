#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "nax/core/device.hpp"

// Kernels that are compiled at run time of a text (formula/text.hpp has what is in it): what compiles them is
// a source of the program's (nvrtc/nax_nvrtc.cpp, or a test's), which sets `text_compiler` before main
// begins.
NAX_BEGIN
namespace cuda {

class TextKernel {
 public:
  virtual ~TextKernel() = default;
  // Puts nax_formula on the thread's stream. `words`: its parameters; `positions` is the first of them.
  virtual void launch(Device device, const std::uint64_t* words, std::size_t count,
                      std::int64_t positions) const = 0;
};

class TextCompiler {
 public:
  virtual ~TextCompiler() = default;
  // Names the kind of code that the device runs: devices of one kind share kernels.
  virtual std::string architecture(Device device) = 0;
  // Throws DeviceError where the text does not compile, with the compiler's messages.
  virtual std::shared_ptr<const TextKernel> compile(Device device, const std::string& text) = 0;
};

inline constinit TextCompiler* text_compiler = nullptr;

}  // namespace cuda
NAX_END
