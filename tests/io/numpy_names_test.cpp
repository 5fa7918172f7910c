#include "files.hpp"
#include "nax/io/numpy_files.hpp"
#include "nax/io/text_tables.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "support/refusal.hpp"

// File functions under NumPy's names.
namespace numpy_names_test {

using files::expect_refused;
using files::path_of;
using nax::Array;
using nax::Shape;

nax::io::Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }
std::string text_of_file(const std::string& path) {
  const auto bytes = files::read(path);
  return {bytes.begin(), bytes.end()};
}

TEST(NumpyFiles, OneArray) {
  const Array<float> x = {{1, 2}, {3, 4}};
  nax::save(path_of("one"), x.T());  // gets its ending
  EXPECT_EQ(nax::load<float>(path_of("one.npy")).to_vector(), std::vector<float>({1, 3, 2, 4}));
  nax::save(path_of("two.npy"), x * 2);
  EXPECT_EQ(nax::load(path_of("two.npy")).shape(), Shape({2, 2}));
  nax::save(path_of("number.npy"), 2.5);
  EXPECT_EQ(nax::load<double>(path_of("number.npy")).item(), 2.5);
  EXPECT_EQ(nax::load<bool>(files::golden("bools.npy")).dtype(), nax::DType::boolean);
  expect_refused([] { nax::load<double>(path_of("two.npy")); }, "has dtype '<f4'");
  expect_refused([] { nax::load(path_of("nowhere.npy")); }, "cannot be opened");
  expect_refused([] { nax::load<bool>(files::golden("deflated.npz")); }, "is not an array of NumPy");
}

TEST(NumpyFiles, Archives) {
  const Array<float> x = {1, 2};
  const Array<int> y = {{3}};
  nax::savez(path_of("a"), x, y, x + 1);
  nax::NpzFile a(path_of("a.npz"));
  EXPECT_EQ(a.files(), std::vector<std::string>({"arr_0", "arr_1", "arr_2"}));
  EXPECT_EQ(a.get<int>("arr_1").shape(), Shape({1, 1}));
  EXPECT_EQ(a.get("arr_2").to_vector(), std::vector<float>({2, 3}));
  nax::savez(path_of("b.npz"), {{"weights", x}, {"steps", 7}});
  nax::NpzFile b(path_of("b.npz"));
  EXPECT_EQ(b.get("weights").to_vector(), x.to_vector());
  EXPECT_EQ(b.get<int>("steps").item(), 7);
  expect_refused([&] { b.get("bias"); }, "has no array named bias");
  expect_refused([&] { b.get<double>("weights"); }, "has dtype '<f4'");
  EXPECT_FALSE(nax::NpzFile(files::golden("deflated.npz")).files().empty());
}

TEST(NumpyFiles, Compressed) {
  const Array<float> zeros = nax::zeros({100, 1000});
  std::vector<std::uint8_t> noise(70000), far(70000);
  std::uint32_t state = 1;
  for (std::uint8_t& byte : noise)
    byte = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  for (std::size_t i = 0; i < far.size(); ++i)
    far[i] = noise[i % 32767];  // the farthest place that counts, nearly
  const auto text = nax::arange<int>(5000) % 7;
  nax::savez_compressed(path_of("c"), {{"zeros", zeros},
                                       {"noise", nax::array(noise)},
                                       {"far", nax::array(far)},
                                       {"text", text},
                                       {"none", nax::zeros({0})}});
  nax::NpzFile c(path_of("c.npz"));
  EXPECT_EQ(c.get("zeros").to_vector(), zeros.to_vector());
  EXPECT_EQ(c.get<std::uint8_t>("noise").to_vector(), noise);
  EXPECT_EQ(c.get<std::uint8_t>("far").to_vector(), far);
  EXPECT_EQ(c.get<int>("text").to_vector(), Array<int>(text).to_vector());
  EXPECT_EQ(c.get("none").shape(), Shape({0}));
  nax::savez_compressed(path_of("zeros"), zeros);
  EXPECT_LT(files::read(path_of("zeros.npz")).size(), 5000U);
}

