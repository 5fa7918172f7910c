#include "files.hpp"
#include "nax/io/save.hpp"
#include "nax/numpy/conversion/array_methods.hpp"

// Files that NumPy wrote (tests/goldens/make_files.py), and headers that NumPy refuses.
namespace numpy_files_test {
using namespace nax;
using files::golden;

std::vector<int> squares(int n) {
  std::vector<int> v;
  for (int i = 0; i < n; ++i) v.push_back(i * i % 1013);
  return v;
}

struct Streamed {
  Array<int> squares;
  Array<std::uint8_t> noise;
  Array<double> empty;
  double number = 0;
  Array<bool> mask;
};
struct Deflated {
  Array<int> squares;
  Array<float> zeros;
  Array<std::uint8_t> noise;
  Array<double> empty;
  double number = 0;
  Array<bool> mask;
};

template <class T>
void expect_right(const T& t) {
  EXPECT_EQ(t.squares.shape(), (Shape{40, 50}));
  EXPECT_EQ(t.squares.to_vector(), squares(2000));
  EXPECT_EQ(t.empty.shape(), (Shape{0, 3}));
  EXPECT_EQ(t.number, 2.5);
  ASSERT_EQ(t.mask.shape(), (Shape{100}));
  const std::vector<bool> mask = t.mask.to_vector();
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(mask[i], squares(100)[i] % 3 == 0);
}

TEST(NumpyFiles, DeflatedAndStreamed) {
  Streamed streamed;
  io::load(golden("streamed.npz"), streamed);
  expect_right(streamed);
  std::tuple<Array<int>, Array<float>> few;
  files::expect_refused([&] { io::load(golden("deflated.npz"), few); }, "has no array named [0]");
  Deflated all;
  io::load(golden("deflated.npz"), all);
  expect_right(all);
  EXPECT_EQ(all.zeros.shape(), (Shape{300, 500}));
  for (float zero : all.zeros.to_vector()) ASSERT_EQ(zero, 0);
  EXPECT_EQ(all.noise.to_vector(), streamed.noise.to_vector());
}

TEST(NumpyFiles, EveryBitOfADeflatedFileCounts) {
  // Any flipped bit gives equal arrays or an IoError.
  const io::Bytes good = files::read(golden("deflated.npz"));
  const std::string path = files::path_of("flipped.npz");
  int refused = 0;
  for (std::size_t at = 0; at < good.size(); at += 13) {
    io::Bytes bytes = good;
    bytes[at] ^= static_cast<std::uint8_t>(1 << at % 8);
    Deflated all;
    try {
      const io::detail::Source source("load", path, bytes);
      io::detail::load_from(source, false, all);
      expect_right(all);
    } catch (const IoError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

TEST(NumpyFiles, FortranOrderAndOtherBytes) {
  Array<int> a;
  io::load(golden("fortran.npy"), a);
  EXPECT_EQ(a.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(a.to_vector(), squares(24));
}

TEST(NumpyFiles, BoolsAreZeroOrOne) {
  Array<bool> mask;
  io::load(golden("bools.npy"), mask);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(detail::raw_data(mask));
  EXPECT_EQ(std::vector<int>(bytes, bytes + 6), (std::vector<int>{0, 1, 1, 1, 1, 1}));
}

io::Bytes npy(const std::string& dictionary, std::size_t elements, int version = 1) {
  io::Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(version), 0};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes.push_back(static_cast<std::uint8_t>(dictionary.size() >> 8 * i));
  bytes.insert(bytes.end(), dictionary.begin(), dictionary.end());
  bytes.resize(bytes.size() + elements, 1);
  return bytes;
}

std::string loaded(const io::Bytes& bytes) {
  return text_of<IoError>([&] {
    Array<std::uint8_t> a;
    io::detail::load_from(io::detail::Source("load", "f.npy", bytes), true, a);
  });
}
void expect_read(const std::string& dictionary, std::size_t elements = 6) {
  EXPECT_EQ(loaded(npy(dictionary, elements)), "nothing was thrown") << dictionary;
}
void expect_refused(const std::string& dictionary, const std::string& part, std::size_t elements = 6) {
  const std::string text = loaded(npy(dictionary, elements));
  EXPECT_NE(text.find(part), std::string::npos) << dictionary << ": " << text;
}

TEST(NpyHeader, ReadsAsNumPy) {
  expect_read("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }    \n");
  expect_read("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}");
  expect_read("{\"shape\":(6,),'fortran_order':False,'descr':'|u1'}");
  expect_read("{'descr': '|u1', 'fortran_order': False, 'shape': (2L, 3L), }");
  expect_read("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", 1);
  expect_read("{'descr': '|u1', 'fortran_order': False, 'shape': (0, 5), }", 0);
  EXPECT_EQ(loaded(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (6,), }", 6, 2)),
            "nothing was thrown");
}

TEST(NpyHeader, RefusesWhatNumpyRefuses) {
  const std::string good = "{'descr': '|u1', 'fortran_order': False, 'shape': (6,), }";
  for (const char* order : {"1", "0", "None", "'True'", "true"})
    expect_refused(std::string("{'descr': '|u1', 'fortran_order': ") + order + ", 'shape': (6,), }",
                   "neither True nor False");
  for (const char* shape : {"(6)", "6", "(-6,)", "(2 3)", "(2,, 3)", "(6.0,)", "(0x6,)", "[6]", "(6"})
    expect_refused(std::string("{'descr': '|u1', 'fortran_order': False, 'shape': ") + shape + ", }",
                   std::string(shape) == "6" || shape[0] == '[' ? "damaged" : "'shape' is none");
  expect_refused("{'descr': '|u1', 'fortran_order': False, }", "without 'shape'");
  expect_refused("{'descr': '|u1', 'shape': (6,), }", "without 'fortran_order'");
  expect_refused("{'fortran_order': False, 'shape': (6,), }", "without 'descr'");
  expect_refused(good.substr(0, good.size() - 1) + "'shape': (6,)}", "once too often");
  expect_refused(good.substr(0, good.size() - 1) + "'more': (6,)}", "once too often");
  expect_refused(good + "x", "damaged at its character");
  expect_refused(good + std::string(1, '\0'), "damaged at its character");
  expect_refused("{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (6,), }", "structured dtype");
  expect_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }",
                 "has dtype '<f4', the tree uint8");
  expect_refused("", "damaged");
  io::Bytes bytes = npy(good, 6);
  bytes[7] = 1;  // the version
  EXPECT_NE(loaded(bytes).find("unknown version"), std::string::npos);
  EXPECT_NE(loaded(npy(good + std::string(70000, ' '), 6, 2)).find("header longer"), std::string::npos);
}

TEST(NpyHeader, SizesAreCheckedBeforeAllocating) {
  const auto header = [](const std::string& shape) {
    return "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }";
  };
  expect_refused(header("(4611686018427387904, 4)"), "impossible shape");
  expect_refused(header("(99999999999999999999999,)"), "impossible shape");
  expect_refused(header("(0, 4611686018427387904, 4)"), "impossible shape", 0);
  expect_refused(header("(1000000000000,)"), "truncated: 6 bytes of elements instead of 1000000000000");
  expect_refused(header("(5,)"), "too long: 6 bytes of elements instead of 5");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1, ";
  expect_refused(header(many + ")"), "64 axes", 1);
}

}  // namespace numpy_files_test
