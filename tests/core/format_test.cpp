#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <nax/core/format.hpp>
#include <nax/core/shape_text.hpp>
#include <sstream>

namespace format_test {

using namespace nax;

template <class T>
T from_words(const std::vector<std::uint64_t>& words, std::size_t i) {
  if constexpr (is_complex_v<T>) {
    return {from_words<real_t<T>>(words, 2 * i), from_words<real_t<T>>(words, 2 * i + 1)};
  } else {
    T x{};
    std::memcpy(&x, &words[i], sizeof(T));
    return x;
  }
}

// Prints the array whose elements repeat the words cyclically.
template <class T>
std::string text_of(const std::vector<std::uint64_t>& words, const std::vector<std::int64_t>& shape,
                    const PrintOptions& options) {
  std::int64_t size = 1;
  std::vector<std::int64_t> strides(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = size;
    size *= shape[i];
  }
  const std::size_t period = words.size() / (is_complex_v<T> ? 2 : 1);
  const auto data = std::make_unique<T[]>(static_cast<std::size_t>(size) + 1);
  for (std::int64_t i = 0; i < size; ++i)
    data[i] = from_words<T>(words, static_cast<std::size_t>(i) % period);
  return format_array(data.get(), shape.data(), strides.data(), static_cast<int>(shape.size()), options);
}

using TextOf = std::string (*)(const std::vector<std::uint64_t>&, const std::vector<std::int64_t>&,
                               const PrintOptions&);

TextOf text_of(const std::string& dtype) {
  static const std::pair<const char*, TextOf> functions[] = {{"bool", text_of<bool>},
                                                             {"int8", text_of<std::int8_t>},
                                                             {"int16", text_of<std::int16_t>},
                                                             {"int32", text_of<std::int32_t>},
                                                             {"int64", text_of<std::int64_t>},
                                                             {"uint8", text_of<std::uint8_t>},
                                                             {"uint16", text_of<std::uint16_t>},
                                                             {"uint32", text_of<std::uint32_t>},
                                                             {"uint64", text_of<std::uint64_t>},
                                                             {"float16", text_of<half>},
                                                             {"bfloat16", text_of<bfloat16>},
                                                             {"float32", text_of<float>},
                                                             {"float64", text_of<double>},
                                                             {"complex64", text_of<std::complex<float>>},
                                                             {"complex128", text_of<std::complex<double>>}};
  for (const auto& [name, function] : functions) {
    if (dtype == name) return function;
  }
  return nullptr;
}

TEST(Format, MatchesNumPy) {
  std::ifstream file(NAX_GOLDENS_DIR "/printing.txt");
  ASSERT_TRUE(file) << "no printing.txt in " NAX_GOLDENS_DIR;
  int cases = 0;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream head(line);
    std::string word, dtype, shape_word;
    PrintOptions options;
    head >> word >> dtype >> shape_word >> options.precision >> options.threshold >> options.edgeitems >>
        options.linewidth >> options.suppress;
    ASSERT_EQ(word, "case");
    std::vector<std::int64_t> shape;
    std::istringstream dims(shape_word);
    while (shape_word != "-" && std::getline(dims, word, ',')) shape.push_back(std::stoll(word));

    std::string words_line, expected;
    std::getline(file, words_line);
    std::istringstream hex(words_line);
    std::vector<std::uint64_t> words;
    for (std::uint64_t w = 0; hex >> std::hex >> w;) words.push_back(w);

    int lines = 0;
    file >> word >> lines;
    ASSERT_EQ(word, "text");
    std::getline(file, word);
    for (int i = 0; i < lines; ++i) {
      std::getline(file, word);
      expected += (i > 0 ? "\n" : "") + word;
    }
    const TextOf function = text_of(dtype);
    ASSERT_NE(function, nullptr) << dtype;
    EXPECT_EQ(function(words, shape, options), expected) << line << '\n' << words_line;
    ++cases;
  }
  EXPECT_GT(cases, 800);
}

TEST(Format, StridesMayBeNegativeAndZero) {
  const int data[] = {1, 2, 3, 4, 5, 6};
  const std::int64_t shape[] = {3, 2}, transposed[] = {1, 3}, reversed[] = {-2, -1}, broadcast[] = {0, 1};
  EXPECT_EQ(format_array(data, shape, transposed, 2), "[[1 4]\n [2 5]\n [3 6]]");
  EXPECT_EQ(format_array(data + 5, shape, reversed, 2), "[[6 5]\n [4 3]\n [2 1]]");
  EXPECT_EQ(format_array(data, shape, broadcast, 2), "[[1 2]\n [1 2]\n [1 2]]");
}

TEST(Format, OptionsChangeOnlyWhatIsNamed) {
  const double data[] = {1.0 / 3, 2e-6};
  const std::int64_t shape[] = {2}, strides[] = {1};
  {
    auto scope = printoptions({.precision = 3, .suppress = true});
    EXPECT_EQ(format_array(data, shape, strides, 1), "[0.333 0.   ]");
    set_printoptions({.suppress = false});
    EXPECT_EQ(get_printoptions().precision, 3);
    EXPECT_EQ(format_array(data, shape, strides, 1), "[3.333e-01 2.000e-06]");
  }
  EXPECT_EQ(get_printoptions().precision, 8);
  set_printoptions(get_printoptions());
  EXPECT_THROW(set_printoptions({.precision = -1}), ValueError);
  EXPECT_EQ(get_printoptions().precision, 8);
}

TEST(ShapeText, IsAPythonTuple) {
  const std::int64_t shape[] = {2, 3};
  EXPECT_EQ(shape_text(shape, 0), "()");
  EXPECT_EQ(shape_text(shape, 1), "(2,)");
  EXPECT_EQ(shape_text(shape, 2), "(2, 3)");
  EXPECT_EQ(shape_text(std::vector<int>{128, 784}), "(128, 784)");
}

}  // namespace format_test
