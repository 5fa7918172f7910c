#include "cuda/runtime/on_stand_in.hpp"
#include "nax/backend/cuda/runtime.hpp"

// Reasons for which a machine has no card.
namespace cards_test {

std::string reason(int version, cudaError_t says) {
  stand_in::driver = {version, says};
  std::string text = nax::cuda::why_no_cards();
  stand_in::driver = {};
  return text;
}

TEST(Cards, SayWhyThereAreNone) {
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(reason(0, cudaErrorInsufficientDriver),
            "no NVIDIA driver is installed (there is no libcuda.so.1)");
  EXPECT_EQ(reason(12020, cudaErrorInsufficientDriver),
            "the NVIDIA driver is too old: it knows CUDA 12.2, this program needs 13.0");
  EXPECT_EQ(reason(13000, cudaErrorNoDevice), "the NVIDIA driver shows no card");
  setenv("CUDA_VISIBLE_DEVICES", "7", 1);
  EXPECT_EQ(reason(13000, cudaErrorNoDevice), "the NVIDIA driver shows no card; CUDA_VISIBLE_DEVICES is '7'");
  EXPECT_EQ(reason(13000, cudaErrorUnknown),
            "cudaGetDeviceCount: cudaError: of the stand-in; CUDA_VISIBLE_DEVICES is '7'");
  unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace cards_test
