#pragma once

#include "nax/devices/cuda/conv/window_pieces.hpp"
#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/launch.hpp"
#include "nax/loops/windows.hpp"

// The extrema of windows that slide along an array's axes: one thread a window, or some neighbours.
NAX_BEGIN
namespace cuda {

// NaN comes before all others, and the first of equal elements before the rest; -1 where a window has none.
template <class A, int most>
struct BestInWindows {
  WindowLoop<most, std::int64_t> s;
  bool greatest;
  DType dtype;
  std::int64_t bytes;
  const char* from;
  std::int64_t* to;

  constexpr void operator()(std::int64_t i) const {
    std::int64_t rest = i;
    const std::int64_t in_run = s.by_run.split(rest);
    std::int64_t start[most] = {}, k[most] = {};
    for (int axis = most - 1; axis >= 0; --axis)
      start[axis] = s.by_out[axis].split(rest) * s.strides[axis] - s.low[axis];
    const char* const x = from + (rest * s.size + in_run) * bytes;
    std::int64_t best_at = -1;
    A best(0);
    for (std::int64_t tap = 0; tap < s.taps; ++tap) {
      const std::int64_t offset = offset_of(start, k);
      if (offset >= 0) {
        const A value = load_as<A>(dtype, x + offset * bytes);
        if (best_at < 0 || (greatest ? value > best : value < best) || value != value) {
          best = value;
          best_at = offset;
        }
      }
      for (int axis = most - 1; axis >= 0; --axis) {
        if (++k[axis] < s.window[axis]) break;
        k[axis] = 0;
      }
    }
    to[i] = best_at < 0 ? best_at : s.by_leads.split(rest) * s.size + best_at + in_run;
  }

