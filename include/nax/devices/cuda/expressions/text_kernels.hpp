#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/devices/cuda/text/text_kernel.hpp"
#include "nax/formula/text.hpp"

// Kernels that are compiled of texts when they first run, and how their parameters are filled.
NAX_BEGIN
namespace detail {

using TextKey = std::vector<std::uint64_t>;

// The kernel of a text; equal texts share it.
inline std::shared_ptr<const cuda::TextKernel> text_kernel(Device device, const std::string& text) {
  struct Kernels {
    std::mutex mutex;
    std::map<std::pair<std::string, std::string>, std::shared_ptr<const cuda::TextKernel>> known;
  };
  static Kernels& kernels = *new Kernels;
  const std::lock_guard lock(kernels.mutex);
  std::shared_ptr<const cuda::TextKernel>& kernel =
      kernels.known[{cuda::text_compiler->architecture(device), text}];
  if (!kernel) kernel = cuda::text_compiler->compile(device, text);
  return kernel;
}

// Computations with their kernels, one for each layout of operands and device.
class TextKernels {
 public:
  explicit TextKernels(formula::TextBody body) : body_(std::move(body)) {
    for (const formula::TextBody::Input& input : body_.inputs)
      if (input.number.empty())
        reads_.push_back(input.read);
      else
        ++numbers_;
  }

  // `operands`: the inputs that are no numbers, then the results.
  void launch(Device device, const Dims& shape, loops::Operand* operands, int count,
              const std::uint64_t* numbers) const {
    for (std::size_t i = 0; i < reads_.size(); ++i)
      if (!reads_[i]) operands[i].data = nullptr;
    if (count <= 6) return launch_loops<6>(device, shape, operands, count, numbers);
    constexpr int most = 32;
    if (count > most)
      raise<DeviceError>({"a kernel of ", count, " operands is more than a text takes, ", most});
    launch_loops<most>(device, shape, operands, count, numbers);
  }

 private:
  using Layout = SmallVector<formula::TextOperand, 8>;
  struct Variant {
    Device device;
    int rank, per;
    Layout layout;
    std::shared_ptr<const cuda::TextKernel> kernel;
  };

  template <int most>
  void launch_loops(Device device, const Dims& shape, const loops::Operand* operands, int count,
                    const std::uint64_t* numbers) const {
    int widest = 1;
    for (int o = 0; o < count; ++o)
      if (operands[o].data) widest = std::max(widest, static_cast<int>(dtype_size(operands[o].stored)));
    const int per = cuda::piece_bytes / widest;
    cuda::for_each_narrow(cuda::make_loop<most>(shape, operands, count), [&](const cuda::Loop<most>& loop) {
      cuda::PieceLoop<most> pieces;
      if (loop.rank > 0 && per > 1 && in_pieces(loop, operands, per, pieces))
        run(device, pieces.pieces, pieces.elements, per, pieces.repeated, operands, count, numbers);
      else
        run(device, loop, loop.size, 1, 0, operands, count, numbers);
    });
  }

  template <int most>
  void run(Device device, const cuda::Loop<most>& loop, std::int64_t elements, int per, unsigned repeated,
           const loops::Operand* operands, int count, const std::uint64_t* numbers) const {
    using formula::TextAccess;
    Layout layout;
    for (int o = 0; o < count; ++o) {
      TextAccess access = TextAccess::row;
      if (!operands[o].data)
        access = TextAccess::unread;
      else if (per == 1)
        access = TextAccess::strided;
      else if (repeated >> o & 1)
        access = TextAccess::repeated;
      layout.push_back({operands[o].stored, access});
    }
    const std::shared_ptr<const cuda::TextKernel> kernel = kernel_for(device, layout, loop.rank, per);
    SmallVector<std::uint64_t, 64> words;
    const auto put = [&](std::int64_t word) { words.push_back(static_cast<std::uint64_t>(word)); };
    put(loop.size);
    put(elements);
    for (int axis = 0; axis < loop.rank; ++axis) put(loop.shape[axis]);
    for (int axis = 0; axis < loop.rank && loop.rank > 1; ++axis) put(loop.divisors[axis].magic);
    for (int axis = 0; axis < loop.rank && loop.rank > 1; ++axis) put(loop.divisors[axis].shift);
    for (int o = 0; o < count; ++o) {
      put(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(loop.data[o])));
      for (int axis = 0; axis < loop.rank; ++axis) put(loop.strides[o][axis]);
    }
    for (int k = 0; k < numbers_; ++k) words.push_back(numbers[k]);
    kernel->launch(device, words.data(), words.size(), loop.size);
  }

  std::shared_ptr<const cuda::TextKernel> kernel_for(Device device, const Layout& layout, int rank,
                                                     int per) const {
    const std::lock_guard lock(mutex_);
    for (const Variant& v : variants_)
      if (v.device == device && v.rank == rank && v.per == per && v.layout == layout) return v.kernel;
    auto kernel = text_kernel(device, formula::kernel_text(body_, {layout.begin(), layout.end()}, rank, per));
    variants_.push_back({device, rank, per, layout, kernel});
    return kernel;
  }

  formula::TextBody body_;
  int numbers_ = 0;
  std::vector<char> reads_;
  mutable std::mutex mutex_;
  mutable std::vector<Variant> variants_;
};

// The kernels of a key, whose body is made at its first use; the last thousand are kept.
template <class Make>
std::shared_ptr<const TextKernels> text_kernels(const TextKey& key, const Make& make) {
  constexpr std::size_t most = 1024;
  struct All {
    std::mutex mutex;
    std::map<TextKey, std::shared_ptr<const TextKernels>> known;
  };
  static All& all = *new All;
  const std::lock_guard lock(all.mutex);
  if (const auto at = all.known.find(key); at != all.known.end()) return at->second;
  if (all.known.size() >= most) all.known.erase(all.known.begin());
  return all.known[key] = std::make_shared<const TextKernels>(make());
}

}  // namespace detail
NAX_END
