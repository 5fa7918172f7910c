#pragma once

#include <cstring>
#include <vector>

#include "nax/numpy/manipulation/join.hpp"
#include "nax/transform/call.hpp"
#include "nax/transform/vmap.hpp"

// Rows of arrays for loops: an array is taken apart along its leading axis, and rows are put together again.
//
// Indexing row by row would give each row a gradient as large as the whole array. Here the array that is
// watched is taken apart by one call node, whose sweep joins what came for the parts; so a loop over n rows
// costs n rows, in either direction. Unrecorded rows are views, made when they are asked for.
NAX_BEGIN
namespace detail {

// Rows [first, first + n) of the leading visible axis, which goes when `drop` (n is 1 then). Not recorded.
NAX_ENGINE ArrayBase rows_view(const ArrayBase& x, std::int64_t first, std::int64_t n, bool drop);

// Array x taken apart at plan.starts. Its results are the parts.
template <class T>
struct PartsNode final : CallNode {
  std::uint64_t serial;
  JoinPlan plan;

  PartsNode(std::uint64_t of, JoinPlan p) : serial(of), plan(std::move(p)) {}
  Watchers watchers(const Tape& tape) const override { return tape.watchers(serial); }
  void pull_call(std::vector<ArrayBase> cotangents, Reverse& sweep) override {
    if (!sweep.wants(serial)) return;
    std::vector<Array<T>> list;
    for (std::size_t i = 0; i < cotangents.size(); ++i) {
      if (holds_value(cotangents[i])) {
        list.push_back(typed<T>(std::move(cotangents[i])));
      } else {
        Frame part{plan.part(Frame{plan.shape, {}}, i).result_shape(), {}};
        list.push_back(zeros_over<T>(part));
      }
    }
    sweep.add(serial, join(list, plan));
  }
  std::vector<ArrayBase> push_call(Forward& sweep) override {
    std::vector<ArrayBase> parts;
    if (const ArrayBase* t = sweep.find(serial)) {
      const Array<T> tangent = typed<T>(*t);
      for (std::size_t i = 0; i + 1 < plan.starts.size(); ++i)
        parts.push_back(get(tangent, plan.part(layout_of(tangent), i)));
    }
    return parts;
  }
};

// The parts of x between `starts`, rows without their axis when `drop`. Recorded.
template <class T>
std::vector<ArrayBase> cut_rows(const Array<T>& x, std::vector<std::int64_t> starts, bool drop) {
  std::vector<Array<T>> parts;
  parts.reserve(starts.size());
  for (std::size_t i = 0; i + 1 < starts.size(); ++i)
    parts.push_back(typed<T>(rows_view(x, starts[i], starts[i + 1] - starts[i], drop)));
  if constexpr (is_inexact_v<T>)
    if (!parts.empty() && is_recorded(x)) {
      JoinPlan plan{0, drop, std::move(starts), x.shape()};
      record_call<PartsNode<T>>(parts, serial_of(x), std::move(plan));
    }
  return std::vector<ArrayBase>(std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
}

inline std::vector<std::int64_t> row_starts(std::int64_t rows, std::int64_t step) {
  std::vector<std::int64_t> starts{0};
  while (starts.back() < rows) starts.push_back(std::min(starts.back() + step, rows));
  return starts;
}

// The common length of the leading axes of a tree's arrays; -1 where it has none. Throws where they differ.
template <class Tree>
std::int64_t leading_extent(const char* function, const Tree& t) {
  std::int64_t length = -1;
  Shape first;
  tree::for_each(
      [&](const auto& leaf) {
        if constexpr (is_array_v<decltype(leaf)>) {
          check_operand(function, leaf);
          if (leaf.ndim() == 0)
            raise<ShapeError>({function, ": xs has an array of no axes; each must have a leading one"});
          if (length >= 0 && leaf.shape(0) != length)
            raise<ShapeError>(
                {function, ": the leading axes of xs differ: shapes ", first, " and ", leaf.shape()});
          if (length < 0) length = leaf.shape(0), first = leaf.shape();
        }
      },
      t);
  return length;
}

// A tree of arrays, row by row, or `step` rows at a time (then their axis stays).
template <class Tree>
class RowReader {
 public:
  RowReader(const Tree& t, std::int64_t rows, std::int64_t step, bool drop)
      : tree_(t), starts_(row_starts(rows, step)), drop_(drop) {
    for_each_input(t, [&](const auto& leaf) {
      parts_.emplace_back();
      if (is_recorded(leaf)) parts_.back() = cut_rows(leaf, starts_, drop_);
    });
  }
  std::int64_t count() const { return static_cast<std::int64_t>(starts_.size()) - 1; }
  std::int64_t extent(std::int64_t i) const { return starts_[at(i) + 1] - starts_[at(i)]; }
  Tree operator()(std::int64_t i) const {
    if constexpr (is_array_v<Tree>) {
      if (parts_.empty() || parts_[0].empty())
        return typed<typename Tree::value_type>(rows_view(tree_, starts_[at(i)], extent(i), drop_));
      return typed<typename Tree::value_type>(parts_[0][at(i)]);
    } else {
      Tree row = tree_;
      std::size_t input = 0;
      tree::for_each(
          [&](auto& leaf) {
            using Leaf = std::remove_cvref_t<decltype(leaf)>;
            if constexpr (is_array_v<Leaf>) {
              if constexpr (is_inexact_v<typename Leaf::value_type>) {
                const auto& parts = parts_[input++];
                if (!parts.empty()) {
                  leaf = typed<typename Leaf::value_type>(parts[at(i)]);
                  return;
                }
              }
              leaf = typed<typename Leaf::value_type>(rows_view(leaf, starts_[at(i)], extent(i), drop_));
            }
          },
          row);
      return row;
    }
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  const Tree& tree_;
  std::vector<std::int64_t> starts_;
  bool drop_;
  std::vector<std::vector<ArrayBase>> parts_;  // of the floating arrays that are watched
};

// The rows of one array that is being made. While they are not recorded they are written where they belong;
// else they wait in a list.
class RowWriter {
 public:
  // Row i of n.
  void put(const char* function, const ArrayBase& row, std::int64_t i, std::int64_t n);
  template <class T>
  Array<T> finish(const char* function) {
    if (done_.empty()) return typed<T>(std::move(whole_));
    std::vector<Array<T>> list;
    for (ArrayBase& row : done_) list.push_back(typed<T>(std::move(row)));
    return stack_on(function, list, 0);
  }

 private:
  void start(const ArrayBase& row, std::int64_t n) {
    if (ArrayAccess::buffer(whole_)) return;
    Frame frame = frame_;
    frame.shape.insert(frame.levels.size(), n);
    whole_ = allocate(row.dtype(), frame, row.device());
    bytes_ = static_cast<std::size_t>(frame_.size()) * dtype_size(row.dtype());
    plain_ = frame_.levels.empty() && !on_accelerator(row);
    if (!plain_) return;
    data_ = raw_data(whole_);
  }
  void write(const ArrayBase& row, std::int64_t i) {
    if (plain_ && layout_of(row).is_contiguous()) {
      if (bytes_) std::memcpy(data_ + static_cast<std::size_t>(i) * bytes_, raw_data(row), bytes_);
    } else {
      copy_into(row, rows_view(whole_, i, 1, true));
    }
  }
  Frame frame_;
  ArrayBase whole_ = ArrayAccess::unset();
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool plain_ = false, begun_ = false;
  std::vector<std::int64_t> order_;
  std::vector<ArrayBase> done_;
};

// Writes the rows of a tree of arrays.
template <class Tree>
class TreeWriter {
 public:
  explicit TreeWriter(const char* function) : function_(function) {}
  void put(const Tree& row, std::int64_t i, std::int64_t n) {
    std::size_t leaf_index = 0;
    tree::for_each(
        [&](const auto& leaf) {
          if constexpr (is_array_v<decltype(leaf)>) {
            if (leaf_index == leaves_.size()) {
              if (begun_) throw_differ();
              leaves_.emplace_back();
            }
            leaves_[leaf_index++].put(function_, leaf, i, n);
          }
        },
        row);
    if (leaf_index != leaves_.size()) throw_differ();
    begun_ = true;
  }
  // `like`: any of the rows.
  Tree finish(Tree like) {
    std::size_t leaf_index = 0;
    tree::for_each(
        [&](auto& leaf) {
          using Leaf = std::remove_cvref_t<decltype(leaf)>;
          if constexpr (is_array_v<Leaf>)
            leaf = leaves_[leaf_index++].template finish<typename Leaf::value_type>(function_);
        },
        like);
    return like;
  }

 private:
  [[noreturn, gnu::cold]] void throw_differ() const {
    raise<ValueError>({function_, ": the outputs of the steps are trees of different structures"});
  }
  const char* function_;
  std::vector<RowWriter> leaves_;
  bool begun_ = false;
};

// Returns arrays with 0 rows, shaped like those of `row`.
template <class Tree>
Tree no_rows(Tree row) {
  tree::for_each(
      [&](auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) {
          Frame frame = layout_of(leaf);
          frame.shape.insert(frame.levels.size(), 0);
          leaf = typed<typename Leaf::value_type>(allocate(leaf.dtype(), frame, leaf.device()));
        }
      },
      row);
  return row;
}

// Trees of parts along the leading axis as one.
template <class Tree>
Tree join_trees(const char* function, const std::vector<Tree>& parts) {
  std::vector<std::vector<ArrayBase>> leaves;
  for (const Tree& part : parts) {
    std::size_t i = 0;
    tree::for_each(
        [&](const auto& leaf) {
          if constexpr (is_array_v<decltype(leaf)>) {
            if (i == leaves.size()) leaves.emplace_back();
            leaves[i++].push_back(leaf);
          }
        },
        part);
  }
  Tree out = parts.at(0);
  std::size_t i = 0;
  tree::for_each(
      [&](auto& leaf) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<Leaf>) {
          std::vector<Leaf> list;
          for (ArrayBase& one : leaves[i++]) list.push_back(typed<typename Leaf::value_type>(std::move(one)));
          leaf = concatenate_on(function, list, 0);
        }
      },
      out);
  return out;
}

