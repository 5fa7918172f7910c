#include "nax/io/idx.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "nax/io/mnist.hpp"

namespace idx_test {
using namespace nax;
using io::Bytes;

std::string path_of(const char* name) { return testing::TempDir() + "nax_idx_" + name; }

std::string write(const char* name, const Bytes& bytes) {
  const std::string path = path_of(name);
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return path;
}

Bytes gzip(const Bytes& plain) {
  Bytes out(plain.size() + 100);
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  z.next_in = const_cast<Bytef*>(plain.data());
  z.avail_in = static_cast<uInt>(plain.size());
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string message(const std::string& path) {
  try {
    io::read_idx(path);
  } catch (const IoError& e) {
    return e.what();
  }
  return "";
}

void expect_refused(const char* name, const Bytes& bytes, const std::string& why) {
  const std::string path = write(name, bytes), text = message(path);
  EXPECT_NE(text.find(why), std::string::npos) << text;
  EXPECT_NE(text.find(path), std::string::npos) << text;
}

const Bytes good = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255};

void expect_good(const Array<std::uint8_t>& a) {
  ASSERT_EQ(a.shape(), (Shape{2, 3}));
  EXPECT_EQ(std::memcmp(detail::raw_data(a), good.data() + 12, 6), 0);
}

TEST(Idx, ReadsPlainAndGzip) {
  expect_good(io::read_idx(write("plain", good)));
  expect_good(io::read_idx(write("packed", gzip(good))));
  // Two members, as cat makes them.
  Bytes both = gzip(Bytes(good.begin(), good.begin() + 7)),
        second = gzip(Bytes(good.begin() + 7, good.end()));
  both.insert(both.end(), second.begin(), second.end());
  expect_good(io::read_idx(write("members", both)));
  EXPECT_EQ(io::read_idx(write("empty", {0, 0, 8, 1, 0, 0, 0, 0})).shape(), (Shape{0}));
}

TEST(Idx, RefusesForeignAndDamagedFiles) {
  EXPECT_NE(message(path_of("missing")).find("cannot be opened"), std::string::npos);
  expect_refused("text", {'h', 'e', 'l', 'l', 'o'}, "not an IDX file");
  expect_refused("short_header", {0, 0, 8}, "truncated");
  expect_refused("short_shape", Bytes(good.begin(), good.begin() + 9),
                 "12 bytes expected, it ends at offset 9");
  expect_refused("short_data", Bytes(good.begin(), good.end() - 2),
                 "18 bytes expected, it ends at offset 16");
  Bytes bytes = good;
  bytes.push_back(7);
  expect_refused("trailing", bytes, "from offset 18");
  bytes = good;
  bytes[2] = 0x0d;
  expect_refused("floats", bytes, "elements of type 13");
  expect_refused("huge", {0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255},
                 "impossible shape");
}

TEST(Idx, RefusesDamagedGzip) {
  const Bytes packed = gzip(good);
  expect_refused("cut", Bytes(packed.begin(), packed.end() - 9), "truncated: it ends at offset");
  Bytes bytes = packed;
  bytes[bytes.size() - 8] ^= 1;  // the CRC
  expect_refused("crc", bytes, "incorrect data check");
  bytes = packed;
  bytes[bytes.size() - 1] ^= 1;  // the length
  expect_refused("length", bytes, "damaged");
  bytes = packed;
  bytes.push_back('x');
  expect_refused("garbage", bytes, "from offset " + std::to_string(packed.size()));
}

// Compresses `head` and `size` zeros by gzip, which takes a thousandth of the room.
Bytes bomb(const Bytes& head, std::size_t size) {
  Bytes plain = head;
  plain.resize(head.size() + size);
  return gzip(plain);
}

TEST(Idx, ExpandsNoMoreThanItsHeaderSays) {
  const std::size_t large = std::size_t{64} << 20;
  reset_peak_memory();
  expect_refused("bomb", bomb(good, large), "from offset 18 on, for shape (2, 3)");
  expect_refused("text_bomb", bomb({'t', 'e', 'x', 't'}, large), "not an IDX file");
  // The header asks for 2^32 bytes, more than a file this small can hold.
  expect_refused("promise", gzip({0, 0, 8, 2, 0, 1, 0, 0, 0, 1, 0, 0}),
                 "truncated: 4294967308 bytes expected");
  EXPECT_LT(memory_stats().peak, std::size_t{1} << 20);
  // No axis is empty for the strides of the others.
  Bytes empty = {0, 0, 8, 4, 0, 0, 0, 0};
  empty.resize(20, 0xff);
  expect_refused("empty", empty, "impossible shape");
}

TEST(Gzip, ExpandsNoMoreThanItIsAllowed) {
  const Bytes packed = bomb({}, std::size_t{1} << 24);
  EXPECT_EQ(io::gunzip(packed, "f").size(), std::size_t{1} << 24);
  EXPECT_EQ(io::gunzip(packed, "f", 1 << 24).size(), std::size_t{1} << 24);
  try {
    io::gunzip(packed, "f", 1 << 20);
    FAIL();
  } catch (const IoError& e) {
    EXPECT_STREQ(e.what(), "gunzip: 'f' holds more than 1048576 bytes");
  }
}

TEST(Mnist, NamesWhatIsMissing) {
  try {
    io::load_mnist("/nowhere");
    FAIL();
  } catch (const IoError& e) {
    EXPECT_STREQ(e.what(),
                 "load_mnist: '/nowhere' has neither train-images-idx3-ubyte.gz nor train-images-idx3-ubyte");
  }
}

}  // namespace idx_test