TEST(NumpyFiles, PlainBytes) {
  nax::tofile(Array<std::int16_t>{1, 2, 3}, path_of("raw"));
  EXPECT_EQ(nax::fromfile<std::int16_t>(path_of("raw")).to_vector(), std::vector<std::int16_t>({1, 2, 3}));
  EXPECT_EQ(nax::fromfile<std::int16_t>(path_of("raw"), {.count = 1, .offset = 2}).item(), 2);
  EXPECT_EQ(nax::fromfile<std::int32_t>(path_of("raw")).size(), 1);  // as many as there are
  files::write(path_of("text"), bytes_of("1, 2\n3"));
  EXPECT_EQ(nax::fromfile<std::uint8_t>(path_of("text"), {.count = 1}).item(), '1');
  files::write(path_of("numbers"), bytes_of("1 2.5\n3"));
  EXPECT_EQ(nax::fromfile(path_of("numbers"), {.sep = " "}).to_vector(), std::vector<float>({1, 2.5, 3}));
  EXPECT_EQ(refusal([] { nax::fromfile(path_of("raw"), {.offset = 7}); }),
            "fromfile: offset must be non-negative and no greater than buffer length (6)");
  EXPECT_THROW(nax::fromfile(path_of("numbers"), {.sep = " ", .offset = 1}), nax::TypeError);
}

// An archive of which nothing is known: texts, objects, records, other dtypes, and what is no array.
TEST(NumpyFiles, ArchivesOfUnknownNames) {
  const std::string path = path_of("unknown.npz");
  const Array<float> w = {1, 2}, b = {3};
  const Array<std::int64_t> ids = {7};
  {
    nax::io::detail::ZipWriter zip("test", path);
    const auto add = [&](const std::string& name, const std::string& header, const auto& data,
                         std::size_t size) { zip.add(name, header, data, size); };
    using nax::io::detail::npy_header;
    add("w.npy", npy_header(nax::DType::float32, Shape{2}), nax::detail::raw_data(w), 8u);
    add("b.npy", npy_header(nax::DType::float32, Shape{1}), nax::detail::raw_data(b), 4u);
    add("ids.npy", npy_header(nax::DType::int64, Shape{1}), nax::detail::raw_data(ids), 8u);
    add("names.npy", npy_header("|S3", Shape{1}), "abc", 3u);
    add("object.npy", npy_header("|O", Shape{}), "pickled", 7u);
    std::string records = npy_header("XX", Shape{1});
    const std::string descr = "[('a]', '<f4', (1,))]";
    records.replace(records.find("'XX'"), 4, descr);
    records.erase(records.size() - 1 - (descr.size() - 4), descr.size() - 4);  // of the padding
    add("records.npy", records, "1234", 4u);
    add("readme.txt", "", "text", 4u);
    zip.commit();
  }
  nax::NpzFile file(path);
  EXPECT_EQ(file.dtype("w"), "float32");
  EXPECT_EQ(file.dtype("ids"), "int64");
  EXPECT_EQ(file.dtype("names"), "|S3");
  EXPECT_EQ(file.dtype("object"), "|O");
  EXPECT_EQ(file.dtype("readme.txt"), "");
  EXPECT_EQ(file.get<std::int64_t>("ids").item(), 7);
  expect_refused([&] { file.get<float>("records"); }, "has a structured dtype, which nax does not hold");
  const auto floats = nax::io::load_npz<float>(path, {.skip = true});
  ASSERT_EQ(floats.size(), 2u);
  EXPECT_EQ(floats.at("w").to_vector(), (std::vector<float>{1, 2}));
  EXPECT_EQ(floats.at("b").to_vector(), (std::vector<float>{3}));
  EXPECT_EQ(nax::io::load_npz<std::int64_t>(path, {.skip = true}).size(), 1u);
  EXPECT_EQ(nax::io::load_npz<double>(path, {.skip = true}).size(), 0u);
  const auto one = nax::io::load_npz<float>(
      path, {.filter = [](const std::string& name, const std::string&) { return name == "w"; }});
  EXPECT_EQ(one.size(), 1u);
  expect_refused([&] { nax::io::load_npz<float>(path); }, "has dtype '<i8', the tree float32");
  // Damage is no dtype of another kind.
  auto bytes = files::read(path);
  const std::string bad = path_of("bad.npz");
  for (std::size_t i = 0; i + 8 <= bytes.size(); ++i)
    if (std::memcmp(bytes.data() + i, nax::detail::raw_data(w), 8) == 0) bytes[i] ^= 1;
  files::write(bad, bytes);
  expect_refused([&] { nax::io::load_npz<float>(bad, {.skip = true}); }, "its CRC is wrong");
  nax::savez(path, {{"x", w}, {"y", b}});
  EXPECT_EQ(nax::io::load_npz(path).size(), 2u);
}

