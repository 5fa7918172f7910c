#include <cstring>

#include "fuzz.hpp"
#include "nax/io/crc32.hpp"
#include "nax/io/mnist.hpp"

// IDX files. The first byte chooses: the file as it comes, plain or gzip; the bytes of an IDX file, packed
// into a gzip file that is right; images and labels of MNIST, one behind the other.
namespace {
using namespace nax;
using fuzz::Bytes;

// Members of one stored block each.
Bytes gzip(const Bytes& plain, std::size_t member) {
  Bytes out;
  for (std::size_t at = 0; at == 0 || at < plain.size(); at += member) {
    const std::size_t n = plain.size() - at < member ? plain.size() - at : member;
    const std::uint32_t crc = io::detail::crc32(plain.data() + at, n);
    const auto low = static_cast<std::uint8_t>(n), high = static_cast<std::uint8_t>(n >> 8);
    out.insert(out.end(), {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, low, high, static_cast<std::uint8_t>(~low),
                           static_cast<std::uint8_t>(~high)});
    out.insert(out.end(), plain.begin() + static_cast<std::ptrdiff_t>(at),
               plain.begin() + static_cast<std::ptrdiff_t>(at + n));
    for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(crc >> 8 * i));
    out.insert(out.end(), {low, high, 0, 0});
  }
  return out;
}

bool read(const Bytes& bytes, Array<std::uint8_t>& a) {
  return fuzz::reads([&] { a = io::detail::read_idx_from(io::detail::Source("read_idx", "f", bytes)); });
}

const Bytes small = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255};

}  // namespace

std::vector<Bytes> fuzz::seeds() {
  Bytes mnist = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28};
  mnist.resize(mnist.size() + 28 * 28, 7);
  mnist.insert(mnist.end(), {0, 0, 8, 1, 0, 0, 0, 1, 9});
  return {chosen(0, small),
          chosen(0, gzip(small, 100)),
          chosen(0, gzip(small, 5)),
          chosen(1, small),
          chosen(2, mnist),
          chosen(0, Bytes{0, 0, 8, 1, 0, 0, 0, 0}),
          chosen(1, Bytes{0, 0, 8, 0, 1})};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(data + 1, data + size);
  Array<std::uint8_t> a, b;
  switch (data[0] % 3) {
    case 0:
      read(bytes, a);
      fuzz::reads([&] { io::gunzip(bytes, "f", 1 << 16); });
      break;
    case 1: {
      const bool plain = read(bytes, a);
      if (bytes.size() >= 2 && bytes[0] == 0x1f) break;  // packed twice is not read
      fuzz::must(read(gzip(bytes, 1 + size % 50), b) == plain, "plain and packed bytes that differ");
      fuzz::must(a.shape() == b.shape(), "plain and packed shapes that differ");
      if (a.nbytes() > 0)
        fuzz::must(std::memcmp(detail::raw_data(a), detail::raw_data(b), a.nbytes()) == 0, "other elements");
      break;
    }
    default: {
      const std::size_t images = bytes.size() < 800 ? bytes.size() : 800;
      const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(images);
      if (read(Bytes(bytes.begin(), middle), a) && read(Bytes(middle, bytes.end()), b) &&
          fuzz::reads([&] { io::detail::check_mnist("f", "test", a, b); }))
        fuzz::must(a.shape(0) == b.shape(0) && a.ndim() == 3, "images that have no labels");
    }
  }
  return 0;
}
