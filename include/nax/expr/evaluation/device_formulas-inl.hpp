#pragma once

#include <algorithm>
#include <map>
#include <mutex>

#include "nax/backend/cuda/pieces.hpp"
#include "nax/expr/evaluation/device_formulas.hpp"
#include "nax/formula/text.hpp"

NAX_BEGIN
namespace detail {

using TextKey = std::vector<std::uint64_t>;

// The kernel of a text; equal texts share it.
NAX_ENGINE std::shared_ptr<const cuda::TextKernel> text_kernel(Device device, const std::string& text) {
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

// A formula with its kernels, one for each layout of operands and device.
class TextFormula {
 public:
  TextFormula(const formula::Formula& f, int leaves, int numbers)
      : lowered_(formula::lowered(f)), leaves_(leaves), numbers_(numbers) {
    reads_.resize(static_cast<std::size_t>(f.inputs - numbers));
    for (const formula::Step& step : lowered_.steps) {
      if (step.operation != formula::Operation::input) continue;
      const int at = static_cast<int>(step.detail);
      if (at < leaves)
        reads_[static_cast<std::size_t>(at)] = 1;
      else if (at >= leaves + numbers)
        reads_[static_cast<std::size_t>(at - numbers)] = 1;
    }
  }

  // `operands`: the inputs that are no numbers, then the results.
  void launch(Device device, const Dims& shape, loops::Operand* operands, int count,
              const double* numbers) const {
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
                    const double* numbers) const {
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
           const loops::Operand* operands, int count, const double* numbers) const {
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
    for (int k = 0; k < numbers_; ++k) words.push_back(std::bit_cast<std::uint64_t>(numbers[k]));
    kernel->launch(device, words.data(), words.size(), loop.size);
  }

  std::shared_ptr<const cuda::TextKernel> kernel_for(Device device, const Layout& layout, int rank,
                                                     int per) const {
    const std::lock_guard lock(mutex_);
    for (const Variant& v : variants_)
      if (v.device == device && v.rank == rank && v.per == per && v.layout == layout) return v.kernel;
    const formula::TextRequest request{&lowered_, leaves_, numbers_, {layout.begin(), layout.end()},
                                       rank,      per};
    auto kernel = text_kernel(device, formula::kernel_text(request));
    variants_.push_back({device, rank, per, layout, kernel});
    return kernel;
  }

  formula::Formula lowered_;
  int leaves_, numbers_;
  std::vector<char> reads_;
  mutable std::mutex mutex_;
  mutable std::vector<Variant> variants_;
};

// The formula of a key, made at its first use; the last thousand are kept.
template <class Make>
std::shared_ptr<const TextFormula> text_formula(const ExpressionSymbols& symbols, const TextKey& key,
                                                const Make& make) {
  constexpr std::size_t most = 1024;
  struct Formulas {
    std::mutex mutex;
    std::map<TextKey, std::shared_ptr<const TextFormula>> known;
  };
  static Formulas& formulas = *new Formulas;
  const std::lock_guard lock(formulas.mutex);
  if (const auto at = formulas.known.find(key); at != formulas.known.end()) return at->second;
  if (formulas.known.size() >= most) formulas.known.erase(formulas.known.begin());
  return formulas.known[key] = std::make_shared<const TextFormula>(make(), symbols.leaves, symbols.numbers);
}

// The expression's numbers, as its kernels take them.
inline std::vector<double> text_numbers(const ExpressionSymbols& symbols, const void* constants) {
  std::vector<double> numbers;
  for (int i = 0; i < symbols.count; ++i)
    if (symbols.steps[i].kind == SymbolStep::Kind::number)
      numbers.push_back(number_at(symbols, symbols.steps[i], constants));
  return numbers;
}
inline TextKey text_key(const ExpressionSymbols& symbols, const void* constants, std::uint64_t work) {
  TextKey key{reinterpret_cast<std::uintptr_t>(&symbols), work};
  for (std::uint64_t known : known_numbers(symbols, constants)) key.push_back(known);
  return key;
}

// Runs launch(), whose errors about texts are the expression's.
template <class Launch>
void with_texts(const char* name, Device device, const Launch& launch) {
  if (!cuda::text_compiler)
    raise<DeviceError>({name, ": an expression on ", device,
                        " is to be compiled at run time, and the program has no compiler: link nax::nvrtc"});
  try {
    launch();
  } catch (const ValueError& error) {
    raise<DeviceError>(
        {name, ": an expression on ", device,
         " has no kernel that can be compiled at run time, and needs a CUDA file (.cu): ", error.what()});
  }
}

NAX_ENGINE void launch_text_forward(const char* name, const ExpressionSymbols& symbols, Device device,
                                    const void* constants, const Dims& shape,
                                    const loops::Operand* operands) {
  with_texts(name, device, [&] {
    const TextKey key = text_key(symbols, constants, key_of(FormulaWork::forward));
    const auto made = text_formula(
        symbols, key, [&] { return formula_of(symbols, constants, SeparateLeaves(symbols.leaves).inputs); });
    loops::Operand all[max_leaves + 1];
    std::copy_n(operands, symbols.leaves + 1, all);
    made->launch(device, shape, all, symbols.leaves + 1, text_numbers(symbols, constants).data());
  });
}

NAX_ENGINE void launch_text_pull(const char* name, const ExpressionSymbols& symbols, Device device,
                                 const void* constants, const Dims& shape, const loops::Operand* operands,
                                 unsigned added) {
  with_texts(name, device, [&] {
    const int leaves = symbols.leaves;
    const loops::Operand* const gradients = operands + leaves + 1;
    void* grads[max_leaves] = {};
    for (int l = 0; l < leaves; ++l) grads[l] = gradients[l].data;
    const WantedGradients wanted(symbols, grads, added);
    const TextKey key = text_key(symbols, constants, wanted.key(FormulaWork::pull));
    const auto made =
        text_formula(symbols, key, [&] { return stored_pull_formula(symbols, constants, wanted, false); });
    // Leaves, the cotangent, gradients that are added to (at most one), those that are stored.
    loops::Operand all[3 * max_leaves + 1];
    int count = leaves + 1;
    std::copy_n(operands, count, all);
    for (int l = 0; l < leaves; ++l)
      if (wanted.is_first(l) && wanted.adds(l)) all[count++] = gradients[l];
    for (int l = 0; l < leaves; ++l)
      if (wanted.is_first(l)) all[count++] = gradients[l];
    if (count == leaves + 1) return;
    made->launch(device, shape, all, count, text_numbers(symbols, constants).data());
  });
}

}  // namespace detail
NAX_END
