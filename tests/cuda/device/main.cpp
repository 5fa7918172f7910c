// All tests in one file, as C++; for CUDA each is a file of its own.
#include "device/copies.hpp"
#include "device/expressions.hpp"
#include "device/interchange.hpp"
#include "device/memory.hpp"
#include "device/products.hpp"
#include "device/threads.hpp"
#include "device/training.hpp"
