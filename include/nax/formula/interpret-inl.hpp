#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "nax/core/error.hpp"
#include "nax/formula/interpret.hpp"
#include "nax/formula/whole_kernels.hpp"

NAX_BEGIN
namespace formula {
namespace detail {

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
      if (!is_constant(i)) continue;
      with_lane(step.type, [&]<class T>(T) {
        const bool whole = step.operation == Operation::known || !std::is_floating_point_v<T>;
        std::fill_n(reinterpret_cast<T*>(of(i)), block,
                    whole ? static_cast<T>(step.detail) : static_cast<T>(step.number()));
      });
    }
  }

  void run(const Line* inputs, const Target* results, std::int64_t n) {
    const std::vector<DType> types = f_.result_types();
    constexpr std::int64_t width = simd::Packet<float>::size;  // more than one of double
    for (std::int64_t begin = 0; begin < n; begin += block) {
      const std::int64_t count = std::min(block, n - begin), padded = (count + width - 1) / width * width;
      for (std::size_t i = 0; i < f_.steps.size(); ++i) {
        const Step& step = f_.steps[i];
        if (step.operation == Operation::input) {
          load(inputs[step.detail], step.type, begin, count, padded, of(i));
        } else if (step.arity > 0) {
          const void* in[Step::most_operands];
          DType of_operands[Step::most_operands];
          for (int j = 0; j < step.arity; ++j)
            in[j] = of(operand(i, j)), of_operands[j] = f_.steps[operand(i, j)].type;
          run_any_step(step, of_operands, in, of(i), padded);
        }
      }
      for (std::size_t k = 0; k < types.size(); ++k) {
        const std::int64_t stride = results[k].stride, size = static_cast<std::int64_t>(dtype_size(types[k]));
        cpu::converter(lane_of(types[k]), types[k])(
            of(static_cast<std::size_t>(f_.results[k])), 1,
            static_cast<char*>(results[k].data) + begin * stride * size, stride, count);
      }
    }
  }

 private:
  struct alignas(64) Block {
    unsigned char bytes[8 * block];
  };
  std::size_t operand(std::size_t i, int j) const {
    return static_cast<std::size_t>(f_.steps[i].operand[static_cast<std::size_t>(j)]);
  }
  bool is_constant(std::size_t i) const {
    return f_.steps[i].operation == Operation::constant || f_.steps[i].operation == Operation::known;
  }
  unsigned char* of(std::size_t i) { return buffers_[static_cast<std::size_t>(place_[i])].bytes; }

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
  static void load(const Line& from, DType type, std::int64_t begin, std::int64_t count, std::int64_t padded,
                   unsigned char* to) {
    const std::int64_t size = static_cast<std::int64_t>(dtype_size(type)),
                       lane = static_cast<std::int64_t>(dtype_size(lane_of(type)));
    const char* const first = static_cast<const char*>(from.data) + begin * from.stride * size;
    cpu::converter(type, lane_of(type))(first, from.stride, to, 1, count);
    std::memset(to + count * lane, 0, static_cast<std::size_t>((padded - count) * lane));
  }

  const Formula& f_;
  std::vector<int> place_, last_, free_;
  int places_ = 0;
  std::unique_ptr<Block[]> buffers_;
};

NAX_ENGINE double value_of_step(const Step& step, const DType* types, const double* operands) {
  constexpr int width = simd::Packet<float>::size;
  alignas(64) unsigned char lanes[Step::most_operands][8 * width], out[8 * width];
  const void* in[Step::most_operands];
  for (int j = 0; j < step.arity; ++j) {
    with_lane(types[j], [&]<class T>(T) {
      std::fill_n(reinterpret_cast<T*>(lanes[j]), width, static_cast<T>(operands[j]));
    });
    in[j] = lanes[j];
  }
  run_any_step(step, types, in, out, width);
  return with_lane(step.type, [&]<class T>(T) { return static_cast<double>(*reinterpret_cast<T*>(out)); });
}

}  // namespace detail

NAX_ENGINE void interpret(const Formula& f, const Line* inputs, const Target* results, std::int64_t n) {
  if (!is_lowered(f)) throw ValueError("formula: its functions are not written out; call lowered first");
  detail::Interpreter(f).run(inputs, results, n);
}

}  // namespace formula
NAX_END
