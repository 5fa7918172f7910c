// Packed files: gzip and zlib, recognised by their first bytes or by option.
#include <gtest/gtest.h>

#include <fstream>

#include "data/elements.hpp"
#include "data/files.hpp"
#include "nax/io/gzip.hpp"
#include "nax/io/text_tables.hpp"
#include "nax/numpy/conversion/array_methods.hpp"

namespace packed_test {
using namespace nax;
using io::Bytes;
using io::Compression;
using nax::testing::all_of;
using nax::testing::bytes_of;
using nax::testing::expect_error;
using nax::testing::file;
using nax::testing::golden;
using nax::testing::rest_of;

Bytes as_bytes(const std::string& text) { return Bytes(text.begin(), text.end()); }
// By zlib, as gzip's files are.
Bytes gzipped(const Bytes& bytes, int level = 6) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes out(deflateBound(&stream, bytes.size()) + 64);
  stream.next_in = const_cast<std::uint8_t*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
Bytes unpacked(const Bytes& bytes, Compression by) {
  const io::detail::Source source("test", "it", bytes);
  return io::detail::unpack(source, by);
}

TEST(DataPacked, UnpacksWhatZlibPacks) {
  for (const std::size_t size : {0, 1, 65'535, 65'536, 65'537, 200'000})
    for (const int level : {0, 1, 9})
      for (const unsigned noise : {1u, 40u, 256u}) {
        Bytes bytes(size);
        std::uint32_t x = 1;
        for (std::uint8_t& b : bytes)
          b = static_cast<std::uint8_t>(((x = x * 1664525 + 1013904223) >> 24) % noise);
        EXPECT_TRUE(unpacked(gzipped(bytes, level), Compression::gzip) == bytes) << size << ' ' << level;
        uLongf packed_size = compressBound(size);
        Bytes packed(packed_size);
        ASSERT_EQ(compress2(packed.data(), &packed_size, bytes.data(), size, level), Z_OK);
        packed.resize(packed_size);
        EXPECT_TRUE(unpacked(packed, Compression::zlib) == bytes) << size << ' ' << level;
      }
}

TEST(DataPacked, Tfrecords) {
  const auto plain = data::from_tfrecord(golden("examples.tfrecord"));
  const std::vector<Bytes> expected = all_of(plain);
  for (const auto& [name, kind] : {std::pair{"examples.tfrecord.gz", Compression::gzip},
                                   std::pair{"examples.tfrecord.zz", Compression::zlib}}) {
    for (const Compression by : {Compression::automatic, kind})
      for (const bool index : {true, false}) {
        const auto records = data::from_tfrecord(golden(name), {.index = index, .compression = by});
        EXPECT_EQ(all_of(records), expected) << name;
        EXPECT_EQ(records.size(), std::nullopt);
        auto it = records.iterator();
        it.next();
        const auto position = it.state();
        EXPECT_EQ(rest_of(records.iterator(position)),
                  std::vector<Bytes>(expected.begin() + 1, expected.end()));
      }
    // In memory records have indices.
    const auto held = data::from_tfrecord(bytes_of(golden(name)), "held");
    EXPECT_EQ(held.size(), 4);
    EXPECT_EQ(all_of(held), expected);
  }
  // Packed and plain files behind one another, read ahead by threads, in order.
  std::vector<std::string> paths;
  std::vector<Bytes> all;
  for (int i = 0; i < 9; ++i) {
    paths.push_back(golden(i % 3 == 0   ? "examples.tfrecord.gz"
                           : i % 3 == 1 ? "examples.tfrecord"
                                        : "examples.tfrecord.zz"));
    all.insert(all.end(), expected.begin(), expected.end());
  }
  EXPECT_EQ(all_of(data::from_tfrecord(paths, {.ahead = 4})), all);
  EXPECT_EQ(all_of(data::from_tfrecord(paths)), all);
}

// The length of the first record is 35615, whose bytes are those that gzip's files begin with.
TEST(DataPacked, APlainFileIsNoPackedOne) {
  Bytes bytes(12 + 35'615 + 4);
  bytes[0] = 0x1f, bytes[1] = 0x8b;
  const std::uint32_t of_length = data::detail::masked_crc32c(bytes.data(), 8),
                      of_record = data::detail::masked_crc32c(bytes.data() + 12, 35'615);
  std::memcpy(bytes.data() + 8, &of_length, 4);
  std::memcpy(bytes.data() + 12 + 35'615, &of_record, 4);
  const auto records = data::from_tfrecord(file("plain", bytes));
  EXPECT_EQ(records.size(), 1);
  EXPECT_EQ(records.at(0).size(), 35'615u);
}

TEST(DataPacked, TarsLinesRecordsAndTables) {
  const auto keys = [](const data::Sample& sample) { return sample.key; };
  const auto tar = file("samples.tar.gz", gzipped(bytes_of(golden("samples_gnu.tar"))));
  EXPECT_EQ(all_of(data::from_tar(tar).map(keys)),
            all_of(data::from_tar(golden("samples_gnu.tar")).map(keys)));
  const auto text = file("lines.gz", gzipped(as_bytes("a,b\n1,2\n3,4")));
  EXPECT_EQ(all_of(data::from_lines(text)), (std::vector<std::string>{"a,b", "1,2", "3,4"}));
  EXPECT_EQ(data::from_csv<float>(text, {.columns = {"b"}}).at(1)(0).item(), 4.f);
  EXPECT_EQ(loadtxt<float>(text, {.delimiter = ",", .skiprows = 1}).to_vector(),
            (std::vector<float>{1, 2, 3, 4}));
  // Records may begin with any bytes, so these are given the option.
  EXPECT_EQ(all_of(data::from_fixed_length(text, 11, {.compression = Compression::gzip})),
            (std::vector<Bytes>{as_bytes("a,b\n1,2\n3,4")}));
  const Bytes packed = bytes_of(text);
  EXPECT_EQ(all_of(data::from_fixed_length(text, static_cast<std::int64_t>(packed.size()))),
            std::vector<Bytes>{packed});
}

TEST(DataPacked, DamageIsNamed) {
  const Bytes good = bytes_of(golden("examples.tfrecord.gz"));
  const auto walk = [](const Bytes& bytes, Compression by = Compression::gzip) {
    return [=] { all_of(data::from_tfrecord(file("bad.gz", bytes), {.compression = by})); };
  };
  // Any wrong byte, and any truncation, is an error, except where the byte has no meaning.
  std::size_t errors = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] ^= 0x55;
    try {
      EXPECT_EQ(all_of(data::from_tfrecord(file("bad.gz", bad), {.compression = Compression::gzip})).size(),
                4u)
          << i;
    } catch (const IoError& error) {
      ++errors;
      EXPECT_NE(std::string(error.what()).find("bad.gz' "), std::string::npos) << error.what();
    }
    EXPECT_THROW(walk(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)))(), IoError) << i;
  }
  EXPECT_GT(errors, good.size() - 60);  // times, names and comments may be any
  Bytes bad = good;
  bad[bad.size() - 8] ^= 1;
  expect_error<IoError>("has the wrong length or checksum", walk(bad));
  bad = good;
  bad.insert(bad.end(), {'m', 'o', 'r', 'e', ' ', 't', 'h', 'a', 'n', ' ', 'i', 't'});
  expect_error<IoError>(
      "bad.gz' has bytes that do not belong to it from offset " + std::to_string(good.size()), walk(bad));
  expect_error<IoError>("is not a file packed by zlib", walk(good, Compression::zlib));
  expect_error<IoError>("is not a gzip file", walk(bytes_of(golden("examples.tfrecord"))));
  Bytes zlib = bytes_of(golden("examples.tfrecord.zz"));
  zlib.back() ^= 1;
  expect_error<IoError>("has the wrong length or checksum", walk(zlib, Compression::zlib));
  expect_error<IoError>("is no TFRecord file: the length of a record has the wrong checksum",
                        walk(good, Compression::none));
}

}  // namespace packed_test