TEST(NumpyFiles, Tables) {
  const std::string path = path_of("table.txt");
  files::write(path, bytes_of("# a table\n1 2  3\n\n 4 5 6 # end\n"));
  EXPECT_EQ(nax::loadtxt(path).shape(), Shape({2, 3}));
  EXPECT_EQ(nax::loadtxt<int>(path, {.usecols = {0, -1}}).to_vector(), std::vector<int>({1, 3, 4, 6}));
  EXPECT_EQ(nax::loadtxt<int>(path, {.unpack = true})(0).to_vector(), std::vector<int>({1, 4}));
  EXPECT_EQ(nax::loadtxt(path, {.max_rows = 1}).shape(), Shape({3}));
  EXPECT_EQ(nax::loadtxt(path, {.ndmin = 2, .max_rows = 1}).shape(), Shape({1, 3}));
  EXPECT_EQ(nax::loadtxt(path, {.skiprows = 2}).shape(), Shape({3}));
  files::write(path, bytes_of("1,2\n3,\n"));
  expect_refused([&] { nax::loadtxt(path, {.delimiter = ","}); },
                 "has '' where a number should be, row 2, column 2");
  EXPECT_EQ(nax::genfromtxt<int>(path, {.delimiter = ","}).to_vector(), std::vector<int>({1, 2, 3, -1}));
  EXPECT_TRUE(std::isnan(nax::genfromtxt(path, {.delimiter = ","})(1, 1).item()));
  EXPECT_EQ(nax::genfromtxt(path, {.delimiter = ",", .filling_values = 9})(1, 1).item(), 9);
  files::write(path, bytes_of("1 2\n3\n"));
  expect_refused([&] { nax::loadtxt(path); }, "changes its number of columns from 2 to 1 in row 2");
  expect_refused([&] { nax::loadtxt(path, {.usecols = {1}}); }, "has no column 1 in row 2");
}

TEST(NumpyFiles, SavedTables) {
  const std::string path = path_of("saved.txt");
  nax::savetxt(path, Array<int>{{1, 2}, {3, 4}}, {.fmt = "%d", .delimiter = ",", .header = "x,y"});
  EXPECT_EQ(text_of_file(path), "# x,y\n1,2\n3,4\n");
  nax::savetxt(path, Array<double>{1, 0.1});
  EXPECT_EQ(text_of_file(path), "1.000000000000000000e+00\n1.000000000000000056e-01\n");
  EXPECT_EQ(nax::loadtxt<double>(path).to_vector(), std::vector<double>({1, 0.1}));
  EXPECT_EQ(refusal([&] { nax::savetxt(path, Array<int>{1}, {.fmt = "%s"}); }),
            "savetxt: fmt must have one % format of a number, got '%s'");
  EXPECT_EQ(refusal([&] { nax::savetxt(path, Array<int>{1}, {.fmt = "%d%d"}); }),
            "savetxt: fmt must have one % format of a number, got '%d%d'");
  EXPECT_EQ(refusal([&] {
              nax::savetxt(path, nax::ones({1, 1, 1}));
            }),
            "savetxt: expected 1D or 2D array, shape (1, 1, 1)");
}

}  // namespace numpy_names_test