// A result of the user's function as a tree of arrays; what is one already is handed on.
template <class X>
auto to_arrays(X&& x) {
  using U = std::remove_cvref_t<X>;
  if constexpr (is_array_v<U>)
    return U(std::forward<X>(x));
  else
    return array_tree(x);
}
template <class X>
using arrays_t = decltype(to_arrays(std::declval<X>()));

// The shapes of a carry's arrays: a loop's body must not change them.
class CarryShapes {
 public:
  template <class Tree>
  explicit CarryShapes(const Tree& carry) {
    tree::for_each(
        [&](const auto& leaf) {
          if constexpr (is_array_v<decltype(leaf)>) shapes_.push_back(leaf.shape());
        },
        carry);
  }
  template <class Tree>
  void check(const char* function, const Tree& carry) const {
    std::size_t i = 0;
    tree::for_each(
        [&](const auto& leaf) {
          if constexpr (is_array_v<decltype(leaf)>) check_one(function, leaf, i++);
        },
        carry);
    if (i != shapes_.size()) throw_count(function, i);
  }

 private:
  void check_one(const char* function, const ArrayBase& leaf, std::size_t i) const;
  [[noreturn, gnu::cold]] void throw_count(const char* function, std::size_t found) const {
    raise<ValueError>({function, ": the body changes the structure of the carry: ", shapes_.size(),
                       " arrays in, ", found, " out"});
  }
  std::vector<Shape> shapes_;
};

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/lax/parts-inl.hpp"
#endif
