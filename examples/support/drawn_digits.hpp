#pragma once

#include <nax/nax.hpp>

// Digits that the program draws itself, for machines without MNIST and without a network: thick strokes on
// the segments of a pocket calculator, moved, slanted and scaled at random. Far easier than handwriting.
namespace examples {

struct Digits {
  nax::Array<float> images;  // (n, 784), 0 ... 1
  nax::Array<int> labels;
};

Digits draw_digits(const nax::random::Key& key, std::int64_t n);

}  // namespace examples
