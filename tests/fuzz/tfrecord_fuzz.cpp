#include <cstring>

#include "fuzz.hpp"
#include "nax/modules/data/example.hpp"
#include "nax/modules/data/tfrecord.hpp"

// TFRecord files and the examples in them. The first byte chooses: the file as it comes; an example, in a
// file that is right.
namespace {
using namespace nax;
using fuzz::Bytes;

Bytes record(const Bytes& bytes) {
  Bytes out;
  const auto number = [&](std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  };
  number(bytes.size(), 8);
  number(data::detail::masked_crc32c(out.data(), 8), 4);
  out.insert(out.end(), bytes.begin(), bytes.end());
  number(data::detail::masked_crc32c(bytes.data(), bytes.size()), 4);
  return out;
}

// {"a": bytes, "b": floats, "c": integers}
const Bytes example = {0x0a, 41, 0x0a, 9,    0x0a, 1,    'a', 0x12, 4, 0x0a, 2, 0x0a, 0,  0x0a, 13,
                       0x0a, 1,  'b',  0x12, 8,    0x12, 6,   0x0a, 4, 0,    0, 0x80, 63, 0x0a, 13,
                       0x0a, 1,  'c',  0x12, 8,    0x1a, 6,   0x0a, 4, 0x96, 1, 7,    9};

}  // namespace

std::vector<Bytes> fuzz::seeds() {
  Bytes two = record(example);
  const Bytes one = record({1, 2, 3});
  two.insert(two.end(), one.begin(), one.end());
  return {chosen(0, two), chosen(0, record({})), chosen(1, example), chosen(1, Bytes{})};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* from, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(from + 1, from + size);
  if (from[0] % 2 == 0) {
    fuzz::reads([&] {
      std::size_t all = 0;
      for (const Bytes& one : data::from_tfrecord(bytes, "f")) {
        all += one.size() + 16;
        fuzz::reads([&] { data::parse_example(one); });
      }
      fuzz::must(all == bytes.size(), "records that are not the file");
    });
    return 0;
  }
  data::Example a, b;
  const bool good = fuzz::reads([&] { a = data::parse_example(bytes); });
  fuzz::must(fuzz::reads([&] {
               b = *data::from_tfrecord(record(bytes), "f").map(data::parse_example).iterator().next();
             }) == good,
             "an example that depends on where it comes from");
  fuzz::must(a.features.size() == b.features.size(), "other features");
  std::size_t values = 0;
  for (const auto& [name, feature] : a.features)
    values += feature.bytes.size() + feature.floats.size() + feature.int64s.size();
  fuzz::must(values <= bytes.size(), "more values than bytes");
  return 0;
}
