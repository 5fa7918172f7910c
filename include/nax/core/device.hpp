#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "nax/core/abi.hpp"

NAX_BEGIN

// (Arrays of `program` have no elements: jit writes down what would be done with them. See nax/program.)
enum class Platform : std::uint8_t { cpu, cuda, program };
inline constexpr int platform_count = 3;

// One machine that computes: a group of CPU cores or a GPU.
struct Device {
  Platform platform = Platform::cpu;
  std::uint16_t ordinal = 0;
  std::uint16_t remote = 0;  // of another process: one more than that process' index
  friend bool operator==(const Device&, const Device&) = default;
};

// The device's name: "cpu:0", "cuda:1", "cpu:0 of process 2".
inline std::string to_string(Device d) {
  constexpr const char* names[platform_count] = {"cpu:", "cuda:", "program:"};
  return names[static_cast<int>(d.platform)] + std::to_string(d.ordinal) +
         (d.remote ? " of process " + std::to_string(d.remote - 1) : "");
}
inline std::ostream& operator<<(std::ostream& out, Device d) { return out << to_string(d); }

namespace detail {
// The device whose program this thread runs: pmap's workers set their own, every other thread computes on
// cpu:0.
inline thread_local constinit Device current_device{};
}  // namespace detail

NAX_END
