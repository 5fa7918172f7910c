#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nax/io/torch.hpp>
#include <nax/nax.hpp>

#include "support/text_of.hpp"

// Modules filled from files as PyTorch names and lays out parameters compute what its formulas say.
namespace torch_test {
using namespace nax;
using A = Array<float>;
using State = std::map<std::string, A>;  // as of torch's state_dict()

struct File {
  explicit File(const State& state, const std::string& name = "model.safetensors") : path(folder() + name) {
    io::save_safetensors(path, state, {.dotted = true});
  }
  ~File() { std::filesystem::remove(path); }
  static std::string folder() { return testing::TempDir() + "nax_torch_" + std::to_string(::getpid()) + "_"; }
  std::string path;
};
A draw(int seed, const Shape& shape) { return random::normal<float>(random::key(seed), shape); }
void expect_close(const A& a, const A& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_LT(max(abs(a - b)).item(), 2e-5f);
}
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const IoError& e) {
    return e.what();
  }
  return "";
}
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Mlp {
  std::vector<nn::Linear<float>> layers;
  nn::LayerNorm<float> norm;
};
Mlp mlp() {
  return {{nn::Linear<float>::make(random::key(0), {3, 5}), nn::Linear<float>::make(random::key(1), {5, 2})},
          nn::LayerNorm<float>::make({2})};
}
State mlp_state() {
  return {{"layers.0.weight", draw(1, {5, 3})}, {"layers.0.bias", draw(2, {5})},
          {"layers.1.weight", draw(3, {2, 5})}, {"layers.1.bias", draw(4, {2})},
          {"norm.weight", draw(5, {2})},        {"norm.bias", draw(6, {2})}};
}

TEST(LoadTorch, LinearLayersAndNorms) {
  const State state = mlp_state();
  const File file(state);
  Mlp net = mlp();
  const io::LoadReport report = io::load_torch(file.path, net);
  EXPECT_EQ(report.matched, (std::vector<std::string>{"layers[0].w", "layers[0].b", "layers[1].w",
                                                      "layers[1].b", "norm.scale", "norm.bias"}));
  EXPECT_TRUE(report.missing.empty() && report.left.empty());
  const A x = draw(7, {4, 3});
  const A h = matmul(x, transpose(state.at("layers.0.weight"))) + state.at("layers.0.bias");
  expect_close(net.layers[0](x), h);
  expect_close(net.layers[1](h),
               matmul(h, transpose(state.at("layers.1.weight"))) + state.at("layers.1.bias"));
  expect_close(net.norm.scale, state.at("norm.weight"));
}

TEST(LoadTorch, NamesAreRenamed) {
  State other;
  for (const auto& [name, array] : mlp_state()) {
    std::string gamma = "bert." + name;
    if (name == "norm.weight") gamma = "bert.norm.gamma";
    if (name == "norm.bias") gamma = "bert.norm.beta";
    other[gamma] = array;
  }
  const File file(other);
  Mlp net = mlp();
  io::load_torch(file.path, net, {.rename = {{"bert.", ""}, {".gamma", ".weight"}, {".beta", ".bias"}}});
  expect_close(net.norm.bias, mlp_state().at("norm.bias"));
  Mlp again = mlp();
  io::load_torch(file.path, again, {.rename = [](const std::string& name) {
                   std::string n = name.substr(5);
                   return n == "norm.gamma" ? "norm.weight" : n == "norm.beta" ? "norm.bias" : n;
                 }});
  expect_close(again.norm.scale, net.norm.scale);
}

TEST(LoadTorch, Convolutions) {
  const State state{{"weight", draw(1, {6, 2, 3, 5})}, {"bias", draw(2, {6})}};
  const File file(state);
  auto conv = nn::Conv<float>::make(
      random::key(0), {.in = 4, .out = 6, .kernel = {3, 5}, .conv = {.feature_group_count = 2}});
  io::load_torch(file.path, conv);
  const A x = draw(3, {2, 4, 9, 8});  // NCHW
  const A want =
      lax::conv_general_dilated(x, state.at("weight"), {1, 1}, "SAME", {.feature_group_count = 2}) +
      state.at("bias").reshape({6, 1, 1});
  expect_close(transpose(conv(transpose(x, {0, 2, 3, 1})), {0, 3, 1, 2}), want);
}

