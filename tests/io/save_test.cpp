#include "nax/io/save.hpp"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/views/reshape.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "nax/random/key.hpp"
#include "support/refusal.hpp"

namespace save_test {
using namespace nax;

struct Layer {
  Array<float> w, b;
};
struct Model {
  std::vector<Layer> layers;
  std::map<std::string, Array<double>> extra;
  std::pair<Array<int>, Array<bool>> pair;
  int steps = 0;
  double rate = 0;
};

std::string file(const char* name) { return testing::TempDir() + "nax_save_" + name; }

void write(const std::string& path, const io::Bytes& bytes) {
  io::detail::NewFile out("test", path);
  out.write(bytes.data(), bytes.size());
  out.commit();
}

void expect_says(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

Model model() {
  return {{{{{1, 2}, {3, 4}, {5, 6}}, {7, 8}}, {{{9}}, {-1}}},
          {{"a b", {0.1, 0.2}}, {"c", Array<double>(3)}},
          {{1, 2, 3}, {true, false}},
          7,
          0.5};
}

TEST(Save, LoadsWhatItSaved) {
  const std::string path = file("model.npz");
  io::save(path, model());
  Model m;
  m.layers.resize(2);
  m.extra = {{"a b", {}}, {"c", {}}};
  io::load(path, m);
  EXPECT_EQ(m.layers[0].w.shape(), (Shape{3, 2}));
  EXPECT_EQ(m.layers[0].w.to_vector(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(m.layers[1].b.to_vector(), (std::vector<float>{-1}));
  EXPECT_EQ(m.extra["a b"].to_vector(), (std::vector<double>{0.1, 0.2}));
  EXPECT_EQ(m.extra["c"].item(), 3);
  EXPECT_EQ(m.pair.first.to_vector(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(m.pair.second.to_vector(), (std::vector<bool>{true, false}));
  EXPECT_EQ(m.steps, 7);
  EXPECT_EQ(m.rate, 0.5);
  // Equal trees give equal bytes.
  io::save(file("again.npz"), m);
  EXPECT_EQ(io::detail::read_file("test", path), io::detail::read_file("test", file("again.npz")));
}

TEST(Save, HoldsEveryDtypeViewsAndKeys) {
  const std::string path = file("types.npz");
  const auto t = std::tuple{Array<half>{1, 2},
                            Array<bfloat16>{3},
                            Array<std::int8_t>{-1},
                            Array<std::uint64_t>{5},
                            Array<std::complex<float>>{{1.f, 2.f}},
                            Array<float>(),
                            Array<float>{{1, 2}, {3, 4}}.T(),
                            random::key(-3)};
  io::save(path, t);
  std::remove_const_t<decltype(t)> back;
  io::load(path, back);
  EXPECT_EQ(float(std::get<0>(back).to_vector()[1]), 2);
  EXPECT_EQ(float(std::get<1>(back).item()), 3);
  EXPECT_EQ(std::get<2>(back).item(), -1);
  EXPECT_EQ(std::get<5>(back).shape(), (Shape{0}));
  EXPECT_EQ(std::get<6>(back).to_vector(), (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(std::get<7>(back).words().item(), static_cast<std::uint64_t>(-3));
}

TEST(Save, NamesWhatDoesNotFit) {
  const std::string path = file("fit.npz");
  io::save(path, Layer{{{1, 2}, {3, 4}}, {5, 6}});
  Layer other{{{1, 2}}, {5, 6}};
  expect_says(refusal<IoError>([&] { io::load(path, other); }),
              "load: '" + path + "' (w) has shape (2, 2), the tree (1, 2)");
  EXPECT_EQ(other.w.shape(), (Shape{1, 2}));
  std::pair<Array<float>, Array<float>> pair;
  expect_says(refusal<IoError>([&] { io::load(path, pair); }), "has no array named [0]");
  struct Wide {
    Array<double> w;
    Array<float> b;
  } wide;
  expect_says(refusal<IoError>([&] { io::load(path, wide); }),
              "(w) has dtype '<f4', the tree float64 ('<f8')");
  struct Narrow {
    Array<float> w;
  } narrow;
  expect_says(refusal<IoError>([&] { io::load(path, narrow); }), "has b, which the tree has not");
  expect_says(refusal<IoError>([&] { io::load(file("nowhere.npz"), other); }), "cannot be opened");
  expect_says(refusal<IoError>([&] { io::save("/nowhere/at/all.npz", other); }), "cannot be written");
  expect_says(refusal<IoError>([&] { io::save(file("tree.npy"), other); }), "one array only");
}

TEST(Save, RefusesDamage) {
  const std::string path = file("damage.npz"), broken = file("broken.npz");
  io::save(path, Layer{{{1, 2}, {3, 4}}, {5, 6}});
  const io::Bytes good = io::detail::read_file("test", path);
  Layer layer;
  const auto load = [&] { io::load(broken, layer); };
  for (std::size_t size : {std::size_t{0}, std::size_t{10}, good.size() / 2, good.size() - 1}) {
    write(broken, io::Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_THROW(load(), IoError) << size;
  }
  io::Bytes bytes = good;
  bytes[165] ^= 1;  // of an element
  write(broken, bytes);
  expect_says(refusal<IoError>(load), "(w) is damaged: its CRC is wrong");
  EXPECT_EQ(refusal<IoError>([&] { io::load(path, layer); }), "no error");
}

TEST(Save, SingleArrays) {
  const std::string path = file("one.npy");
  io::save(path, Array<float>{{1, 2, 3}, {4, 5, 6}});
  Array<float> back;
  io::load(path, back);
  EXPECT_EQ(back.shape(), (Shape{2, 3}));
  // Fortran's order and swapped bytes, as NumPy may write them.
  const std::string head = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }";
  io::Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<std::uint8_t>(head.size()), 0};
  bytes.insert(bytes.end(), head.begin(), head.end());
  for (int v : {1, 4, 2, 5, 3, 600}) {
    bytes.push_back(static_cast<std::uint8_t>(v >> 8));
    bytes.push_back(static_cast<std::uint8_t>(v));
  }
  write(path, bytes);
  Array<std::int16_t> a;
  io::load(path, a);
  EXPECT_EQ(a.to_vector(), (std::vector<std::int16_t>{1, 2, 3, 4, 5, 600}));
  bytes.pop_back();
  write(path, bytes);
  Array<std::int16_t> b;
  expect_says(refusal<IoError>([&] { io::load(path, b); }), "truncated: 11 bytes of elements instead of 12");
}

}  // namespace save_test
