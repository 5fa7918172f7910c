#include <chrono>
#include <filesystem>

#include "files.hpp"
#include "nax/io/save.hpp"
#include "nax/numpy/conversion/array_methods.hpp"

// Large archives, and archives with false fields.
namespace zip_test {
using namespace nax;
using io::Bytes;
using io::detail::little_endian;

struct Pair {
  Array<float> a, b;
};
const Pair pair{{1, 2, 3}, {4, 5}};

Bytes archive() {
  const std::string path = files::path_of("pair.npz");
  io::save(path, pair);
  return files::read(path);
}
std::size_t find(const Bytes& bytes, std::uint32_t signature, std::size_t from = 0) {
  for (; from + 4 <= bytes.size(); ++from)
    if (little_endian<std::uint32_t>(bytes.data() + from) == signature) return from;
  return bytes.size();
}
std::string loaded(const Bytes& bytes) {
  return text_of<IoError>([&] {
    Pair p;
    io::detail::load_from(io::detail::Source("load", "f.npz", bytes), false, p);
    EXPECT_EQ(p.a.to_vector(), pair.a.to_vector());
    EXPECT_EQ(p.b.to_vector(), pair.b.to_vector());
  });
}
void expect_refused(const Bytes& bytes, const char* part) {
  const std::string text = loaded(bytes);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}
const std::uint32_t local_header = 0x04034b50, entry = 0x02014b50, end_record = 0x06054b50;

std::string npy(const Array<float>& a) {
  return io::detail::npy_header(a.dtype(), a.shape()) +
         std::string(detail::raw_data(a), static_cast<std::size_t>(a.nbytes()));
}

TEST(Zip, Zip64IsWrittenAndRead) {
  // As archives over 4 GiB are, with the limits lowered: all fields, some, none.
  for (std::uint64_t most : {0, 130, 200, 1000}) {
    const std::string path = files::path_of("zip64.npz");
    io::detail::ZipWriter zip("save", path, most);
    zip.add("a.npy", npy(pair.a), nullptr, 0);
    zip.add("b.npy", npy(pair.b), nullptr, 0);
    zip.commit();
    const Bytes bytes = files::read(path);
    EXPECT_EQ(loaded(bytes), "nothing was thrown") << most;
    EXPECT_EQ(find(bytes, 0x06064b50) < bytes.size(), most < 1000) << most;
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_NE(loaded(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))),
                "nothing was thrown");
  }
}

TEST(Zip, ManyMembers) {
  // 66000, more than the two bytes of the end record count.
  const std::string path = files::path_of("many.npz");
  const std::string number = npy(Array<float>(1));
  io::detail::ZipWriter zip("save", path);
  for (int i = 0; i < 66000; ++i) zip.add("[" + std::to_string(i) + "].npy", number, nullptr, 0);
  zip.commit();
  std::vector<float> v(66000);
  io::load(path, v);
  EXPECT_EQ(v[65999], 1);
  std::remove(path.c_str());
}

TEST(Zip, RefusesToWriteOneNameTwice) {
  io::detail::ZipWriter zip("save", files::path_of("twice.npz"));
  zip.add("a.npy", "", nullptr, 0);
  files::expect_refused([&] { zip.add("a.npy", "", nullptr, 0); }, "two members named a.npy");
}

TEST(Zip, RefusesMembersOfOneNameOrOneMembersBytes) {
  const Bytes good = archive();
  Bytes bytes = good;
  const std::size_t first = find(good, entry), second = find(good, entry, first + 1);
  bytes[second + 46] = 'a';
  expect_refused(bytes, "two members named a");
  bytes = good;
  std::memcpy(bytes.data() + second + 42, good.data() + first + 42, 4);  // where it begins
  expect_refused(bytes, "those of another member, too");
  bytes = good;
  bytes[second + 42] -= 1;
  expect_refused(bytes, "those of another member, too");
  bytes = good;
  std::swap(bytes[30], bytes[find(good, local_header, 1) + 30]);  // the names at the members themselves
  expect_refused(bytes, "has no such member");
}

