#include <iostream>
#include <nax/arrow.hpp>
#include <nax/nax.hpp>

// A library that a script of Python's loads: it reads a stream of pyarrow's or Polars', and hands one out.
using namespace nax;

namespace arrow_peers {
struct Row {
  Array<double> x;
  Array<float> list;
  Array<bool> ok;
  std::string text, word;
  data::Nullable<std::int64_t> n;
  Array<std::int64_t> time;
};
struct Table {
  Array<float> x;
  std::vector<std::string> text;
  data::Nullable<double> y;
  Array<bool> ok;
};
}  // namespace arrow_peers

extern "C" void read_table(ArrowArrayStream* stream) try {
  for (const auto& r : data::from_arrow<arrow_peers::Row>(stream))
    std::cout << r.x << ' ' << r.list << ' ' << r.ok << ' ' << r.text << ' ' << r.word << ' ' << r.n.values
              << ' ' << r.n.valid << ' ' << r.time << std::endl;
} catch (const std::exception& error) {
  std::cout << error.what() << std::endl;
}
extern "C" void give_table(ArrowArrayStream* stream) {
  data::ArrowStream made = data::to_arrow(
      arrow_peers::Table{{{1, 2}, {3, 4}}, {"a", "bc"}, {{.5, 1}, {true, false}}, {true, false}});
  *stream = std::exchange(*made.get(), ArrowArrayStream{});
}
