#include "gpu.cpp"
