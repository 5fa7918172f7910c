#pragma once

// NumPy's discrete Fourier transforms.

#include "nax/fft/fft.hpp"
#include "nax/fft/fftn.hpp"
#include "nax/fft/frequencies.hpp"
