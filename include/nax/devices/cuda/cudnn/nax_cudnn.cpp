// Linked into programs whose GPUs compute convolutions by cuDNN, by the target nax::cudnn.
#include "nax/devices/cuda/cudnn/convolutions.hpp"

NAX_BEGIN
namespace cudnn {
namespace {

[[maybe_unused]] const bool provided = (cuda::convolution_library = &convolve, true);

}  // namespace
}  // namespace cudnn
NAX_END
