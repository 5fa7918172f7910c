#include <zlib.h>

#include <cstring>
#include <string>

#include "fuzz.hpp"
#include "nax/io/inflate.hpp"

// Compares nax's inflate with zlib's: bytes, length of the stream, refused files.
namespace {
using fuzz::Bytes;
constexpr std::size_t most = 1 << 17;

struct Outcome {
  Bytes bytes;
  bool whole = false;  // to its end
  std::uint64_t left = 0;
};

Outcome by_zlib(const Bytes& packed) {
  static z_stream z = [] {
    z_stream fresh{};
    inflateInit2(&fresh, -15);
    return fresh;
  }();
  static Bytes out(most);
  inflateReset(&z);
  z.next_in = const_cast<Bytef*>(packed.data());
  z.avail_in = static_cast<uInt>(packed.size());
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(most);
  const int status = inflate(&z, Z_FINISH);
  return {Bytes(out.begin(), out.end() - z.avail_out), status == Z_STREAM_END, z.avail_in};
}

// In pieces whose lengths the input decides.
Outcome by_nax(const Bytes& packed, std::size_t piece) {
  static Bytes out(most);
  std::size_t size = 0;
  Outcome outcome;
  const nax::io::detail::Source source("load", "f", packed);
  nax::io::detail::Inflate inflate(source, 0, packed.size(), "");
  fuzz::reads([&] {
    while (size < most) {
      const std::size_t asked = most - size < piece ? most - size : piece;
      const std::size_t got = inflate.read(out.data() + size, asked);
      size += got;
      if (got == asked) continue;
      outcome.whole = true;
      outcome.left = inflate.left();
      break;
    }
  });
  outcome.bytes.assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
  return outcome;
}

Bytes deflated(const std::string& plain, int level, int strategy) {
  z_stream z{};
  deflateInit2(&z, level, Z_DEFLATED, -15, 8, strategy);
  Bytes out(plain.size() + 1000);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  z.avail_in = static_cast<uInt>(plain.size());
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

}  // namespace

std::vector<Bytes> fuzz::seeds() {
  std::string text, numbers;
  for (int i = 0; i < 200; ++i) text += "word " + std::to_string(i * i % 77) + (i % 9 ? " " : "\n");
  for (int i = 0; i < 3000; ++i) numbers += static_cast<char>(i * i % 251 * i >> 5);
  std::vector<Bytes> all = {chosen(9, deflated("", 9, Z_DEFAULT_STRATEGY))};
  for (int strategy : {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED})
    for (const std::string& plain : {text, numbers, std::string(40000, 'z')})
      all.push_back(chosen(static_cast<int>(plain.size()) + strategy, deflated(plain, 9, strategy)));
  all.push_back(chosen(3, deflated(text, 0, Z_DEFAULT_STRATEGY)));
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes packed(data + 1, data + size);
  const Outcome theirs = by_zlib(packed), ours = by_nax(packed, std::size_t{16} + data[0] * data[0]);
  // A stream longer than the requested length is not compared: zlib has read further than nax.
  if (theirs.bytes.size() == most || ours.bytes.size() == most) return 0;
  fuzz::must(ours.whole == theirs.whole, "a stream that only one of them reads");
  if (!ours.whole) return 0;
  fuzz::must(ours.bytes == theirs.bytes, "other bytes than zlib's");
  fuzz::must(ours.left == theirs.left, "another end than zlib's");
  return 0;
}
