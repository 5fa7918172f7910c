#include "fuzz.hpp"
#include "nax/modules/data/csv.hpp"

// Tables. The first byte chooses what is read of them.
namespace {
using namespace nax;
using fuzz::Bytes;

struct Row {
  Array<float> x;
  Array<std::int8_t> y;
};

template <class T>
void read(const Bytes& bytes, const data::CsvOptions& options) {
  fuzz::reads([&] {
    const auto all = data::from_csv<T>(bytes, "f", options);
    std::size_t rows = 0;
    for (const auto& row : all) {
      static_cast<void>(row);
      ++rows;
    }
    fuzz::must(rows <= bytes.size() && all.size() == static_cast<std::int64_t>(rows), "rows of nothing");
  });
}

}  // namespace

std::vector<Bytes> fuzz::seeds() {
  std::vector<Bytes> all;
  for (int choice = 0; choice < 256; choice += choice < 16 ? 1 : 15)
    for (const char* text : {"x,y\n1,2\n-3e4,5\n", "\xef\xbb\xbfy,\"x\"\r\n\"1\",\"\"\"2\"\"\"\r\n,\r\n",
                             "1,2\n\n\"a\nb\",nan", "#\nx;y\n1,5;NA # 2\n;\"3,0\"#\n"})
      all.push_back(chosen(choice, std::string(text)));
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* from, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(from + 1, from + size);
  data::CsvOptions options{.header = (from[0] & 1) != 0};
  if (from[0] & 2) options.missing = 0;
  if (from[0] & 16) options.comment = '#';
  if (from[0] & 32) options.skiprows = 1;
  if (from[0] & 64) options.delimiter = ';', options.decimal = ',';
  if (from[0] & 128) options.na = {"NA", ""};
  switch (from[0] >> 2 & 3) {
    case 0:
      read<float>(bytes, options);
      break;
    case 1:
      read<Row>(bytes, options);
      break;
    case 2:
      read<std::int64_t>(bytes, options);
      break;
    default:
      read<std::string>(bytes, options);
  }
  return 0;
}
