#pragma once

#include <optional>

#include "nax/loops/windows.hpp"
#include "nax/modules/exporting/graph.hpp"
#include "nax/program/replay/program.hpp"

// Slots of a recording as nodes of a graph.
//
// A slot is bytes, and steps read and write it by strides. Here a slot that has been written whole is a node:
// the row-major array of all its elements, with the shape that its step gave it. One that steps write by
// parts keeps the parts, until it is read: then they are joined, or put into what lay there before. A read is
// a view of that node: its axes are found among those of the node, or of one with the axes that the strides
// stand for; where neither fits (diagonals, windows that overlap), elements are taken by number.
NAX_BEGIN
namespace io::detail {

class SlotNodes {
 public:
  SlotNodes(const char* function, const program::Recorded& recorded, Graph& graph);

  // Slots of a loop's body: one that is outer's, and a parameter, which becomes a node when it is read.
  void capture(int slot, const SlotNodes& outer, int from) {
    at(slot) = outer.contents_[static_cast<std::size_t>(from)];
  }
  void set_parameter(int slot, std::int64_t loop, std::int64_t number) {
    at(slot).parameter = {loop, number};
  }
  // The node of a parameter, or -1 while nothing has read it.
  int parameter(int slot) { return at(slot).node; }
  // All elements of a slot.
  int whole(int slot, DType dtype) {
    return graph_.reshape(node_of(slot, dtype), Dims(1, elements(slot, dtype)));
  }

  // A node of the operand's shape, with 1 along axes without a stride, and without first axes of 1.
  NAX_ENGINE int read(const program::Operand& x);
  // A node of the operand's whole shape.
  int read_whole(const program::Operand& x) { return graph_.expand(read(x), x.shape); }
  // Writes a node of the operand's shape, which may have 1 along axes without a stride.
  NAX_ENGINE void write(const program::Operand& x, int node);
  // A result of the recording.
  NAX_ENGINE int read(const program::Output& out);

  // Steps on bytes, which have no dtype yet.
  NAX_ENGINE void clear(const program::Operand& to);
  NAX_ENGINE void copy_bytes(const program::Operand& from, const program::Operand& to);

  // Positions of the best elements in windows over a node, for who reads the elements there.
  struct Best {
    loops::Windows windows;
    bool greatest;
    int node;
  };
  std::optional<Best>& best(int slot) { return contents_[static_cast<std::size_t>(slot)].best; }
  [[noreturn, gnu::cold]] NAX_ENGINE void refuse(const std::string& what) const;

 private:
  struct Part {
    std::int64_t offset;  // in elements
    Dims shape, strides;  // these in falling order
    int node;
  };
  struct Content {
    int node = -1;
    bool zeros = false;          // until something is written
    const char* data = nullptr;  // bytes that are known
    std::vector<Part> parts;     // written after the node
    std::optional<Best> best;
    std::pair<std::int64_t, std::int64_t> parameter{-1, -1};  // a loop, and which
  };
  Content& at(int slot) { return contents_[static_cast<std::size_t>(slot)]; }
  NAX_ENGINE int constant(const char* data, DType dtype, const Dims& shape, const Dims& strides);
  NAX_ENGINE int node_of(int slot, DType dtype);
  NAX_ENGINE int joined(const std::vector<Part>& parts, std::int64_t n);
  NAX_ENGINE int view(int node, std::int64_t offset, const Dims& shape, const Dims& strides);
  std::int64_t elements(int slot, DType dtype) const {
    return static_cast<std::int64_t>(recorded_.slots[static_cast<std::size_t>(slot)].bytes /
                                     dtype_size(dtype));
  }

  const char* function_;
  const program::Recorded& recorded_;
  Graph& graph_;
  std::vector<Content> contents_;  // by slot
};

}  // namespace io::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/exporting/operands-inl.hpp"
#endif
