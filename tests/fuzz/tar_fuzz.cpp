#include <cstdio>
#include <cstring>

#include "fuzz.hpp"
#include "nax/modules/data/tar.hpp"

// Tar shards. The first byte chooses: the file as it comes; the file with its headers' checksums put right.
namespace {
using namespace nax;
using fuzz::Bytes;

bool is_header(const std::uint8_t* block) { return std::memcmp(block + 257, "ustar", 5) == 0; }

void put_checksum(std::uint8_t* block) {
  std::memset(block + 148, ' ', 8);
  unsigned sum = 0;
  for (int i = 0; i < 512; ++i) sum += block[i];
  std::snprintf(reinterpret_cast<char*>(block) + 148, 8, "%06o", sum);
}

void append(Bytes& to, const char* name, char type, const std::string& content) {
  Bytes block(512);
  std::snprintf(reinterpret_cast<char*>(block.data()), 100, "%s", name);
  std::snprintf(reinterpret_cast<char*>(block.data()) + 124, 12, "%011o",
                static_cast<unsigned>(content.size()));
  std::memcpy(block.data() + 257,
              "ustar\0"
              "00",
              8);
  block[156] = static_cast<std::uint8_t>(type);
  put_checksum(block.data());
  to.insert(to.end(), block.begin(), block.end());
  to.insert(to.end(), content.begin(), content.end());
  to.resize((to.size() + 511) / 512 * 512);
}

}  // namespace

std::vector<Bytes> fuzz::seeds() {
  Bytes plain, names;
  append(plain, "a.jpg", '0', "one");
  append(plain, "a.cls", '0', "");
  append(plain, "folder/", '5', "");
  append(plain, "folder/b.seg.png", '0', std::string(600, 'x'));
  append(names, "x", 'x', "22 path=long/name.jpg\n10 size=3\n");
  append(names, "short.jpg", '0', "one");
  append(names, "././@LongLink", 'L', std::string("also/long.cls\0", 14));
  append(names, "also", '0', "2");
  append(names, "x", 'g', "13 comment=c\n");
  for (Bytes* all : {&plain, &names}) all->resize(all->size() + 1024);
  return {chosen(0, plain), chosen(1, plain), chosen(0, names), chosen(1, names)};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* from, std::size_t size) {
  if (size == 0) return 0;
  Bytes bytes(from + 1, from + size);
  if (from[0] % 2 == 1)
    for (std::size_t at = 0; at + 512 <= bytes.size(); at += 512)
      if (is_header(&bytes[at])) put_checksum(&bytes[at]);
  fuzz::reads([&] {
    std::size_t all = 0;
    for (const data::Sample& sample : data::from_tar(bytes, "f")) {
      fuzz::must(!sample.key.empty() && !sample.files.empty(), "a sample of nothing");
      for (const auto& [extension, content] : sample.files) all += content.size() + 512;
    }
    fuzz::must(all <= bytes.size(), "more than there is in the file");
  });
  return 0;
}
