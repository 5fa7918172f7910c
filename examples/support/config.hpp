#pragma once

#include <cmath>
#include <cstdint>
#include <nax/io/json.hpp>
#include <nax/nax.hpp>
#include <string>

// Numbers of the config.json that models of Hugging Face come with.
namespace examples {

// Throws ValueError unless it is whole and from 1 to 2^31.
inline std::int64_t whole_number(const nax::io::Json& config, const char* key) {
  const nax::io::Json* const found = config.find(key);
  if (!found || !found->is(nax::io::Json::Kind::number))
    throw nax::ValueError(std::string("config.json: has no ") + key);
  const double x = found->number;
  if (!(x >= 1 && x <= 0x1p31) || x != std::floor(x))
    throw nax::ValueError(std::string("config.json: is no whole number from 1 to 2^31: ") + key);
  return static_cast<std::int64_t>(x);
}
inline double real_number(const nax::io::Json& config, const char* key, double otherwise) {
  const nax::io::Json* const found = config.find(key);
  return found ? found->number : otherwise;
}

}  // namespace examples
