#pragma once

#include <dlfcn.h>

namespace bench {

// State of the first card, by NVIDIA's management library, which need not be there: 0 then.
struct CardState {
  double megahertz = 0, watts = 0;
};

inline CardState card_state() {
  using Start = int (*)();
  using Find = int (*)(unsigned, void**);
  using Clock = int (*)(void*, int, unsigned*);
  using Power = int (*)(void*, unsigned*);
  static void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return {};
  static const auto clock = reinterpret_cast<Clock>(dlsym(library, "nvmlDeviceGetClockInfo"));
  static const auto power = reinterpret_cast<Power>(dlsym(library, "nvmlDeviceGetPowerUsage"));
  static void* const card = []() -> void* {
    const auto start = reinterpret_cast<Start>(dlsym(library, "nvmlInit_v2"));
    const auto find = reinterpret_cast<Find>(dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
    void* found = nullptr;
    return start && find && start() == 0 && find(0, &found) == 0 ? found : nullptr;
  }();
  constexpr int multiprocessors = 1;
  CardState state;
  unsigned value = 0;
  if (card && clock && clock(card, multiprocessors, &value) == 0) state.megahertz = value;
  if (card && power && power(card, &value) == 0) state.watts = value / 1000.;
  return state;
}

}  // namespace bench
