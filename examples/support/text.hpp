#pragma once

#include <nax/nax.hpp>
#include <string>

// Texts for networks that read and write characters.
namespace examples {

struct Text {
  std::string alphabet;     // each byte of the text once, in the order of appearance
  nax::Array<int> numbers;  // the text, as places in the alphabet
};

// The text of a file; without one, 100000 characters of sentences of a little grammar. Throws IoError, and
// ValueError for a text of fewer than `least` characters.
Text load_text(const std::string& file, unsigned seed, std::int64_t least);

}  // namespace examples