TEST(LoadTorch, PackedAndSingleProjections) {
  const std::int64_t e = 8, n = 2, h = 4;
  const A packed = draw(1, {3 * e, e}), bias = draw(2, {3 * e}), out = draw(3, {e, e}),
          out_bias = draw(4, {e});
  const A x = draw(5, {6, e});
  const A qkv = matmul(x, transpose(packed)) + bias;
  std::vector<A> heads;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto part = [&](std::int64_t which) {
      return A(qkv(ellipsis, slice(which * e + i * h, which * e + (i + 1) * h)));
    };
    heads.push_back(matmul(nn::softmax(matmul(part(0), transpose(part(1))) / std::sqrt(float(h))), part(2)));
  }
  const A want = matmul(concatenate(heads, {.axis = -1}), transpose(out)) + out_bias;

  auto module = nn::MultiHeadAttention<float>::make(random::key(0), {.features = e, .heads = n});
  {
    const File file(State{{"in_proj_weight", packed},
                          {"in_proj_bias", bias},
                          {"out_proj.weight", out},
                          {"out_proj.bias", out_bias}});
    io::load_torch(file.path, module);
    expect_close(module(x), want);
  }
  const auto rows = [&](const A& a, int i) { return A(a(slice(i * e, (i + 1) * e))); };
  const File file(State{{"q_proj.weight", rows(packed, 0)},
                        {"k_proj.weight", rows(packed, 1)},
                        {"v_proj.weight", rows(packed, 2)},
                        {"q_proj.bias", rows(bias, 0)},
                        {"k_proj.bias", rows(bias, 1)},
                        {"v_proj.bias", rows(bias, 2)},
                        {"o_proj.weight", out},
                        {"o_proj.bias", out_bias}});
  auto single = nn::MultiHeadAttention<float>::make(random::key(1), {.features = e, .heads = n});
  io::load_torch(file.path, single);
  expect_close(single(x), want);
}

TEST(LoadTorch, ProjectionsThatDoNotFitAreNamed) {
  const std::int64_t e = 8, n = 2;
  const auto error = [&](const State& changed) {
    State state{{"in_proj_weight", draw(1, {3 * e, e})},
                {"in_proj_bias", draw(2, {3 * e})},
                {"out_proj.weight", draw(3, {e, e})},
                {"out_proj.bias", draw(4, {e})}};
    for (const auto& [name, array] : changed) state[name] = array;
    const File file(state);
    auto module = nn::MultiHeadAttention<float>::make(random::key(0), {.features = e, .heads = n});
    return error_of([&] { io::load_torch(file.path, module); });
  };
  EXPECT_EQ(error({}), "");
  const auto is_named = [&](const std::string& name, const Shape& shape) {
    const std::string text = error({{name, draw(5, shape)}});
    EXPECT_TRUE(says(text, "model.safetensors") && says(text, name) && says(text, to_string(shape))) << text;
  };
  for (const std::int64_t rows : {e, 2 * e, 3 * e + 1, 4 * e}) {
    is_named("in_proj_weight", {rows, e});
    is_named("in_proj_bias", {rows});
  }
  is_named("in_proj_weight", {3 * e, e + 1});
  is_named("in_proj_weight", {3 * e * e});
  is_named("out_proj.weight", {e, e + 1});
  is_named("out_proj.weight", {e + 1, e});
  is_named("out_proj.bias", {e + 1});
}

