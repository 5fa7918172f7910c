#include <zlib.h>

#include <cstring>

#include "fuzz.hpp"
#include "nax/io/save.hpp"
#include "nax/numpy/conversion/array_methods.hpp"

// .npz files: the archive as it comes (an even first byte), or (an odd one) the bytes of its members, packed
// into an archive whose sizes and checksums are right.
namespace {
using namespace nax;
using fuzz::Bytes;

struct Tree {
  Array<float> a;
  Array<bool> b;
  int n = 0;
};

void number(Bytes& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

struct Member {
  std::string name, packed;
  std::size_t size;
  std::uint32_t crc;
  bool deflated;
};

Bytes archive(const std::vector<Member>& members, bool zip64) {
  Bytes out, directory;
  for (const Member& m : members) {
    Bytes entry, extra;
    number(entry, zip64 ? 45 : 20, 2), number(entry, 0, 2), number(entry, m.deflated ? 8 : 0, 2);
    number(entry, 0, 4), number(entry, m.crc, 4);
    number(entry, zip64 ? 0xffff'ffff : m.packed.size(), 4), number(entry, zip64 ? 0xffff'ffff : m.size, 4);
    number(entry, m.name.size(), 2), number(entry, zip64 ? 20 : 0, 2);
    if (zip64)
      number(extra, 1, 2), number(extra, 16, 2), number(extra, m.size, 8), number(extra, m.packed.size(), 8);
    number(directory, 0x02014b50, 4), number(directory, 20, 2);
    directory.insert(directory.end(), entry.begin(), entry.end());
    number(directory, 0, 8), number(directory, 0, 2), number(directory, out.size(), 4);
    directory.insert(directory.end(), m.name.begin(), m.name.end());
    directory.insert(directory.end(), extra.begin(), extra.end());
    number(out, 0x04034b50, 4);
    for (const Bytes& part :
         {entry, Bytes(m.name.begin(), m.name.end()), extra, Bytes(m.packed.begin(), m.packed.end())})
      out.insert(out.end(), part.begin(), part.end());
  }
  const std::size_t at = out.size();
  out.insert(out.end(), directory.begin(), directory.end());
  if (zip64) {
    const std::size_t record = out.size();
    number(out, 0x06064b50, 4), number(out, 44, 8), number(out, 0x2d002d, 4), number(out, 0, 8);
    number(out, members.size(), 8), number(out, members.size(), 8);
    number(out, directory.size(), 8), number(out, at, 8);
    number(out, 0x07064b50, 4), number(out, 0, 4), number(out, record, 8), number(out, 1, 4);
  }
  number(out, 0x06054b50, 4), number(out, 0, 4), number(out, members.size(), 2);
  number(out, members.size(), 2), number(out, directory.size(), 4), number(out, at, 4), number(out, 0, 2);
  return out;
}

std::string deflated(const std::string& plain) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(plain.size() + 100, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  z.avail_in = static_cast<uInt>(plain.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

Member member(const std::string& name, const std::string& plain, bool pack) {
  return {name, pack ? deflated(plain) : plain, plain.size(), io::detail::crc32(plain.data(), plain.size()),
          pack};
}

// .npy files of the tree's three leaves.
const std::string npy_a = io::detail::npy_header(DType::float32, Shape{3}) + std::string(12, '\1'),
                  npy_b = io::detail::npy_header(DType::boolean, Shape{2, 2}) + std::string("\0\1\2\3", 4),
                  npy_n = io::detail::npy_header(DType::int32, Shape()) + std::string(4, '\2');

// Stored blocks of 0 to 255 bytes each: a stream of deflate that needs no compressor.
std::string in_blocks(const std::string& plain) {
  std::string out;
  for (std::size_t i = 0; i <= plain.size(); i += 255) {
    const std::size_t n = plain.size() - i < 255 ? plain.size() - i : 255;
    out += n < 255 ? '\1' : '\0';
    out += {static_cast<char>(n), '\0', static_cast<char>(~n), '\xff'};
    out += plain.substr(i, n);
  }
  return out;
}

bool load(const Bytes& bytes, Tree& tree) {
  return fuzz::reads([&] { io::detail::load_from(io::detail::Source("load", "f.npz", bytes), false, tree); });
}

}  // namespace

std::vector<Bytes> fuzz::seeds() {
  std::vector<Bytes> all;
  for (const bool pack : {false, true})
    for (const bool zip64 : {false, true})
      all.push_back(chosen(0, archive({member("a.npy", npy_a, pack), member("b.npy", npy_b, pack),
                                       member("n.npy", npy_n, pack)},
                                      zip64)));
  for (int choice : {1, 3, 5, 7}) all.push_back(chosen(choice, npy_a + npy_b + npy_n));
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const int choice = data[0];
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Tree tree;
  if (choice % 2 == 0) {
    if (choice % 4 == 2) tree.a = Array<float>{1, 2, 3};
    const Array<float> before = tree.a;
    if (!load(Bytes(bytes.begin(), bytes.end()), tree))
      fuzz::must(tree.a.shape() == before.shape() && tree.n == 0, "a tree that was changed all the same");
    return 0;
  }
  const bool pack = choice & 2, zip64 = choice & 4;
  std::vector<Member> stored;
  const char* names[] = {"a.npy", "b.npy", "n.npy"};
  const std::size_t ends[] = {npy_a.size(), npy_a.size() + npy_b.size(), bytes.size()};
  std::size_t at = 0;
  for (int i = 0; i < 3; ++i) {
    const std::size_t end = ends[i] < bytes.size() ? ends[i] : bytes.size();
    stored.push_back(member(names[i], bytes.substr(at, end - at), false));
    at = end;
  }
  const bool read = load(archive(stored, zip64), tree);
  if (!pack) return 0;
  std::vector<Member> packed = stored;
  for (Member& m : packed) m.packed = in_blocks(m.packed), m.deflated = true;
  Tree again;
  fuzz::must(load(archive(packed, zip64), again) == read, "packed and stored members that differ");
  fuzz::must(tree.a.shape() == again.a.shape() && tree.n == again.n, "packed and stored numbers that differ");
  return 0;
}
