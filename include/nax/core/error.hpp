#pragma once

#include <stdexcept>
#include <string>

// The exceptions of nax: one base, one class a kind. Every text opens with the NumPy name of the function at
// fault.
namespace nax {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ShapeError : Error {
  using Error::Error;
};
struct TypeError : Error {
  using Error::Error;
};
struct IndexError : Error {
  using Error::Error;
};
struct ValueError : Error {
  using Error::Error;
};
struct DeviceError : Error {
  using Error::Error;
};
struct IoError : Error {
  using Error::Error;
};

}  // namespace nax
