#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace examples {

// SHA-256 (FIPS 180-4) of bytes in memory, as 64 hexadecimal digits.
std::string sha256(std::vector<std::uint8_t> message);

}  // namespace examples
