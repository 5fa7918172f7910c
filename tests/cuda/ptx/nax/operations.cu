// nax's device as CUDA has it: its kernels are run by the interpreter, within the bounds of each array. One
// file, since reading nax takes nvcc a minute.
#include <nax/nax.hpp>

#include "cuda/operations/bins_test.cpp"
#include "cuda/operations/complex_test.cpp"
#include "cuda/operations/convolutions_test.cpp"
#include "cuda/operations/corners_test.cpp"
#include "cuda/operations/indexing_test.cpp"
#include "cuda/operations/norms_test.cpp"
#include "cuda/operations/optimiser_steps_test.cpp"
#include "cuda/operations/pooling_test.cpp"
#include "cuda/operations/random_test.cpp"
#include "cuda/operations/rows_test.cpp"
#include "cuda/operations/scan_and_sort_test.cpp"
#include "cuda/operations/scatter_test.cpp"
#include "cuda/ptx/nax/exact_memory.hpp"
#include "cuda/ptx/nax/odd_sizes_test.hpp"