 private:
  // Where the tap reads, -1 in the padding and between elements.
  constexpr std::int64_t offset_of(const std::int64_t (&start)[most], const std::int64_t (&k)[most]) const {
    std::int64_t offset = 0;
    for (int axis = 0; axis < most; ++axis) {
      std::int64_t q = start[axis] + k[axis] * s.dilation[axis];
      if (q < 0) return -1;
      if (s.base[axis] != 1) {
        const std::int64_t place = q / s.base[axis];
        if (place * s.base[axis] != q) return -1;
        q = place;
      }
      if (q >= s.in[axis]) return -1;
      offset = offset * s.in[axis] + q;
    }
    return offset * s.run;
  }
};

// Windows over the axes from `begin` to `end`, the last of the loop's; a run counts pieces of `per` elements.
template <int most, class Index>
WindowLoop<most, Index> make_window_loop(const loops::Windows& windows, std::size_t begin, std::size_t end,
                                         std::int64_t per) {
  WindowLoop<most, Index> s;
  const auto cut = [](std::int64_t x) { return static_cast<Index>(x); };
  for (std::size_t axis = 0; axis < begin; ++axis) s.leads *= cut(windows.in[axis]);
  std::int64_t run = 1;
  for (std::size_t axis = end; axis < windows.in.size(); ++axis) run *= windows.in[axis];
  s.run = cut(run / per);
  const std::size_t missing = std::size_t{most} - (end - begin);
  for (std::size_t i = 0; i < std::size_t{most}; ++i) {
    const bool there = i >= missing;
    const std::size_t axis = there ? begin + i - missing : 0;
    s.in[i] = there ? cut(windows.in[axis]) : 1;
    s.window[i] = there ? cut(windows.window[axis]) : 1;
    s.out[i] = there ? cut(windows.out[axis]) : 1;
    s.strides[i] = there ? cut(windows.strides[axis]) : 1;
    s.base[i] = there ? cut(windows.base[axis]) : 1;
    s.dilation[i] = there ? cut(windows.dilation[axis]) : 1;
    s.low[i] = there ? cut(windows.low[axis]) : 0;
    s.by_out[i] = DivisorOf<Index>(s.out[i]), s.by_base[i] = DivisorOf<Index>(s.base[i]);
    s.taps *= s.window[i], s.size *= s.in[i], s.places *= s.out[i];
  }
  s.size *= s.run;
  s.by_run = DivisorOf<Index>(s.run);
  s.by_leads = DivisorOf<Index>(s.leads);
  return s;
}

// Do 32 bits hold all that BestOfPieces counts?
inline bool are_narrow_windows(const loops::Windows& windows, std::int64_t examples) {
  constexpr std::int64_t most = most_narrow_index;
  std::int64_t in = examples, out = examples, taps = 1;
  if (examples > most) return false;
  for (std::size_t axis = 0; axis < windows.in.size(); ++axis) {
    const std::int64_t low = windows.low[axis] < 0 ? -windows.low[axis] : windows.low[axis];
    for (const std::int64_t x : {windows.in[axis], windows.out[axis], windows.window[axis], low,
                                 windows.strides[axis], windows.base[axis], windows.dilation[axis]})
      if (x > most) return false;
    if (windows.out[axis] * windows.strides[axis] + windows.window[axis] * windows.dilation[axis] + low >
        most)
      return false;
    if ((in *= windows.in[axis]) > most || (out *= windows.out[axis]) > most ||
        (taps *= windows.window[axis]) > most)
      return false;
  }
  return true;
}

// Windows over three axes at most, of floating elements.
template <class T>
void launch_best_of_pieces(Device device, const loops::Windows& windows, std::size_t begin, std::size_t end,
                           bool greatest, std::int64_t examples, const char* from, std::int64_t* to) {
  const auto run = [&]<int per>(std::integral_constant<int, per>) {
    using Best = BestOfPieces<T, per>;
    const auto s = make_window_loop<3, std::int32_t>(windows, begin, end, per);
    launch(device, examples * s.leads * s.places * s.run,
           Best{s, greatest, reinterpret_cast<const typename Best::Unit*>(from), to});
  };
  constexpr int per = sizeof(T) < sizeof(double) ? 4 : 2;
  std::int64_t neighbours = 1;
  for (std::size_t axis = end; axis < windows.in.size(); ++axis) neighbours *= windows.in[axis];
  if (neighbours % per == 0 && reinterpret_cast<std::uintptr_t>(from) % (per * sizeof(T)) == 0 &&
      reinterpret_cast<std::uintptr_t>(to) % piece_bytes == 0)
    return run(std::integral_constant<int, per>());
  run(std::integral_constant<int, 1>());
}

template <int most>
void launch_best_in_windows_over(Device device, const loops::Windows& windows, std::size_t begin,
                                 std::size_t end, bool greatest, std::int64_t examples, DType dtype,
                                 const char* from, std::int64_t* to) {
  const auto s = make_window_loop<most, std::int64_t>(windows, begin, end, 1);
  const std::int64_t count = examples * s.leads * s.places * s.run;
  const std::int64_t bytes = static_cast<std::int64_t>(dtype_size(dtype));
  with_wide(dtype, [&]<class A>(std::type_identity<A>) {
    launch(device, count, BestInWindows<A, most>{s, greatest, dtype, bytes, from, to});
  });
}

// Throws DeviceError for a complex dtype, and for windows that move along more than 16 axes.
inline void launch_best_in_windows(Device device, const loops::Windows& windows, bool greatest,
                                   std::int64_t examples, DType dtype, const char* from, std::int64_t* to) {
  const auto still = [&](std::size_t axis) {
    return windows.window[axis] == 1 && windows.strides[axis] == 1 && windows.base[axis] == 1 &&
           windows.low[axis] == 0 && windows.high[axis] == 0;
  };
  std::size_t begin = 0, end = windows.in.size();
  while (end > 0 && still(end - 1)) --end;
  while (begin < end && still(begin)) ++begin;
  if (end - begin <= 3 && dtype_kind(dtype) == Kind::floating && are_narrow_windows(windows, examples)) {
    const auto run = [&]<class T>(std::type_identity<T>) {
      launch_best_of_pieces<T>(device, windows, begin, end, greatest, examples, from, to);
    };
    if (dtype == DType::float32) return run(std::type_identity<float>());
    if (dtype == DType::float64) return run(std::type_identity<double>());
    if (dtype == DType::float16) return run(std::type_identity<half>());
    return run(std::type_identity<bfloat16>());
  }
  if (end - begin <= 3)
    return launch_best_in_windows_over<3>(device, windows, begin, end, greatest, examples, dtype, from, to);
  if (end - begin <= 16)
    return launch_best_in_windows_over<16>(device, windows, begin, end, greatest, examples, dtype, from, to);
  raise<DeviceError>({"windows over ", end - begin, " axes have no kernel on ", device});
}

}  // namespace cuda
NAX_END
