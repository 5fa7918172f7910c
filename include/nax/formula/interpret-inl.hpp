#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "nax/core/error.hpp"
#include "nax/formula/interpret.hpp"
#include "nax/formula/step_kernels.hpp"

NAX_BEGIN
namespace formula {
namespace detail {

template <class T>
class Interpreter {
 public:
  static constexpr std::int64_t block = 512;

  explicit Interpreter(const Formula& f) : f_(f), place_(f.steps.size(), -1), last_(f.steps.size(), -1) {
    for (std::size_t i = 0; i < f.steps.size(); ++i)
      for (int j = 0; j < f.steps[i].arity; ++j) last_[operand(i, j)] = static_cast<int>(i);
    for (int result : f.results) last_[static_cast<std::size_t>(result)] = static_cast<int>(f.steps.size());
    for (std::size_t i = 0; i < f.steps.size(); ++i)
      if (is_constant(i)) place_[i] = places_++;  // filled once
    for (std::size_t i = 0; i < f.steps.size(); ++i)
      if (!is_constant(i)) give_place(i);
    buffers_.reset(new Block[static_cast<std::size_t>(places_)]);
    for (std::size_t i = 0; i < f.steps.size(); ++i) {
      const Step& step = f.steps[i];
      if (step.operation == Operation::constant)
        std::fill_n(of(i), block, static_cast<T>(step.number()));
      else if (step.operation == Operation::known)
        std::fill_n(of(i), block, static_cast<T>(step.detail));
    }
  }

  // use(result, values, begin, count) for each block.
  template <class Use>
  void run(const Line* inputs, std::int64_t n, const Use& use) {
    constexpr std::int64_t width = simd::Packet<T>::size;
    for (std::int64_t begin = 0; begin < n; begin += block) {
      const std::int64_t count = std::min(block, n - begin), padded = (count + width - 1) / width * width;
      for (std::size_t i = 0; i < f_.steps.size(); ++i) {
        const Step& step = f_.steps[i];
        if (step.operation == Operation::input) {
          load(inputs[step.detail], begin, count, padded, of(i));
        } else if (step.arity > 0) {
          const T* in[Step::most_operands];
          for (int j = 0; j < step.arity; ++j) in[j] = of(operand(i, j));
          run_step<T>(step, in, of(i), padded);
        }
      }
      for (std::size_t k = 0; k < f_.results.size(); ++k)
        use(k, of(static_cast<std::size_t>(f_.results[k])), begin, count);
    }
  }

 private:
  struct alignas(64) Block {
    T values[block];
  };
  std::size_t operand(std::size_t i, int j) const {
    return static_cast<std::size_t>(f_.steps[i].operand[static_cast<std::size_t>(j)]);
  }
  bool is_constant(std::size_t i) const {
    return f_.steps[i].operation == Operation::constant || f_.steps[i].operation == Operation::known;
  }
  T* of(std::size_t i) { return buffers_[static_cast<std::size_t>(place_[i])].values; }

  // A place of its own where another's ends here: those of operands are free after the step.
  void give_place(std::size_t i) {
    if (free_.empty()) {
      place_[i] = places_++;
    } else {
      place_[i] = free_.back();
      free_.pop_back();
    }
    for (int j = 0; j < f_.steps[i].arity; ++j) {
      const std::size_t x = operand(i, j);
      const bool again = std::find(f_.steps[i].operand.begin(), f_.steps[i].operand.begin() + j,
                                   static_cast<int>(x)) != f_.steps[i].operand.begin() + j;
      if (last_[x] == static_cast<int>(i) && !again && !is_constant(x)) free_.push_back(place_[x]);
    }
  }
  static void load(const Line& from, std::int64_t begin, std::int64_t count, std::int64_t padded, T* to) {
    const T* const first = static_cast<const T*>(from.data) + begin * from.stride;
    if (from.stride == 1)
      std::memcpy(to, first, static_cast<std::size_t>(count) * sizeof(T));
    else
      for (std::int64_t i = 0; i < count; ++i) to[i] = first[i * from.stride];
    std::fill(to + count, to + padded, T(0));
  }

  const Formula& f_;
  std::vector<int> place_, last_, free_;
  int places_ = 0;
  std::unique_ptr<Block[]> buffers_;
};

template <class T>
void interpret(const Formula& f, const Line* inputs, const Target* results, std::int64_t n) {
  Interpreter<T>(f).run(inputs, n,
                        [&](std::size_t k, const T* values, std::int64_t begin, std::int64_t count) {
                          T* const to = static_cast<T*>(results[k].data) + begin * results[k].stride;
                          if (results[k].stride == 1)
                            std::memcpy(to, values, static_cast<std::size_t>(count) * sizeof(T));
                          else
                            for (std::int64_t i = 0; i < count; ++i) to[i * results[k].stride] = values[i];
                        });
}
template <class T>
void interpret_sums(const Formula& f, const Line* inputs, double* sums, std::int64_t n) {
  std::fill_n(sums, f.results.size(), 0.0);
  Interpreter<T>(f).run(inputs, n, [&](std::size_t k, const T* values, std::int64_t, std::int64_t count) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(values[i]);
    sums[k] += sum;
  });
}

NAX_ENGINE double value_of_step(const Step& step, DType type, const double* operands) {
  const auto value = [&]<class T>(T) {
    constexpr int width = simd::Packet<T>::size;
    alignas(64) T lanes[Step::most_operands][width], out[width];
    const T* in[Step::most_operands];
    for (int j = 0; j < step.arity; ++j) {
      std::fill_n(lanes[j], width, static_cast<T>(operands[j]));
      in[j] = lanes[j];
    }
    run_step<T>(step, in, out, width);
    return static_cast<double>(out[0]);
  };
  return type == DType::float32 ? value(0.0f) : value(0.0);
}

inline void check_lowered(const Formula& f) {
  if (!is_lowered(f)) throw ValueError("formula: its functions are not written out; call lowered first");
}

}  // namespace detail

NAX_ENGINE void interpret(const Formula& f, const Line* inputs, const Target* results, std::int64_t n) {
  detail::check_lowered(f);
  if (f.type == DType::float32)
    detail::interpret<float>(f, inputs, results, n);
  else
    detail::interpret<double>(f, inputs, results, n);
}
NAX_ENGINE void interpret_sums(const Formula& f, const Line* inputs, double* sums, std::int64_t n) {
  detail::check_lowered(f);
  if (f.type == DType::float32)
    detail::interpret_sums<float>(f, inputs, sums, n);
  else
    detail::interpret_sums<double>(f, inputs, sums, n);
}

}  // namespace formula
NAX_END
