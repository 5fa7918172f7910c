#pragma once

#include <optional>

#include "nax/devices/cuda/fft/fft_lines_kernel.hpp"
#include "nax/devices/cuda/fft/fft_plan.hpp"

// Fourier transforms by cuFFT, which wants lines at one distance from each other that do not overlap.
//
// Other lines go through a dense copy, on their way in or out. cuFFT does not scale: a copy does so, or else
// a pass over the result. The operand of a transform to real numbers is always copied: cuFFT destroys it, and
// reads the imaginary parts of the ends.
NAX_BEGIN
namespace cuda {

// Elements between one line and the next where one number says so; 1 for a single line.
inline std::optional<std::int64_t> line_distance(const Dims& others, const Dims& strides) {
  std::optional<std::int64_t> distance;
  std::int64_t next = 0;
  for (std::size_t axis = others.size(); axis-- > 0;) {
    if (others[axis] == 1) continue;
    if (!distance)
      distance = strides[axis];
    else if (strides[axis] != next)
      return std::nullopt;
    next = strides[axis] * others[axis];
  }
  return distance.value_or(1);
}

class FftLaunch {
 public:
  FftLaunch(Device device, const loops::FftLines& lines, DType real, const char* from, char* to)
      : device_(device),
        lines_(lines),
        real_(real),
        complex_(real == DType::float64 ? DType::complex128 : DType::complex64),
        from_{const_cast<char*>(from), lines.kind == Kind::to_complex ? real_ : complex_, lines.from,
              lines.from_axis},
        to_{to, lines.kind == Kind::to_real ? real_ : complex_, lines.to, lines.to_axis} {
    for (const std::int64_t extent : lines.others) count_ *= extent;
  }

  void run() {
    if (count_ == 0) return;
    if (lines_.n == 1) return move(from_, to_, places(to_), rest());
    // Copies in.
    LineFactors left = rest();
    LinesAt in = from_;
    std::optional<Scratch> own_in, own_out;
    if (lines_.kind == Kind::to_real || !is_taken(in)) {
      own_in.emplace(device_, bytes(in));
      const LinesAt copy = dense(in, own_in->data());
      if (lines_.kind == Kind::to_real) {
        move(in, copy, places(in), left);
        left = {};
      } else {
        move(in, copy, places(in), {.scale = left.scale});
        left.scale = 1;
      }
      in = copy;
    }
    LinesAt out = to_;
    if (!is_taken(out)) {
      own_out.emplace(device_, bytes(out));
      out = dense(out, own_out->data());
    }
    transform(in, out);
    if (own_out || !left.nothing()) move(out, to_, places(to_), left);
  }

 private:
  using Kind = loops::FftKind;

  std::int64_t places(const LinesAt& side) const {
    const bool half = lines_.kind != Kind::complex && side.stored == complex_;
    return half ? lines_.n / 2 + 1 : lines_.n;
  }
  std::size_t bytes(const LinesAt& side) const {
    return static_cast<std::size_t>(count_ * places(side)) * dtype_size(side.stored);
  }
  // The adjustments that `lines` asks for.
  LineFactors rest() const {
    return {lines_.scale, lines_.middle, lines_.conjugate, lines_.kind == Kind::to_real};
  }
  // Lines of a row-major array of its own.
  LinesAt dense(const LinesAt& side, char* data) const {
    LinesAt own{data, side.stored, lines_.others, 1};
    std::int64_t size = places(side);
    for (std::size_t axis = own.strides.size(); axis-- > 0; size *= lines_.others[axis])
      own.strides[axis] = size;
    return own;
  }
  // Real numbers, too, must be aligned as complex ones are.
  bool is_taken(const LinesAt& side) const {
    const auto distance = line_distance(lines_.others, side.strides);
    if (!distance || side.axis < 1 || *distance < 1) return false;
    const bool aligned = reinterpret_cast<std::uintptr_t>(side.data) % dtype_size(complex_) == 0;
    return aligned && (*distance > (places(side) - 1) * side.axis || side.axis > (count_ - 1) * *distance);
  }

  void move(const LinesAt& from, const LinesAt& to, std::int64_t places, const LineFactors& by) const {
    launch_move_lines(device_, lines_.others, lines_.n, places, from, to, by);
  }
  void transform(const LinesAt& in, const LinesAt& out) const {
    const bool wide = real_ == DType::float64;
    FftShape shape{};
    switch (lines_.kind) {
      case Kind::complex:
        shape.type = wide ? CUFFT_Z2Z : CUFFT_C2C;
        break;
      case Kind::to_complex:
        shape.type = wide ? CUFFT_D2Z : CUFFT_R2C;
        break;
      case Kind::to_real:
        shape.type = wide ? CUFFT_Z2D : CUFFT_C2R;
        break;
    }
    shape.n = lines_.n;
    shape.batch = count_;
    shape.from_axis = in.axis;
    shape.from_distance = *line_distance(lines_.others, in.strides);
    shape.to_axis = out.axis;
    shape.to_distance = *line_distance(lines_.others, out.strides);
    const StreamInUse stream = use(device_);
    FftPlans::of(device_).plan(device_, shape)->run(in.data, out.data, lines_.inverse);
  }

  Device device_;
  const loops::FftLines& lines_;
  DType real_, complex_;
  LinesAt from_, to_;
  std::int64_t count_ = 1;
};

inline void launch_fft(Device device, const loops::FftLines& lines, DType real, const char* from, char* to) {
  FftLaunch(device, lines, real, from, to).run();
}

}  // namespace cuda
NAX_END
