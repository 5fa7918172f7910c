#include "nax/io/safetensors.hpp"

#include <map>
#include <tuple>

#include "files.hpp"
#include "nax/io/save.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/views/transpose.hpp"
#include "nax/random/key.hpp"

// The goldens are files of Hugging Face's own library.
namespace safetensors_test {
using namespace nax;
using files::expect_refused;

struct Layer {
  Array<float> w, b;
};
struct Model {
  std::vector<Layer> layers;
  std::map<std::string, Array<double>> extra;
  int steps = 0;
};
Model model() { return {{{{{1, 2}, {3, 4}}, {5, 6}}, {{{7}}, {8}}}, {{"a b", {0.5, 0.25}}}, 7}; }

// Fields in an order that is not the file's.
struct Types {
  Array<bool> mask;
  Array<std::int8_t> i8;
  Array<std::uint8_t> u8;
  Array<std::int16_t> i16;
  Array<std::uint16_t> u16;
  Array<std::int32_t> i32;
  Array<std::uint32_t> u32;
  Array<std::int64_t> i64;
  Array<std::uint64_t> u64;
  Array<half> f16;
  Array<bfloat16> bf16;
  Array<float> f32, empty;
  Array<double> f64;
  double number = 0;
  Array<std::complex<float>> c64;
};

TEST(Safetensors, ReadsEveryDtypeAndWritesEqualBytes) {
  for (const bool map : {true, false}) {
    Types t;
    const io::LoadReport report = io::load_safetensors(files::golden("types.safetensors"), t, {.map = map});
    EXPECT_EQ(report.matched.size(), 16u);
    EXPECT_EQ(report.matched[0], "mask");
    EXPECT_EQ(t.mask.to_vector(), (std::vector<bool>{true, false, true}));
    EXPECT_EQ(t.i8.shape(), (Shape{2, 3}));
    EXPECT_EQ(t.i8.to_vector(), (std::vector<std::int8_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(t.u16.to_vector(), (std::vector<std::uint16_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(t.i64.to_vector(), (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(t.u64.to_vector(), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(t.f64.to_vector(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(float(t.f16.to_vector()[5]), 6);
    EXPECT_EQ(float(t.bf16.to_vector()[1]), -2.5f);
    EXPECT_EQ(t.c64.to_vector()[0], (std::complex<float>(1, 2)));
    EXPECT_EQ(t.empty.shape(), (Shape{0, 3}));
    EXPECT_EQ(t.number, 2.5);
    const std::string path = files::path_of("types.safetensors");
    io::save_safetensors(path, t);
    EXPECT_EQ(files::read(path), files::read(files::golden("types.safetensors")));
  }
}

TEST(Safetensors, LoadsWhatItSaved) {
  const std::string path = files::path_of("model.safetensors");
  for (const bool dotted : {false, true}) {
    io::save_safetensors(path, model(), {.metadata = {{"by", "n\"a\x01x"}, {"é", ""}}, .dotted = dotted});
    Model m;
    m.layers.resize(2);
    m.extra = {{"a b", {}}};
    const io::LoadReport report = io::load_safetensors(path, m);
    EXPECT_EQ(report.matched, (std::vector<std::string>{"layers[0].w", "layers[0].b", "layers[1].w",
                                                        "layers[1].b", "extra['a b']", "steps"}));
    EXPECT_EQ(m.layers[0].w.to_vector(), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(m.layers[1].b.to_vector(), (std::vector<float>{8}));
    EXPECT_EQ(m.extra["a b"].to_vector(), (std::vector<double>{0.5, 0.25}));
    EXPECT_EQ(m.steps, 7);
    io::SafetensorsFile file(path);
    EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"by", "n\"a\x01x"}, {"é", ""}}));
    EXPECT_EQ(file.names()[0], dotted ? "extra.a b" : "extra['a b']");
  }
  // A view, a key, and arrays that outlive the file's name.
  const std::tuple t{Array<float>{{1, 2}, {3, 4}}.T(), random::key(-3), Array<float>(3)};
  io::save_safetensors(path, t);
  std::remove_const_t<decltype(t)> back;
  io::load_safetensors(path, back);
  io::save_safetensors(path, model());
  EXPECT_EQ(std::get<0>(back).to_vector(), (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(std::get<1>(back).words().item(), static_cast<std::uint64_t>(-3));
  EXPECT_EQ(std::get<2>(back).item(), 3);
}

TEST(Safetensors, AMappedArrayIsAValue) {
  const std::string path = files::path_of("value.safetensors");
  io::save_safetensors(path, Array<float>{1, 2, 3});
  Array<float> a, b;
  io::load_safetensors(path, a);
  io::load_safetensors(path, b, {.map = false});
  a = a + 1.f;
  b = b * 2.f;
  Array<float> again;
  io::load_safetensors(path, again);
  EXPECT_EQ(a.to_vector(), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(b.to_vector(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(again.to_vector(), (std::vector<float>{1, 2, 3}));
}

struct Head {
  Array<float> w;
  Array<std::int64_t> b;
};
struct Net {
  std::vector<Layer> layers{{}, {}};
  Head head;
};

TEST(Safetensors, FindsNamesOfOtherLibrariesAndReportsTheRest) {
  const std::string path = files::golden("state.safetensors");
  Net net;
  const io::LoadReport report =
      io::load_safetensors(path, net, {.strict = false, .rename = {{"fc.", "head."}}, .cast = true});
  EXPECT_EQ(report.matched.size(), 6u);
  EXPECT_TRUE(report.missing.empty());
  EXPECT_EQ(report.left, (std::vector<std::string>{"q\"\\\né", "scale"}));
  EXPECT_EQ(net.layers[1].w.to_vector(), (std::vector<float>{10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(net.head.w.to_vector(), (std::vector<float>{0.5, -1, 3, 4}));
  EXPECT_EQ(net.head.b.to_vector(), (std::vector<std::int64_t>{7, 8}));

  Net same;
  const io::LoadReport partial = io::load_safetensors(path, same, {.strict = false});
  EXPECT_EQ(partial.missing, (std::vector<std::string>{"head.w", "head.b"}));
  EXPECT_EQ(partial.left, (std::vector<std::string>{"fc.b", "fc.w", "q\"\\\né", "scale"}));
  EXPECT_EQ(same.head.w.size(), 0);

  Net other;
  expect_refused(
      [&] { io::load_safetensors(path, other); },
      "has no array named head.w, head.b; it has fc.b, fc.w, q\"\\?é, scale, which the tree has not");
  EXPECT_EQ(other.layers[0].w.size(), 0);
  expect_refused(
      [&] {
        io::load_safetensors(path, other, {.strict = false, .rename = {{"fc.", "head."}}});
      },
      "(fc.w) has dtype bfloat16, the tree float32");
  other.layers[0].w = Array<float>{1, 2};
  expect_refused([&] { io::load_safetensors(path, other, {.strict = false}); },
                 "(layers.0.w) has shape (3, 2), the tree (2,)");
  EXPECT_EQ(other.layers[0].b.size(), 0);
  expect_refused(
      [&] {
        io::load_safetensors(path, other, {.rename = {{"fc.w", "layers.0.w"}}});
      },
      "is renamed to layers.0.w, as is fc.w");
}

TEST(Safetensors, ReadsFilesOfUnknownNames) {
  io::SafetensorsFile file(files::golden("state.safetensors"));
  EXPECT_EQ(file.names().size(), 8u);
  EXPECT_EQ(file.dtype("fc.w"), "BF16");
  EXPECT_EQ(file.dtype("scale"), "F8_E4M3");
  EXPECT_EQ(file.shape("fc.w"), (Shape{2, 2}));
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(float(file.get<bfloat16>("fc.w").to_vector()[2]), 3);
  EXPECT_EQ(file.get<std::uint8_t>("q\"\\\né").item(), 1);
  expect_refused([&] { file.get<float>("scale"); }, "(scale) has dtype F8_E4M3, which nax does not hold");
  expect_refused([&] { file.get<float>("nothing"); }, "has no array named nothing");
  expect_refused([&] { file.get<float>("fc.b"); }, "(fc.b) has dtype int64, the tree float32");
  const std::string path = files::path_of("map.safetensors");
  io::save_safetensors(path, std::map<std::string, Array<float>>{{"x.y", {1, 2}}, {"it's]", {{3}}}},
                       {.dotted = true});
  const auto all = io::read_safetensors(path);
  EXPECT_EQ(all.at("x.y").to_vector(), (std::vector<float>{1, 2}));
  EXPECT_EQ(all.at("it's]").shape(), (Shape{1, 1}));
  EXPECT_EQ(io::read_safetensors<double>(path, {.cast = true}).at("x.y").to_vector()[1], 2);
  expect_refused([&] { io::read_safetensors<int>(path, {.cast = true}); },
                 "has dtype float32, the tree int32");
}

TEST(Safetensors, CastsBetweenAllWidthsOfFloats) {
  const std::string path = files::path_of("floats.safetensors");
  const auto check = [&]<class From>(From) {
    io::save_safetensors(path, Array<From>{From(1.5f), From(-2.25f)});
    const auto reads = [&]<class To>(To) {
      const Array<To> a = io::read_safetensors<To>(path, {.cast = true}).at("arr_0");
      EXPECT_EQ(static_cast<float>(a.to_vector()[0]), 1.5f);
      EXPECT_EQ(static_cast<float>(a.to_vector()[1]), -2.25f);
    };
    reads(half()), reads(bfloat16()), reads(float()), reads(double());
  };
  check(half()), check(bfloat16()), check(float()), check(double());
}

TEST(Safetensors, SavingRefusesTypesWithoutAForm) {
  const std::string path = files::path_of("refused.safetensors");
  EXPECT_NE(text_of<TypeError>([&] {
              io::save_safetensors(path, std::tuple{Array<std::complex<double>>{1}});
            }).find("([0]) is complex128, which safetensors files cannot hold"),
            std::string::npos);
  const std::map<std::string, std::map<std::string, Array<float>>> two{{"a", {{"b']['c", {1}}}}};
  io::save_safetensors(path, two);
  using Map = std::map<std::string, Array<float>>;
  EXPECT_NE(text_of<ValueError>([&] {
              io::save_safetensors(path, Map{{"\xff", {1}}});
            }).find("no UTF-8"),
            std::string::npos);
  EXPECT_NE(text_of<ValueError>([&] {
              io::save_safetensors(path, std::pair{Map{{"x", {1}}}, Map{{"", {1}}}}, {.dotted = true});
              io::save_safetensors(path, Map{{"__metadata__", {1}}}, {.dotted = true});
            }).find("the name __metadata__ is reserved"),
            std::string::npos);
  struct Clash {
    Map a;
    Array<float> b;
  };
  std::map<std::string, Map> nested{{"a", {{"b.c", {1}}}}, {"a.b", {{"c", {2}}}}};
  EXPECT_NE(text_of<ValueError>([&] {
              io::save_safetensors(path, nested, {.dotted = true});
            }).find("a.b.c is reserved or occurs twice"),
            std::string::npos);
}

// A file of this header and this many bytes of elements.
void write(const std::string& path, const std::string& header, std::size_t elements) {
  files::Bytes bytes(8);
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(header.size() >> 8 * i);
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.resize(bytes.size() + elements, 1);
  files::write(path, bytes);
}

TEST(Safetensors, ChecksHeaders) {
  const std::string path = files::path_of("hostile.safetensors");
  const auto refused = [&](const std::string& header, std::size_t elements, const std::string& part) {
    write(path, header, elements);
    expect_refused([&] { io::SafetensorsFile file(path); }, part);
  };
  const std::string x = R"("x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  write(path, "{" + x + "}", 2);
  EXPECT_EQ(io::read_safetensors<std::uint8_t>(path).at("x").to_vector(), (std::vector<std::uint8_t>{1, 1}));
  write(path, " {}", 0);
  expect_refused([&] { io::SafetensorsFile file(path); }, "no JSON object");
  refused("", 0, "no JSON object");
  refused("{" + x + "}", 3, "is too long: 3 bytes of elements instead of 2");
  refused("{" + x + "}", 1, "is truncated: 1 bytes of elements instead of 2");
  refused("{" + x + "," + x + "}", 2, "has 'x' twice");
  refused("{" + x + ",}", 2, "damaged at its character");
  refused("{" + x + "} x", 2, "damaged at its character");
  refused("{" + x, 2, "damaged at its character");
  refused("{" + x + "}" + std::string(1, '\0'), 2, "damaged at its character");
  const auto second = [&](const std::string& rest) {
    return "{" + x + R"(,"y":{"dtype":"U8",)" + rest + "}}";
  };
  refused(second(R"("shape":[2],"data_offsets":[1,3])"), 3, "overlap at byte 1");
  refused(second(R"("shape":[2],"data_offsets":[0,2])"), 2, "overlap at byte 0");
  refused(second(R"("shape":[2],"data_offsets":[3,5])"), 5, "leave a hole at byte 3");
  refused(second(R"("shape":[2],"data_offsets":[4,2])"), 4, "ends before it begins");
  refused(second(R"("shape":[3],"data_offsets":[2,4])"), 4, "(y) has 2 bytes, but U8 of shape (3,) takes 3");
  refused(second(R"("shape":[2],"data_offsets":[2,99999999999999999999])"), 4, "impossible number");
  refused(second(R"("shape":[36028797018963968,36028797018963968],"data_offsets":[2,2])"), 2,
          "impossible shape");
  refused(second(R"("shape":[0,36028797018963968,512],"data_offsets":[2,2])"), 2, "impossible shape");
  refused(second(R"("shape":[-1],"data_offsets":[2,3])"), 3, "damaged");
  refused(second(R"("shape":[1.0],"data_offsets":[2,3])"), 3, "damaged");
  refused(second(R"("shape":[01],"data_offsets":[2,3])"), 3, "damaged");
  refused(second(R"("shape":[1],"data_offsets":[2])"), 3, "(y) has other than two data_offsets");
  refused(second(R"("shape":[1],"data_offsets":[2,3],"shape":[1])"), 3, "(y) has an entry 'shape'");
  refused(second(R"("shape":[1],"data_offsets":[2,3],"deep":[[[[)"), 3, "(y) has an entry 'deep'");
  refused(second(R"("shape":[1])"), 3, "(y) has no dtype, shape or data_offsets");
  refused(R"({"x":)" + std::string(100000, '['), 0, "damaged");
  refused(R"({"x":)" + std::string(100000, '{'), 0, "damaged");
  refused("{\"\xff\":1}", 0, "no UTF-8");
  refused("{\"\xed\xa0\x80\":1}", 0, "no UTF-8");
  refused(R"({"\ud800":1})", 0, "damaged");
  refused("{\"a\nb\":1}", 0, "damaged");
  refused(R"({"__metadata__":{"a":1}})", 0, "damaged");
  refused(R"({"__metadata__":{"a":"1","a":"2"}})", 0, "has 'a' twice");
  files::write(path, {0, 0, 0, 0, 0, 0, 0});
  expect_refused([&] { io::SafetensorsFile file(path); }, "shorter than the length of its header");
  files::write(path, {255, 255, 255, 255, 255, 255, 255, 127});
  expect_refused([&] { io::SafetensorsFile file(path); }, "its header is too long");
  files::write(path, {200, 0, 0, 0, 0, 0, 0, 0, '{', '}'});
  expect_refused([&] { io::SafetensorsFile file(path); }, "is truncated in its header");
  // Misaligned elements are copied; bools become 0 or 1 from any bytes.
  write(path,
        R"({"m":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},)"
        R"("\ud83d\ude00\u00e9\u20ac":{"shape":[1],"dtype":"I32","data_offsets":[1,5]}})",
        5);
  io::SafetensorsFile odd(path);
  EXPECT_EQ(odd.get<int>("😀é€").item(), 0x01010101);
  files::Bytes bytes = files::read(path);
  bytes[bytes.size() - 5] = 0x80;
  files::write(path, bytes);
  const Array<bool> mask = io::SafetensorsFile(path).get<bool>("m");
  EXPECT_EQ(static_cast<int>(*reinterpret_cast<const unsigned char*>(nax::detail::raw_data(mask))), 1);
}

struct Bert {
  Array<float> weight{1, 2};
  Array<half> small{0.5f};
  Array<std::int64_t> position_ids{0, 1};
};

TEST(Safetensors, ReadsWhatTheTypeHolds) {
  const std::string path = files::path_of("bert.safetensors");
  io::save_safetensors(path, Bert{});
  const auto names = [](const auto& arrays) {
    std::string all;
    for (const auto& [name, array] : arrays) all += name + " ";
    return all;
  };
  EXPECT_EQ(names(io::read_safetensors<float>(path, {.skip = true})), "weight ");
  EXPECT_EQ(names(io::read_safetensors<float>(path, {.cast = true, .skip = true})), "small weight ");
  EXPECT_EQ(names(io::read_safetensors<std::int64_t>(path, {.skip = true})), "position_ids ");
  EXPECT_EQ(
      names(io::read_safetensors<float>(
          path, {.cast = true,
                 .filter = [](const std::string&, const std::string& dtype) { return dtype != "I64"; }})),
      "small weight ");
  EXPECT_EQ(
      names(io::read_safetensors<half>(
          path, {.filter = [](const std::string& name, const std::string&) { return name == "small"; }})),
      "small ");
  files::expect_refused([&] { io::read_safetensors<float>(path, {.cast = true}); }, "has dtype int64");
  const io::SafetensorsFile file(path);
  EXPECT_TRUE(file.holds<half>("small"));
  EXPECT_FALSE(file.holds<float>("small"));
}

}  // namespace safetensors_test
