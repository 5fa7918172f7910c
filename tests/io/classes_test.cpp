// Classes with tree_fields in files: fields are found by name, so a different class cannot be loaded from
// them.

#include <gtest/gtest.h>

#include <tuple>

#include "nax/io/save.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/random/key.hpp"
#include "support/refusal.hpp"

namespace classes_test {
using namespace nax;

class Dense {
 public:
  Dense() = default;
  Dense(Array<float> w, Array<float> b) : weights_(std::move(w)), bias_(std::move(b)) {}
  const Array<float>& bias() const { return bias_; }

 private:
  friend constexpr auto tree_fields(Dense& self) { return std::tie(self.weights_, self.bias_); }
  Array<float> weights_, bias_;
};
class Turned {  // the same arrays, listed the other way round
 public:
  const Array<float>& bias() const { return bias_; }

 private:
  friend constexpr auto tree_fields(Turned& self) { return std::tie(self.bias_, self.weights_); }
  Array<float> weights_, bias_;
};
class Norm {
  friend constexpr auto tree_fields(Norm& self) { return std::tie(self.scale_, self.shift_); }
  Array<float> scale_, shift_;
};
template <class T>
class Counted {  // not constexpr: its class and positions name its fields
 public:
  Counted() = default;
  explicit Counted(Array<T> x) : x_(std::move(x)) {}
  const Array<T>& value() const { return x_; }

 private:
  friend auto tree_fields(Counted& self) { return std::tie(self.x_); }
  Array<T> x_;
};
class Other {
  friend auto tree_fields(Other& self) { return std::tie(self.x_); }
  Array<float> x_;
};
template <class M>
struct Model {
  M module;
};

std::string file(const char* name) { return testing::TempDir() + "nax_classes_" + name; }

TEST(SaveClasses, NamesFields) {
  const std::string path = file("dense.npz");
  io::save(path, Model<Dense>{Dense({{1, 2}}, {3, 4})});
  Model<Dense> same;
  io::load(path, same);
  EXPECT_EQ(same.module.bias().to_vector(), (std::vector<float>{3, 4}));
  Model<Turned> turned;
  io::load(path, turned);
  EXPECT_EQ(turned.module.bias().to_vector(), (std::vector<float>{3, 4}));
  Model<Norm> norm;
  EXPECT_EQ(refusal<IoError>([&] { io::load(path, norm); }),
            "load: '" + path + "' has no array named module.scale_");
}

TEST(SaveClasses, CountsFieldsByClassWhereTheyHaveNoNames) {
  const std::string path = file("counted.npz");
  io::save(path, Model<Counted<float>>{Counted<float>({1, 2})});
  Model<Counted<float>> same;
  io::load(path, same);
  EXPECT_EQ(same.module.value().to_vector(), (std::vector<float>{1, 2}));
  Model<Other> other;
  EXPECT_EQ(refusal<IoError>([&] { io::load(path, other); }),
            "load: '" + path + "' has no array named module.Other[0]");
  Model<Counted<double>> wide;
  EXPECT_EQ(refusal<IoError>([&] { io::load(path, wide); }),
            "load: '" + path + "' (module.Counted[0]) has dtype '<f4', the tree float64 ('<f8')");
}

TEST(SaveClasses, PathsNameThemToo) {
  std::string paths;
  tree::for_each_with_path([&](const std::string& path, const auto&) { paths += path + ' '; },
                           std::tuple{Dense(), Counted<float>(), random::key(0)});
  EXPECT_EQ(paths, "[0].weights_ [0].bias_ [1].Counted[0] [2].words_ ");
}

}  // namespace classes_test