TEST(Zip, AHugeDirectoryOfOneMemberIsRefusedAtOnce) {
  // Ten megabytes that 60000 entries share. (Their CRCs would be 600 GB of work.)
  const std::string path = files::path_of("large.npz");
  io::save(
      path,
      std::pair{detail::typed<float>(detail::allocate_on_host(DType::float32, Frame{Shape{2'500'000}, {}})),
                1});
  Bytes bytes = files::read(path);
  const std::size_t directory = find(bytes, entry, bytes.size() - 300);
  const Bytes one(bytes.begin() + static_cast<std::ptrdiff_t>(directory),
                  bytes.begin() + static_cast<std::ptrdiff_t>(find(bytes, entry, directory + 1)));
  Bytes end(bytes.end() - 22, bytes.end());
  bytes.resize(directory);
  const std::size_t size = 60000 * (one.size() + 4);
  for (int i = 0; i < 60000; ++i) {
    Bytes next = one;
    for (std::size_t k = 0; k < 4; ++k) next.push_back(static_cast<std::uint8_t>('a' + (i >> 4 * k) % 16));
    next[28] = static_cast<std::uint8_t>(next[28] + 4);  // a longer name
    bytes.insert(bytes.end(), next.begin(), next.end());
  }
  const auto put = [&](std::size_t at, std::size_t value, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k) end[at + k] = static_cast<std::uint8_t>(value >> 8 * k);
  };
  put(8, 60000, 2), put(10, 60000, 2), put(12, size, 4);
  bytes.insert(bytes.end(), end.begin(), end.end());
  const auto start = std::chrono::steady_clock::now();
  expect_refused(bytes, "those of another member, too");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  std::remove(path.c_str());
}

TEST(Zip, AFalseDirectoryIsNotAllocated) {
  // A file with a hole of a terabyte that the end record declares as the directory.
  const std::string path = files::path_of("hole.npz");
  files::write(path, {'P', 'K'});
  const std::uint64_t size = std::uint64_t{1} << 40;
  std::error_code error;
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(size), error);
  if (error) GTEST_SKIP() << "no holes in files here";
  Bytes end;
  const auto number = [&](std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) end.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  };
  number(0x06064b50, 4), number(44, 8), number(0, 4), number(0, 8), number(1, 8), number(1, 8);
  number(size - 2, 8), number(2, 8);
  number(0x07064b50, 4), number(0, 4), number(size, 8), number(1, 4);
  number(0x06054b50, 4), number(0, 4), number(~std::uint64_t{0}, 8), number(~std::uint64_t{0}, 4),
      number(0, 2);
  std::FILE* const file = std::fopen(path.c_str(), "ab");
  std::fwrite(end.data(), 1, end.size(), file);
  std::fclose(file);
  Pair p;
  files::expect_refused([&] { io::load(path, p); }, "its directory is broken");
  std::remove(path.c_str());
}

TEST(Zip, RefusesUnsupportedMembers) {
  const Bytes good = archive();
  const std::size_t first = find(good, entry), end = find(good, end_record);
  Bytes bytes = good;
  bytes[first + 8] |= 1;
  expect_refused(bytes, "(a.npy) is encrypted");
  bytes = good;
  bytes[first + 10] = 14;  // LZMA
  expect_refused(bytes, "(a.npy) is packed in a way (14)");
  bytes = good;
  bytes[first + 24] ^= 1;  // the size
  expect_refused(bytes, "holds less than it says");
  bytes = good;
  bytes[end + 4] = 1;
  expect_refused(bytes, "several files");
  bytes = good;
  bytes.push_back(0);
  expect_refused(bytes, "directory at its end is missing");
  bytes = good;
  ++bytes[end + 10];  // one member more
  expect_refused(bytes, "directory");
  bytes = good;
  for (std::size_t at : {20u, 24u, 42u}) {
    bytes = good;
    std::memset(bytes.data() + first + at, 0xff, 4);
    expect_refused(bytes, "zip64 sizes are missing");
  }
  bytes = good;
  bytes[end + 20] = 3;  // a comment is fine
  bytes.insert(bytes.end(), {'a', 'b', 'c'});
  EXPECT_EQ(loaded(bytes), "nothing was thrown");
}

TEST(Zip, ADeflatedMemberMakesNoMoreThanDeflateCan) {
  Bytes bytes = files::read(files::golden("deflated.npz"));
  const std::size_t first = find(bytes, entry);
  const std::uint8_t gigabytes[4] = {0, 0, 0, 0xf0};
  std::memcpy(bytes.data() + first + 24, gigabytes, 4);
  expect_refused(bytes, "holds less than it says");
}

}  // namespace zip_test
