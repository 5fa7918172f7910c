// Linked into programs whose C++ files use GPUs, by the target nax::nvrtc, beside nax_cuda.cu: compiles the
// kernels of expressions when they first run.
#include <map>
#include <mutex>

#include "nax/devices/cuda/device/streams.hpp"
#include "nax/devices/cuda/text/text_image.hpp"
#include "nax/devices/cuda/text/text_kernel.hpp"

NAX_BEGIN
namespace cuda {
namespace {

constexpr int threads = 256;  // as the texts say

class CardKernel final : public TextKernel {
 public:
  // Loaded for all cards; the library stays as long as the program runs, since graphs may hold the kernel.
  explicit CardKernel(const std::string& image) {
    cudaLibrary_t library = nullptr;
    check(cudaLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          "cudaLibraryLoadData");
    check(cudaLibraryGetKernel(&kernel_, library, "nax_formula"), "cudaLibraryGetKernel");
  }
  void launch(Device device, const std::uint64_t* words, std::size_t, std::int64_t positions) const override {
    constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
    const std::int64_t blocks = std::min((positions + threads - 1) / threads, most);
    const StreamInUse stream = use(device);
    void* arguments[] = {const_cast<std::uint64_t*>(words)};
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), dim3(static_cast<unsigned>(blocks)),
                           dim3(threads), arguments, 0, stream),
          "cudaLaunchKernel");
  }

 private:
  cudaKernel_t kernel_ = nullptr;
};

class CardCompiler final : public TextCompiler {
 public:
  std::string architecture(Device device) override {
    const int card = card_of(device);
    const std::lock_guard lock(mutex_);
    std::string& known = architectures_[card];
    if (known.empty()) {
      int major = 0, minor = 0;
      check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, card),
            "cudaDeviceGetAttribute");
      check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, card),
            "cudaDeviceGetAttribute");
      known = Nvrtc::get().architecture_for(10 * major + minor);
    }
    return known;
  }
  std::shared_ptr<const TextKernel> compile(Device device, const std::string& text) override {
    const std::string target = architecture(device);
    const OnCard on(device);
    return std::make_shared<const CardKernel>(
        image_of(text, target, ImageCache(ImageCache::default_folder())));
  }

 private:
  std::mutex mutex_;
  std::map<int, std::string> architectures_;
};

CardCompiler compiler;
[[maybe_unused]] const bool provided = (text_compiler = &compiler, true);

}  // namespace
}  // namespace cuda
NAX_END
