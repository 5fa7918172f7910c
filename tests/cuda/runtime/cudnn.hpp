#pragma once

// The stand-in of cuDNN (cudnn.cpp): convolutions that nax asks for, as loops on the host when the stream
// gets there. It checks what cuDNN documents of descriptors, workspaces and results' extents.
namespace cudnn_stand_in {

enum class Kernels {
  all,
  in_order,  // as all; the best one is not deterministic, the next wants too much memory
  none,
  none_runs  // the heuristics name one, which then turns out not to exist
};
extern Kernels kernels;
extern long convolutions;  // that were launched
extern long live_objects;  // descriptors and handles
extern bool in_full;       // the last convolution multiplied float32 without tensor cores

}  // namespace cudnn_stand_in