TEST(LoadTorch, BiasesThatAreAddedHaveOneShape) {
  const std::int64_t d = 3, u = 4;
  for (const std::int64_t other : {std::int64_t{1}, u, 4 * u + 1}) {
    const File file(State{{"weight_ih_l0", draw(1, {4 * u, d})},
                          {"weight_hh_l0", draw(2, {4 * u, u})},
                          {"bias_ih_l0", draw(3, {4 * u})},
                          {"bias_hh_l0", draw(4, {other})}});
    auto lstm = nn::LSTM<float>::make(random::key(0), {d, u});
    const std::string text = error_of([&] { io::load_torch(file.path, lstm); });
    EXPECT_TRUE(says(text, "bias_hh_l0") && says(text, to_string(Shape{other}))) << text;
  }
}

TEST(LoadTorch, RecurrentLayers) {
  const std::int64_t d = 3, u = 4;
  const State lstm_state{{"weight_ih_l0", draw(1, {4 * u, d})},
                         {"weight_hh_l0", draw(2, {4 * u, u})},
                         {"bias_ih_l0", draw(3, {4 * u})},
                         {"bias_hh_l0", draw(4, {4 * u})}};
  const A x = draw(5, {2, d});
  {
    const File file(lstm_state);
    auto lstm = nn::LSTM<float>::make(random::key(0), {d, u});
    io::load_torch(file.path, lstm);
    A h = zeros<float>({u}), c = zeros<float>({u});
    for (int t = 0; t < 2; ++t) {
      const A g = matmul(lstm_state.at("weight_ih_l0"), A(x(t))) + lstm_state.at("bias_ih_l0") +
                  matmul(lstm_state.at("weight_hh_l0"), h) + lstm_state.at("bias_hh_l0");
      const auto gate = [&](int i) { return A(g(slice(i * u, (i + 1) * u))); };
      c = nn::sigmoid(gate(1)) * c + nn::sigmoid(gate(0)) * tanh(gate(2));
      h = nn::sigmoid(gate(3)) * tanh(c);
    }
    expect_close(A(lstm(lstm.state(), x).second(-1)), h);
  }
  const State gru_state{{"weight_ih_l0", draw(6, {3 * u, d})},
                        {"weight_hh_l0", draw(7, {3 * u, u})},
                        {"bias_ih_l0", draw(8, {3 * u})},
                        {"bias_hh_l0", draw(9, {3 * u})}};
  const File file(gru_state);
  auto gru = nn::GRU<float>::make(random::key(0), {d, u});
  io::load_torch(file.path, gru);
  const A h = draw(10, {u});
  const A i = matmul(gru_state.at("weight_ih_l0"), A(x(0))) + gru_state.at("bias_ih_l0"),
          r = matmul(gru_state.at("weight_hh_l0"), h) + gru_state.at("bias_hh_l0");
  const auto part = [&](const A& a, int k) { return A(a(slice(k * u, (k + 1) * u))); };
  const A reset = nn::sigmoid(part(i, 0) + part(r, 0)), z = nn::sigmoid(part(i, 1) + part(r, 1)),
          candidate = tanh(part(i, 2) + reset * part(r, 2));
  expect_close(gru(h, A(x(slice(0, 1)))).first, A((1.f - z) * candidate + z * h));
}

struct Images {
  nn::BatchNorm<float> bn1;
};
struct ImageStats {
  nn::BatchStats<float> bn1;
};
TEST(LoadTorch, BatchNormAndItsStatistics) {
  const File file(State{{"bn1.weight", draw(1, {3})},
                        {"bn1.bias", draw(2, {3})},
                        {"bn1.running_mean", draw(3, {3})},
                        {"bn1.running_var", draw(4, {3})},
                        {"bn1.num_batches_tracked", A(7)}});
  Images net{nn::BatchNorm<float>::make(3)};
  ImageStats stats{net.bn1.stats()};
  EXPECT_TRUE(says(error_of([&] { io::load_torch(file.path, net); }), "running_mean"));
  EXPECT_EQ(io::load_torch(file.path, net, {.strict = false}).left.size(), 2u);
  EXPECT_EQ(io::load_torch(file.path, stats, {.strict = false}).matched.size(), 2u);
  expect_close(stats.bn1.var, draw(4, {3}));
}

