#pragma once

// The types of pairs that CUDA's libraries take complex numbers as.
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) double2 {
  double x, y;
};
