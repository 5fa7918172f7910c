#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <nax/io/file.hpp>
#include <nax/modules/exporting/onnx.hpp>
#include <nax/modules/exporting/stablehlo.hpp>
#include <nax/nax.hpp>

#include "exporting/nets.hpp"
#include "support/text_of.hpp"

// The files of save_onnx, read back by a reader of Protocol Buffers that is not nax's, and computed.
namespace onnx_test {
using namespace nax;
using nets::A;
using nets::draw;

// The fields of a message: numbers, and bytes.
struct Fields {
  std::multimap<int, std::uint64_t> numbers;
  std::multimap<int, std::string> texts;

  explicit Fields(const std::string& bytes) {
    std::size_t at = 0;
    const auto varint = [&] {
      std::uint64_t value = 0;
      for (int shift = 0;; shift += 7) {
        const unsigned char byte = static_cast<unsigned char>(bytes.at(at++));
        value |= std::uint64_t(byte & 127) << shift;
        if (byte < 128) return value;
      }
    };
    while (at < bytes.size()) {
      const std::uint64_t key = varint();
      const int field = static_cast<int>(key >> 3);
      if ((key & 7) == 0) {
        numbers.emplace(field, varint());
      } else if ((key & 7) == 2) {
        const std::size_t size = varint();
        texts.emplace(field, bytes.substr(at, size));
        at += size;
      } else {
        at += 4;
      }
    }
  }
  std::string text(int field) const { return texts.find(field)->second; }
  std::vector<std::string> all(int field) const {
    std::vector<std::string> list;
    for (auto [at, end] = texts.equal_range(field); at != end; ++at) list.push_back(at->second);
    return list;
  }
  std::vector<std::int64_t> integers(int field) const {
    std::vector<std::int64_t> list;
    for (auto [at, end] = numbers.equal_range(field); at != end; ++at)
      list.push_back(static_cast<std::int64_t>(at->second));
    return list;
  }
};

struct Model {
  struct Node {
    std::string type;
    std::vector<std::string> inputs, outputs;
    std::map<std::string, std::vector<std::int64_t>> integers;
  };
  std::vector<Node> nodes;
  std::map<std::string, A> floats;  // initializers
  std::map<std::string, std::vector<std::int64_t>> integers;
  std::vector<std::string> inputs, outputs;
  std::int64_t opset = 0;