// GPT-2 of transformers stores weights as (in, out).
struct Conv1D {
  nn::Linear<float> c_attn, c_proj;
};
TEST(LoadTorch, LayoutsOfSquareWeights) {
  const State state{{"c_attn.weight", draw(1, {4, 12})},
                    {"c_attn.bias", draw(2, {12})},
                    {"c_proj.weight", draw(3, {4, 4})},
                    {"c_proj.bias", draw(4, {4})}};
  const File file(state);
  Conv1D net{nn::Linear<float>::make(random::key(0), {4, 12}),
             nn::Linear<float>::make(random::key(1), {4, 4})};
  const A before = copy(net.c_proj.w);
  const std::string error = error_of([&] { io::load_torch(file.path, net); });
  EXPECT_TRUE(says(error, "c_proj.weight") && says(error, ".layout")) << error;
  expect_close(net.c_proj.w, before);
  io::load_torch(file.path, net, {.layout = {{"c_proj", io::in_out}}});
  expect_close(net.c_proj.w, state.at("c_proj.weight"));
  expect_close(net.c_attn.w, state.at("c_attn.weight"));
  io::load_torch(file.path, net, {.layout = {{"c_proj", io::out_in}}});
  expect_close(net.c_proj.w, transpose(state.at("c_proj.weight")));
}

TEST(LoadTorch, SeveralFilesByTheirIndex) {
  State first, second;
  for (const auto& [name, array] : mlp_state()) (name < "layers.1" ? first : second)[name] = array;
  const File one(first, "a.safetensors"), two(second, "b.safetensors");
  const std::string index = File::folder() + "model.safetensors.index.json";
  const auto name_of = [](const File& file) { return std::filesystem::path(file.path).filename().string(); };
  const auto write = [&](const std::string& more) {
    std::ofstream out(index);
    out << R"({"metadata": {"total_size": 12, "x": [1, {"y": "}"}]}, "weight_map": {)" << more;
    const char* comma = more.empty() ? "" : ", ";
    for (const auto& [state, file] : {std::pair(&first, &one), std::pair(&second, &two)})
      for (const auto& [name, array] : *state)
        out << comma << '"' << name << "\": \"" << name_of(*file) << '"', comma = ", ";
    out << "}}";
  };
  write("");
  Mlp net = mlp();
  EXPECT_EQ(io::load_torch(index, net).matched.size(), 6u);
  expect_close(net.norm.scale, mlp_state().at("norm.weight"));
  write("\"gone\": \"" + name_of(one) + "\"");
  EXPECT_TRUE(says(error_of([&] { io::load_torch(index, net); }), "gone"));
  write("\"gone\": \"../a.safetensors\"");
  EXPECT_TRUE(says(error_of([&] { io::load_torch(index, net); }), "beside"));
  std::ofstream(index) << "{\"weight_map\": {\"a\": ";
  EXPECT_FALSE(error_of([&] { io::load_torch(index, net); }).empty());
  std::filesystem::remove(index);
}

TEST(LoadTorch, RefusesWhatDoesNotFit) {
  State state = mlp_state();
  state["layers.1.weight"] = draw(3, {3, 5});
  Mlp net = mlp();
  const A before = copy(net.layers[0].w);
  {
    const File file(state);
    const std::string error = error_of([&] { io::load_torch(file.path, net); });
    EXPECT_TRUE(says(error, "layers.1.weight") && says(error, "(5, 3)") && says(error, "(5, 2)")) << error;
    expect_close(net.layers[0].w, before);
  }
  state = mlp_state();
  state.erase("norm.bias");
  state["head.weight"] = draw(3, {3, 5});
  const File file(state);
  const std::string error = error_of([&] { io::load_torch(file.path, net); });
  EXPECT_TRUE(says(error, "norm.bias") && says(error, "head.weight")) << error;
  const auto report = io::load_torch(file.path, net, {.strict = false});
  EXPECT_EQ(report.missing, std::vector<std::string>{"norm.bias"});
  EXPECT_EQ(report.left, std::vector<std::string>{"head.weight"});
  nn::RMSNorm<float> other = nn::RMSNorm<float>::make({2});
  EXPECT_FALSE(error_of([&] { io::load_torch(file.path, other, {.strict = false}); }).empty());
}

