#pragma once

#include <map>
#include <set>
#include <tuple>

#include "nax/core/function_ref.hpp"
#include "nax/core/layout.hpp"
#include "nax/modules/exporting/c_helpers.hpp"
#include "nax/modules/exporting/graph.hpp"

// A graph as a function of C.
//
// A node's elements lie in a buffer, at an argument, or in a constant; transposed ones, slices and broadcasts
// are views of these by strides. An elementwise node that one loop alone reads is computed there. Buffers lie
// in one block of scratch memory, where those that are never needed at once share places if their dtypes are
// the same (C's compilers may reorder accesses by different types). Matrices of constants are packed here.
NAX_BEGIN
namespace io::detail {

struct CNames {
  std::string function;
  std::vector<std::string> inputs, outputs;
  std::size_t text_bytes;  // the most that constants may have as text

  // The beginning of the header's macros.
  std::string guard() const {
    std::string made;
    for (const char c : function) made += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return made;
  }
};

struct CLines;

class CWriter {
 public:
  CWriter(const Graph& graph, const CNames& names);

  void write();
  std::string header() const;
  std::string source() const;
  // Constants that are too many for text; empty without.
  const std::string& data() const { return data_; }

 private:
  // Where elements lie. Views have the strides of their axes.
  struct Elements {
    std::string name;  // of the pointer; constants get theirs when they are read
    DType dtype{};
    Dims shape, strides;
    std::int64_t offset = 0;
    int buffer = -1;
    const char* data = nullptr;  // of a constant, which has `count` elements
    std::int64_t count = 0;
  };
  struct Buffer {
    DType dtype;
    std::int64_t bytes;
    int first, last;  // the nodes between which it is needed
    std::int64_t place = 0;
  };
  // Axes of a loop after those that all operands can run through as one are joined.
  struct Axes {
    Dims extents;
    std::vector<Dims> strides;  // by operand
  };

  // ---- memory

  static Elements row_by_row(std::string name, DType dtype, const Dims& shape);
  Elements scratch(DType dtype, const Dims& shape);
  Elements& allocate(int at);
  void put_result(std::size_t result);
  void place_buffers();

  // ---- text

  void line(const std::string& text) { code_ += std::string(2 * depth_, ' ') + text + '\n'; }
  void open(const Axes& axes, std::size_t first = 0, bool independent = true);
  void close(std::size_t n);
  static std::string index(const Axes& axes, std::size_t operand, std::size_t first = 0);
  std::string named(Elements& x);
  std::string at(Elements& x, const std::string& index);
  std::string pointer(Elements& x, const std::string& index = {});
  std::string define(const void* data, DType dtype, std::int64_t n);
  std::string helper(const char* name, DType dtype);
  std::string parameters() const;
  static const char* type(DType dtype);
  static std::string literal(const void* data, DType dtype);
  [[noreturn, gnu::cold]] static void refuse(const std::string& what);

  // ---- nodes

  const Node& node(int at) const { return graph_[at]; }
  Elements& elements(int at) { return elements_[static_cast<std::size_t>(at)]; }
  static std::int64_t count(const Dims& shape) { return elements_of(shape); }
  void write(int at);
  void write_home(std::int64_t loop);

  // ---- views

  static bool is_whole(const Elements& x);
  // Its elements row by row, in a copy where they are not.
  Elements& whole(int at);
  static std::string ordered(const Elements& x);
  const char* keep(std::string bytes);
  void copy(Elements& from, Elements& to);
  void reshape(int at);
  void view(int at);

  // ---- loops over elements

  static Dims strides_over(const Elements& x, const Dims& shape);
  static Axes joined(const Dims& shape, const std::vector<Dims>& strides);
  bool is_lazy(int at) const;
  void list_leaves(int at, bool top, std::vector<int>& leaves) const;
  std::string value(int at, bool top, FunctionRef<std::string(Elements&)> next);
  std::string operation(NodeKind kind, DType dtype, const std::vector<std::string>& x);
  static std::string first_of(NodeKind kind, DType dtype);
  void map(int at);
  void reduce(int at);

  // ---- operations

  void matmul(int at);
  std::string packed(const Elements& b, const std::vector<std::int64_t>& firsts, std::int64_t k,
                     std::int64_t n, std::int64_t row, std::int64_t column);
  void concatenate(int at);
  void take(int at);
  void scatter(int at);
  void open_lines(const CLines& lines);
  void close_lines();
  void cumsum(int at);
  void argmax(int at);
  void top(int at);
  std::string windows(int at);
  void max_pool(int at);
  void convolve(int at);
  void rows(int at);
  void loop(int at);
  void branches(int at);

  const Graph& graph_;
  const CNames& names_;
  std::vector<Elements> elements_;
  std::vector<int> live_;
  std::vector<std::int64_t> homes_;             // by node: the loop, or -1
  std::map<int, std::vector<Elements>> loops_;  // results
  std::vector<int> uses_,
      reader_;  // how many read a node, and the last that does; -1 for a result
  std::map<int, Elements> wholes_;
  std::vector<Buffer> buffers_;
  std::set<std::string> helpers_;
  std::map<std::tuple<const void*, DType, std::int64_t>, std::string> constants_;
  std::vector<std::unique_ptr<const std::string>> made_;  // bytes of packed constants and the like
  std::map<std::string, std::string> packed_;
  std::string code_, definitions_, data_;
  bool as_text_ = true;  // are constants in the source?
  std::int64_t scratch_bytes_ = 0;
  std::size_t depth_ = 1;
  int now_ = 0, count_ = 0;
};

}  // namespace io::detail
NAX_END