  explicit Model(const std::string& path) {
    const io::Bytes bytes = io::detail::read_file("test", path);
    const Fields model(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    opset = Fields(model.text(8)).integers(2).at(0);
    const Fields graph(model.text(7));
    for (const std::string& text : graph.all(1)) {
      const Fields node(text);
      nodes.push_back({node.text(4), node.all(1), node.all(2), {}});
      for (const std::string& one : node.all(5)) {
        const Fields attribute(one);
        std::vector<std::int64_t> values = attribute.integers(8);
        if (attribute.integers(20).at(0) == 2) values = attribute.integers(3);
        nodes.back().integers[attribute.text(1)] = values;
      }
    }
    for (const std::string& text : graph.all(5)) {
      const Fields tensor(text);
      const std::string raw = tensor.text(9);
      const std::vector<std::int64_t> dims = tensor.integers(1);
      if (tensor.integers(2).at(0) == 1) {
        std::vector<float> values(raw.size() / 4);
        std::memcpy(values.data(), raw.data(), raw.size());
        floats[tensor.text(8)] = array(values).reshape(Shape(dims.begin(), dims.end()));
      } else if (tensor.integers(2).at(0) == 7) {
        std::vector<std::int64_t>& values = integers[tensor.text(8)];
        values.resize(raw.size() / 8);
        std::memcpy(values.data(), raw.data(), raw.size());
      }
    }
    for (const std::string& text : graph.all(11)) inputs.push_back(Fields(text).text(1));
    for (const std::string& text : graph.all(12)) outputs.push_back(Fields(text).text(1));
  }
  std::vector<std::string> types() const {
    std::vector<std::string> all;
    for (const Node& node : nodes) all.push_back(node.type);
    return all;
  }
  // Of a few types of nodes.
  A run(const A& x) const {
    std::map<std::string, A> known = floats;
    known[inputs.at(0)] = x;
    for (const Node& node : nodes) {
      const auto in = [&](std::size_t i) { return known.at(node.inputs.at(i)); };
      A& to = known[node.outputs.at(0)];
      if (node.type == "MatMul") to = matmul(in(0), in(1));
      if (node.type == "Add") to = in(0) + in(1);
      if (node.type == "Sub") to = in(0) - in(1);
      if (node.type == "Mul") to = in(0) * in(1);
      if (node.type == "Erf") to = special::erf(in(0));
      if (node.type == "Identity") to = in(0);
      if (node.type == "Transpose") to = transpose(in(0));
      if (node.type == "ReduceSum")
        to = sum(in(0), {.axis = static_cast<int>(integers.at(node.inputs.at(1)).at(0)), .keepdims = true});
      if (node.type == "Reshape") {
        const std::vector<std::int64_t>& shape = integers.at(node.inputs.at(1));
        to = in(0).reshape(Shape(shape.begin(), shape.end()));
      }
      EXPECT_TRUE(to.size() > 0) << node.type;
    }
    return known.at(outputs.at(0));
  }
};

struct File {
  std::string path = testing::TempDir() + "nax_" + std::to_string(::getpid()) + "_model.onnx";
  ~File() { std::filesystem::remove(path); }
};
using Types = std::vector<std::string>;
template <class F, class X>
Types types_of(const F& f, const X& x) {
  const File file;
  io::save_onnx(file.path, f, x);
  return Model(file.path).types();
}
template <class F, class X>
std::string refusal(const F& f, const X& x, const io::SaveOnnxOptions& options = {}) {
  const File file;
  return text_of<ValueError>([&] { io::save_onnx(file.path, f, x, options); });
}

TEST(SaveOnnx, NetworksAreNodesAndInitializers) {
  const File file;
  const nets::Mlp net;
  const A x = draw(2, {3, 8});
  io::save_onnx(file.path, net, x, {.inputs = {"x"}, .outputs = {"logits"}});
  const Model model(file.path);
  EXPECT_EQ(model.opset, 17);
  EXPECT_EQ(model.inputs, Types{"x"});
  EXPECT_EQ(model.outputs, Types{"logits"});
  Types types = model.types();  // compilers order a rule's operands
  std::sort(types.begin(), types.end());
  EXPECT_EQ(types, (Types{"Add", "Add", "Erf", "Identity", "MatMul", "MatMul", "Mul", "Mul", "Mul", "Sub"}));
  EXPECT_EQ(model.floats.at("a.w").shape(), (Shape{8, 16}));
  EXPECT_EQ(model.floats.at("b.b").shape(), Shape{4});
  std::int64_t weights = 0;
  for (const auto& [name, values] : model.floats) weights += values.ndim() > 0 ? values.size() : 0;
  EXPECT_EQ(weights, 8 * 16 + 16 + 16 * 4 + 4);
  EXPECT_LT(max(abs(model.run(x) - net(x))).item(), 1e-6f);
}

// Larger weights go to a file beside the model; others stay.
TEST(SaveOnnx, WeightsLieOutside) {
  const File file;
  const nets::Mlp net;
  io::save_onnx(file.path, net, draw(2, {3, 8}), {.inside_bytes = 100});
  const std::string data = file.path + ".data";
  const io::Bytes bytes = io::detail::read_file("test", file.path),
                  weights = io::detail::read_file("test", data);
  const Fields graph(Fields(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())).text(7));
  int outside = 0;
  for (const std::string& text : graph.all(5)) {
    const Fields tensor(text);
    if (tensor.text(8) != "a.w") {
      outside += tensor.texts.count(9) == 0;
      continue;
    }
    ASSERT_EQ(tensor.texts.count(9), 0u);
    EXPECT_EQ(tensor.integers(14).at(0), 1);
    std::map<std::string, std::string> entries;
    for (const std::string& entry : tensor.all(13)) entries[Fields(entry).text(1)] = Fields(entry).text(2);
    EXPECT_EQ(entries["location"], std::filesystem::path(data).filename());
    EXPECT_EQ(entries["length"], std::to_string(8 * 16 * 4));
    std::vector<float> found(8 * 16);
    std::memcpy(found.data(), weights.data() + std::stoul(entries["offset"]), found.size() * 4);
    EXPECT_TRUE(array_equal(array(found).reshape({8, 16}), net.a.w));
  }
  EXPECT_EQ(outside, 1);  // b.w; biases are short
  std::filesystem::remove(data);
}

// A loop of many turns is a node, whose body is a graph of its own; weights stay outside of it.
TEST(SaveOnnx, LoopsAreNodes) {
  EXPECT_EQ(types_of(nets::Lstm(), draw(4, {40, 2, 5})),
            (Types{"Reshape", "MatMul", "Reshape", "Loop", "Reshape", "Identity"}));
  EXPECT_GT(types_of(nets::Lstm(), draw(4, {31, 2, 5})).size(), 31u);
}

TEST(SaveOnnx, ViewsAndSumsCompute) {
  const A x = draw(3, {4, 6});
  const auto check = [&](const auto& f) {
    const File file;
    io::save_onnx(file.path, f, x);
    const A expected = f(x);
    const A found = Model(file.path).run(x);
    EXPECT_EQ(found.shape(), expected.shape());
    EXPECT_LT(max(abs(found - expected)).item(), 1e-5f);
  };
  check([](const A& a) { return matmul(a, transpose(a)); });
  check([](const A& a) { return A(transpose(a) * sum(a, {.axis = 1})); });
  check([](const A& a) { return A(a.reshape({2, 12}) + 1.f); });
}

TEST(SaveOnnx, SlicesTransposesAndPartsHaveNodes) {
  const A x = draw(4, {4, 6});
  EXPECT_EQ(types_of([](const A& a) { return transpose(a); }, x), (Types{"Transpose", "Identity"}));
  EXPECT_EQ(types_of([](const A& a) { return a(slice(1, 3), slice(0, 6, 2)); }, x),
            (Types{"Slice", "Identity"}));
  EXPECT_EQ(types_of(
                [](const A& a) {
                  return concatenate({a, a});
                },
                x),
            (Types{"Reshape", "Concat", "Reshape", "Identity"}));
  EXPECT_EQ(types_of([](const A& a) { return nn::softmax(a); }, x), (Types{"Softmax", "Identity"}));
  EXPECT_EQ(types_of([](const A& a) { return nn::layer_norm(a, ones<float>({6}), zeros<float>({6})); }, x),
            (Types{"LayerNormalization", "Identity"}));
  EXPECT_EQ(types_of([](const A& a) { return A(where(a > 0, a, 2 * a)); }, x),
            (Types{"Less", "Mul", "Where", "Identity"}));
}

struct Normed {
  nn::Conv<float> conv;
  nn::BatchNorm<float> norm;
  nn::BatchStats<float> stats;
  A operator()(const A& x) const { return norm(conv(x), stats, {.use_running_average = true}).first; }
};
// Batch norms of inference are in the weights, biases are operands, and channels stay second in between.
TEST(SaveOnnx, BatchNormsArePartsOfConvolutions) {
  const nets::Block block;
  const A x = draw(3, {2, 8, 8, 8});
  Types types = types_of(block, x);
  std::sort(types.begin(), types.end());
  EXPECT_EQ(types,
            (Types{"Add", "Conv", "Conv", "Conv", "Identity", "Max", "Max", "Transpose", "Transpose"}));
  const File file;
  const Normed one{block.a, block.m, block.s};
  io::save_onnx(file.path, one, x);
  const A w = block.a.w * (rsqrt(block.s.var + 1e-5f) * block.m.scale);
  const A found = Model(file.path).floats.at("conv.w");
  EXPECT_EQ(found.shape(), (Shape{16, 8, 3, 3}));
  EXPECT_LT(max(abs(found - transpose(w, {3, 2, 0, 1}))).item(), 1e-6f);
  // A convolution that another node reads stays as it is.
  const auto twice = [&](const A& a) {
    const A y = block.a(a);
    return A(nn::relu(block.m(y, block.s, {.use_running_average = true}).first) + y);
  };
  const Types kept = types_of(twice, x);
  EXPECT_GT(std::count(kept.begin(), kept.end(), "Mul"), 0);
}

TEST(SaveOnnx, ConvolutionsPoolAndTranspose) {
  const A x = draw(5, {1, 8, 8, 4}), w = draw(6, {3, 3, 4, 5});
  const auto attribute = [&](const auto& f, const char* type, const char* name) {
    const File file;
    io::save_onnx(file.path, f, x);
    for (const Model::Node& node : Model(file.path).nodes)
      if (node.type == type) return node.integers.at(name);
    return std::vector<std::int64_t>();
  };
  using List = std::vector<std::int64_t>;
  const auto strided = [&](const A& a) { return nn::conv(a, w, {.strides = {2, 2}}); };
  EXPECT_EQ(attribute(strided, "Conv", "strides"), (List{2, 2}));
  EXPECT_EQ(attribute(strided, "Conv", "pads"), (List{0, 0, 1, 1}));
  const auto up = [&](const A& a) { return nn::conv_transpose(a, w, {.strides = {2, 2}}); };
  EXPECT_EQ(attribute(up, "ConvTranspose", "pads"), (List{0, 0, 1, 1}));
  const auto pool = [](const A& a) { return nn::max_pool(a, {2, 3}, {.strides = {2, 2}}); };
  EXPECT_EQ(attribute(pool, "MaxPool", "kernel_shape"), (List{2, 3}));
}

TEST(SaveOnnx, RefusesByName) {
  const A x = draw(7, {4, 4});
  EXPECT_EQ(refusal([](const A& a) { return A(special::gammaln(a)); }, x),
            "save_onnx: cannot be written: lgamma of float32");
  using U = Array<std::uint64_t>;
  EXPECT_EQ(refusal([](const U& a) { return U(power(a, a)); }, U{1, 2}),
            "save_onnx: cannot be written: power of uint64");
  EXPECT_EQ(refusal([](const U& a) { return U(a & a); }, U{1, 2}),
            "save_onnx: cannot be written: bitwise_and of uint64");
  EXPECT_EQ(refusal(grad([](const A& a) {
                      return lax::cond(
                          sum(a) > 0.f, [](const A& v) { return A(sum(sin(v))); },
                          [](const A& v) { return A(sum(v)); }, a);
                    }),
                    x)
                .substr(0, 28),
            "save_onnx: cannot be written");
  EXPECT_EQ(refusal([](const A& a) { return linalg::inv(a); }, x), "save_onnx: cannot be written: solve");
  EXPECT_EQ(refusal([](const A& a) { return A(abs(fft::fft(a))); }, x),
            "save_onnx: cannot be written: complex numbers");
  EXPECT_EQ(refusal([](const A& a) { return A(special::i0(a)); }, x),
            "save_onnx: cannot be written: i0 of float32");
  EXPECT_EQ(refusal(grad([](const A& a) { return sum(tanh(a)); }), x),
            "save_onnx: cannot be written: tanh_gradient");
  const auto same = [](const A& a) { return A(a + 1.f); };
  EXPECT_EQ(refusal(same, x, {.inputs = {"a", "b"}}), "save_onnx: 2 names of inputs for 1 arrays");
  EXPECT_EQ(refusal(same, x, {.inputs = {"y0"}}), "save_onnx: a name is empty or used twice: y0");
}

TEST(Stablehlo, HasFunctionsOfItsOwnForSmallNumbers) {
  const std::string text =
      io::stablehlo([](const A& x) { return A(expm1(x) + log1p(x) + cbrt(x)); }, draw(1, {4}));
  for (const char* const name : {"exponential_minus_one", "log_plus_one", "cbrt"})
    EXPECT_NE(text.find("\"stablehlo." + std::string(name) + '"'), std::string::npos) << text;
}
TEST(Stablehlo, IsOneFunction) {
  const std::string text = io::stablehlo([](const A& a) { return A(tanh(a) * 2.f); }, draw(8, {2, 3}));
  EXPECT_EQ(
      text,
      "module @nax {\n"
      "  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>) {\n"
      "    %0 = \"stablehlo.tanh\"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
      "    %1 = stablehlo.constant dense<\"0x00000040\"> : tensor<f32>\n"
      "    %2 = \"stablehlo.broadcast_in_dim\"(%1) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> "
      "tensor<2x3xf32>\n"
      "    %3 = \"stablehlo.multiply\"(%0, %2) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n"
      "    return %3 : tensor<2x3xf32>\n"
      "  }\n"
      "}\n");
  EXPECT_EQ(text_of<ValueError>(
                [] { return io::stablehlo([](const A& a) { return A(special::i0(a)); }, draw(9, {3})); }),
            "stablehlo: cannot be written: i0 of float32");
}

}  // namespace onnx_test