struct WithHead {
  Mlp body = mlp();
  nn::Linear<float> head = nn::Linear<float>::make(random::key(9), {.in = 3, .out = 2});
};
TEST(LoadTorch, ModulesThatTheFileLacksAreNamed) {
  const File file(mlp_state());
  WithHead net;
  const A before = net.head.w;
  const auto named = io::TorchNames::matching({{"^", "body."}});
  EXPECT_TRUE(says(error_of([&] { io::load_torch(file.path, net, {.strict = false, .rename = named}); }),
                   "has nothing of head, which is not among .without"));
  const auto report = io::load_torch(file.path, net, {.strict = false, .without = {"head"}, .rename = named});
  EXPECT_EQ(report.missing, (std::vector<std::string>{"head.w", "head.b"}));
  EXPECT_TRUE(array_equal(net.head.w, before));
  expect_close(net.body.layers[0].w, transpose(mlp_state().at("layers.0.weight")));
}
// A struct of arrays is a module as well.
struct Angles {
  A cosines = ones<float>({3}), sines = zeros<float>({3});
};
struct WithAngles {
  Mlp body = mlp();
  std::vector<Angles> angles = std::vector<Angles>(2);
};
TEST(LoadTorch, StructsThatTheFileLacksAreNamed) {
  State state = mlp_state();
  state["angles.0.sines"] = draw(3, {3});
  const File file(state);
  WithAngles net;
  const auto named = io::TorchNames::matching({{"^(?!angles)", "body."}});
  const auto error = [&](const std::vector<std::string>& without) {
    return error_of(
        [&] { io::load_torch(file.path, net, {.strict = false, .without = without, .rename = named}); });
  };
  EXPECT_TRUE(says(error({}), "has nothing of angles.1, which is not among .without"));
  EXPECT_TRUE(says(error({"angles.1.sines"}), "has nothing of angles.1, which is not among .without"));
  EXPECT_EQ(error({"angles.1.sines", "angles.1.cosines"}), "");
  EXPECT_EQ(error({"angles"}), "");
  expect_close(net.angles[0].sines, state["angles.0.sines"]);
}
TEST(LoadTorch, RegularExpressionsRename) {
  const auto names =
      io::TorchNames::matching({{R"(^encoder\.block(\d+)\.)", "layers.$1."}, {"gamma$", "weight"}});
  EXPECT_EQ(names("encoder.block12.norm.gamma"), "layers.12.norm.weight");
  EXPECT_EQ(names("decoder.block1.gammas"), "decoder.block1.gammas");
  EXPECT_TRUE(says(text_of<ValueError>([&] {
                     io::TorchNames::matching({{"(", ""}});
                   }),
                   "load_torch: .rename: no regular expression: (: "));
  EXPECT_TRUE(says(error_of([&] { names(std::string(100000, 'a')); }),
                   "load_torch: .rename: a name of 100000 bytes, more than 4096: aaa"));
  EXPECT_EQ(io::TorchNames::matching({{"^(a|b)*c", "d"}})(std::string(4095, 'b') + 'c'), "d");
}

TEST(LoadTorch, CastsHalves) {
  std::map<std::string, Array<half>> state;
  for (const auto& [name, array] : mlp_state()) state[name] = array.astype<half>();
  const std::string path = File::folder() + "half.safetensors";
  io::save_safetensors(path, state, {.dotted = true});
  Mlp net = mlp();
  io::load_torch(path, net);
  EXPECT_LT(max(abs(net.layers[0].w - transpose(mlp_state().at("layers.0.weight")))).item(), 2e-3f);
  EXPECT_THROW(io::load_torch(path, net, {.cast = false}), IoError);
  std::filesystem::remove(path);
}

}  // namespace torch_test
