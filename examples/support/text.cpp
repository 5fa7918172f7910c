#include "text.hpp"

#include <fstream>
#include <iterator>
#include <random>
#include <vector>

namespace examples {
namespace {

std::string draw_sentences(unsigned seed) {
  std::mt19937 draw(seed);
  const auto one_of = [&](const std::vector<std::string>& words) { return words[draw() % words.size()]; };
  std::string text;
  while (text.size() < 100000) {
    const bool many = draw() % 2;
    text += many ? one_of({"the cats", "two dogs", "all birds"}) : one_of({"the cat", "a dog", "every bird"});
    text += many ? one_of({" see", " like", " follow"}) : one_of({" sees", " likes", " follows"});
    text += one_of({" the moon", " a mouse", " the river", " me"}) +
            one_of({".\n", " today.\n", " and sleep" + std::string(many ? ".\n" : "s.\n")});
  }
  return text;
}

}  // namespace

Text load_text(const std::string& file, unsigned seed, std::int64_t least) {
  std::string text = file.empty() ? draw_sentences(seed) : "";
  if (!file.empty()) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw nax::IoError("--text: cannot read " + file);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  if (static_cast<std::int64_t>(text.size()) < least)
    throw nax::ValueError("--text: shorter than an example");
  Text result;
  std::vector<int> numbers;
  for (const char c : text) {
    if (result.alphabet.find(c) == std::string::npos) result.alphabet += c;
    numbers.push_back(static_cast<int>(result.alphabet.find(c)));
  }
  result.numbers = nax::array(numbers);
  return result;
}

}  // namespace examples
