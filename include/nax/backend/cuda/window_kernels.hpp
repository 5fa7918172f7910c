#pragma once

#include "nax/backend/cuda/elements.hpp"
#include "nax/backend/cuda/launch.hpp"
#include "nax/backend/cuda/loop.hpp"
#include "nax/loops/windows.hpp"

// The extrema of windows that slide along an array's axes: one thread a window.
NAX_BEGIN
namespace cuda {

// Windows over the axes that they move along; those before are `leads`, those behind a `run`.
template <int most>
struct WindowLoop {
  std::int64_t in[most], window[most], out[most], strides[most], base[most], dilation[most], low[most];
  AnyDivisor by_out[most], by_run, by_leads;
  std::int64_t taps = 1, leads = 1, run = 1;
  std::int64_t size = 1;    // elements of x for each lead
  std::int64_t places = 1;  // windows for each lead and element of the run
};

// NaN comes before all others, and the first of equal elements before the rest; -1 where a window has none.
template <class A, int most>
struct BestInWindows {
  WindowLoop<most> s;
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

template <int most>
void launch_best_in_windows_over(Device device, const loops::Windows& windows, std::size_t begin,
                                 std::size_t end, bool greatest, std::int64_t examples, DType dtype,
                                 const char* from, std::int64_t* to) {
  WindowLoop<most> s;
  for (std::size_t axis = 0; axis < begin; ++axis) s.leads *= windows.in[axis];
  for (std::size_t axis = end; axis < windows.in.size(); ++axis) s.run *= windows.in[axis];
  for (std::size_t i = 0; i < std::size_t{most}; ++i) {
    const std::size_t axis = begin + i;
    const bool there = axis < end;
    s.in[i] = there ? windows.in[axis] : 1;
    s.window[i] = there ? windows.window[axis] : 1;
    s.out[i] = there ? windows.out[axis] : 1;
    s.strides[i] = there ? windows.strides[axis] : 1;
    s.base[i] = there ? windows.base[axis] : 1;
    s.dilation[i] = there ? windows.dilation[axis] : 1;
    s.low[i] = there ? windows.low[axis] : 0;
    s.by_out[i] = AnyDivisor(s.out[i]);
    s.taps *= s.window[i], s.size *= s.in[i], s.places *= s.out[i];
  }
  s.size *= s.run;
  s.by_run = AnyDivisor(s.run);
  s.by_leads = AnyDivisor(s.leads);
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
  if (end - begin <= 3)
    return launch_best_in_windows_over<3>(device, windows, begin, end, greatest, examples, dtype, from, to);
  if (end - begin <= 16)
    return launch_best_in_windows_over<16>(device, windows, begin, end, greatest, examples, dtype, from, to);
  raise<DeviceError>({"windows over ", end - begin, " axes have no kernel on ", device});
}

}  // namespace cuda
NAX_END
