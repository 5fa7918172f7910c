#pragma once

#include <cmath>

#include "nax/lax/parts.hpp"
#include "nax/lax/recorded_loops.hpp"
#include "nax/transform/checkpoint.hpp"

// scan: a loop that carries a tree along and stacks what its steps give.
NAX_BEGIN
namespace lax {

// How much of a loop a gradient keeps: every step (false), the carries at about sqrt(n) places (true), or
// those of every so many steps (a number). What is not kept is computed once more by the sweep: the step's
// function is then called after scan has returned, so that it must capture by value, [=], what it uses.
class CheckpointEvery {
 public:
  CheckpointEvery() = default;
  template <class B>
  requires std::same_as<B, bool> CheckpointEvery(B on) : steps_(on ? 0 : -1) {}
  template <std::integral I>
  requires(!std::same_as<I, bool>) CheckpointEvery(I steps) : steps_(static_cast<std::int64_t>(steps)) {
    if (steps < 1) raise<ValueError>({"scan: checkpoint must be true or at least 1 step, not ", steps_});
  }
  bool on() const { return steps_ >= 0; }
  std::int64_t steps(std::int64_t n) const {
    return steps_ > 0 ? steps_
                      : std::max<std::int64_t>(
                            1, static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(n)))));
  }

 private:
  std::int64_t steps_ = -1;
};

struct ScanOptions {
  bool reverse = false;                     // from the last row to the first
  std::optional<std::int64_t> length = {};  // of the loop, where xs does not tell
  std::int64_t unroll = 1;                  // accepted for JAX's sake: steps run as they are
  CheckpointEvery checkpoint = {};
};

}  // namespace lax

namespace detail {

// One call of a scan's function: f(carry, x), or f(carry) where there is no xs.
template <class F, class C, class X>
auto call_step(const F& f, C&& carry, const X& x) {
  if constexpr (!std::is_same_v<X, None>)
    return f(std::forward<C>(carry), x);
  else if constexpr (std::is_invocable_v<const F&, C>)
    return f(std::forward<C>(carry));
  else
    return f(std::forward<C>(carry), none);
}

template <class R>
concept CarryAndOutput = requires(R r) {
  std::tuple_size<R>::value;
  requires std::tuple_size<R>::value == 2;
};

template <class F, class C, class X>
constexpr bool can_step() {
  if constexpr (!std::is_same_v<X, None>)
    return std::is_invocable_v<const F&, C, const X&>;
  else if constexpr (std::is_invocable_v<const F&, C>)
    return true;
  else
    return std::is_invocable_v<const F&, C, None>;
}
template <class F, class C, class X>
inline constexpr bool takes_step = can_step<F, C, X>();

template <class F, class C, class X>
struct StepTypes {
  static_assert(takes_step<F, C, X>,
                "lax::scan: f cannot be called with the carry and a row of xs: f(carry, x), or f(carry) "
                "where xs is none");
  using Result = std::remove_cvref_t<decltype(call_step(std::declval<const F&>(), std::declval<C>(),
                                                        std::declval<const X&>()))>;
  static_assert(CarryAndOutput<Result>, "lax::scan: f must return std::pair{carry, y}");
  using Carry = arrays_t<std::tuple_element_t<0, Result>>;
  using Output = arrays_t<std::tuple_element_t<1, Result>>;
};

// A number as initial carry takes the type that f makes of it, as JAX's weak types do.
template <class F, class Init, class X>
auto initial_carry(const Init& init) {
  auto carry = to_arrays(lift_as<parameter_t<F, 0>>(init));
  using Carry = decltype(carry);
  if constexpr (Scalar<Init> && takes_step<F, Carry, X>) {
    using After = typename StepTypes<F, Carry, X>::Carry;
    if constexpr (is_array_v<After> && !std::is_same_v<After, Carry>) {
      return After(static_cast<typename After::value_type>(init));
    } else {
      return carry;
    }
  } else {
    return carry;
  }
}

// The loop itself, over rows that are given one by one.
template <class Output, class F, class C, class Rows>
std::pair<C, Output> scan_rows(const F& f, C carry, const Rows& row, std::int64_t n, bool reverse) {
  const CarryShapes shapes(carry);
  TreeWriter<Output> outputs("scan");
  std::optional<Output> last;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t i = reverse ? n - 1 - k : k;
    auto step = call_step(f, std::move(carry), row(i));
    carry = to_arrays(std::get<0>(std::move(step)));
    shapes.check("scan", carry);
    if (k + 1 == n) {
      last.emplace(to_arrays(std::get<1>(std::move(step))));
      outputs.put(*last, i, n);
    } else {
      outputs.put(to_arrays(std::get<1>(std::move(step))), i, n);
    }
  }
  return {std::move(carry), outputs.finish(std::move(*last))};
}

struct NoRows {
  None operator()(std::int64_t) const { return none; }
};

template <class Output, class F, class C, class Xs>
std::pair<C, Output> scan_plain(const F& f, C carry, const Xs& xs, std::int64_t n, bool reverse) {
  if constexpr (std::is_same_v<Xs, None>)
    return scan_rows<Output>(f, std::move(carry), NoRows(), n, reverse);
  else
    return scan_rows<Output>(f, std::move(carry), RowReader<Xs>(xs, n, 1, true), n, reverse);
}

// A scan of no steps: f runs once on zeros, unwatched, to tell what its outputs look like.
template <class Output, class F, class C, class Xs>
std::pair<C, Output> scan_nothing(const F& f, C carry, const Xs& xs) {
  const RecordOn off(nullptr);
  const auto outputs = [&](const auto& x) {
    return no_rows(Output(to_arrays(std::get<1>(call_step(f, C(carry), x)))));
  };
  if constexpr (std::is_same_v<Xs, None>) {
    return {carry, outputs(none)};
  } else {
    Xs row = xs;
    tree::for_each(
        [](auto& leaf) {
          using Leaf = std::remove_cvref_t<decltype(leaf)>;
          if constexpr (is_array_v<Leaf>) {
            Frame frame = layout_of(leaf);
            frame.shape.erase(frame.levels.size());
            leaf = zeros_over<typename Leaf::value_type>(frame, leaf.device());
          }
        },
        row);
    return {carry, outputs(row)};
  }
}

template <class Output, class F, class C, class Xs>
std::pair<C, Output> scan_checkpointed(const F& f, C carry, const Xs& xs, std::int64_t n, std::int64_t step,
                                       bool reverse) {
  const auto some = checkpoint([f, reverse](const C& from, const Xs& rows, std::int64_t count) {
    return scan_plain<Output>(f, from, rows, count, reverse);
  });
  const std::int64_t parts = n / step + (n % step != 0);
  std::vector<Output> outputs(static_cast<std::size_t>(parts));
  const auto run = [&](std::int64_t i, const Xs& rows) {
    auto [next, out] = some(carry, rows, std::min(step, n - i * step));
    carry = std::move(next);
    outputs[static_cast<std::size_t>(i)] = std::move(out);
  };
  if constexpr (std::is_same_v<Xs, None>) {
    for (std::int64_t k = 0; k < parts; ++k) run(reverse ? parts - 1 - k : k, none);
  } else {
    const RowReader<Xs> reader(xs, n, step, false);
    for (std::int64_t k = 0; k < parts; ++k) {
      const std::int64_t i = reverse ? parts - 1 - k : k;
      run(i, reader(i));
    }
  }
  return {std::move(carry), join_trees("scan", outputs)};
}

// The loop as one step of a program that is being recorded: f is called once.
template <class Output, class F, class C, class Xs>
std::pair<C, Output> scan_recorded(const F& f, const C& carry, const Xs& xs, std::int64_t n, bool reverse) {
  LoopArrays own, rows;
  list_arrays(carry, own);
  if constexpr (!std::is_same_v<Xs, None>) list_arrays(xs, rows);
  const CarryShapes shapes(carry);
  std::optional<Output> like;
  RecordedScan done = record_scan(
      [&](LoopArrays& inputs) {
        std::size_t at = 0;
        C now = with_arrays(carry, inputs, at);
        auto step = call_step(f, std::move(now), [&] {
          if constexpr (std::is_same_v<Xs, None>)
            return none;
          else
            return with_arrays(xs, inputs, at);
        }());
        const C next = to_arrays(std::get<0>(std::move(step)));
        shapes.check("scan", next);
        like.emplace(to_arrays(std::get<1>(std::move(step))));
        LoopArrays outputs;
        list_arrays(next, outputs);
        list_arrays(*like, outputs);
        return outputs;
      },
      std::move(own), rows, n, reverse);
  std::size_t at = 0, row = 0;
  C last = with_arrays(carry, done.carry, at);
  std::pair<C, Output> out{std::move(last), with_arrays(std::move(*like), done.ys, row)};
  return out;
}

// The recorded loop as a loop of parts. A sweep records each part anew, from the carries between them.
template <class Output, class F, class C, class Xs>
std::pair<C, Output> scan_recorded_in_parts(const F& f, C carry, const Xs& xs, std::int64_t n,
                                            std::int64_t step, bool reverse) {
  const auto part = checkpoint([f, reverse](const C& from, const Xs& rows, std::int64_t count) {
    return count == 1 ? scan_plain<Output>(f, from, rows, count, reverse)
                      : scan_recorded<Output>(f, from, rows, count, reverse);
  });
  const std::int64_t parts = n / step, whole = parts * step;
  const auto reshaped = [](auto tree, std::int64_t dropped, std::initializer_list<std::int64_t> leading) {
    tree::for_each(
        [&](auto& leaf) {
          if constexpr (is_array_v<std::remove_cvref_t<decltype(leaf)>>) {
            const Shape shape = leaf.shape();
            std::vector<std::int64_t> extents(leading);
            extents.insert(extents.end(), shape.begin() + dropped, shape.end());
            leaf = reshape(leaf, Shape(extents));
          }
        },
        tree);
    return tree;
  };
  std::vector<Output> outputs;
  const auto run_whole = [&](const Xs& rows) {
    const auto step_of_parts = [&](const C& from, const Xs& some) { return part(from, some, step); };
    auto [next, out] = [&] {
      if constexpr (std::is_same_v<Xs, None>)
        return scan_recorded<Output>(step_of_parts, carry, rows, parts, reverse);
      else
        return scan_recorded<Output>(step_of_parts, carry, reshaped(rows, 1, {parts, step}), parts, reverse);
    }();
    carry = std::move(next);
    outputs.push_back(reshaped(std::move(out), 2, {whole}));
  };
  const auto run_rest = [&](const Xs& rows) {
    auto [next, out] = part(carry, rows, n - whole);
    carry = std::move(next);
    outputs.push_back(std::move(out));
  };
  const auto run = [&](const auto& rows_at) {
    if (whole < n && reverse) run_rest(rows_at(1));
    run_whole(rows_at(0));
    if (whole < n && !reverse) run_rest(rows_at(1));
    if (outputs.size() == 2 && reverse) std::swap(outputs[0], outputs[1]);
  };
  if constexpr (std::is_same_v<Xs, None>)
    run([](int) { return none; });
  else
    run(RowReader<Xs>(xs, n, whole, false));
  return {std::move(carry), outputs.size() == 1 ? std::move(outputs[0]) : join_trees("scan", outputs)};
}

template <class Xs>
std::int64_t scan_length(const char* function, const Xs& xs, std::optional<std::int64_t> given) {
  std::int64_t n = -1;
  if constexpr (!std::is_same_v<Xs, None>) n = leading_extent(function, xs);
  if (given && *given < 0) raise<ValueError>({function, ": length must not be negative: ", *given});
  if (n >= 0 && given && *given != n)
    raise<ValueError>({function, ": length is ", *given, " but the leading axes of xs have ", n, " rows"});
  if (n < 0 && !given)
    raise<ValueError>({function, ": xs has no arrays and length is not given: how many steps?"});
  return n >= 0 ? n : *given;
}

}  // namespace detail

namespace lax {

// {carry, ys}: f(carry, x) -> pair{carry, y} for each row x of the trees xs in turn, the carry handed on and
// the ys stacked along a new leading axis. Where xs is `none`, f(carry) runs {.length} times. Carry and y may
// be trees of any form; the carry keeps its types (checked when compiled) and shapes. Throws ShapeError where
// leading axes or shapes disagree, ValueError for lengths that do.
template <class F, class Init, class Xs>
auto scan(const F& f, const Init& init, const Xs& xs_, const ScanOptions& options = {}) {
  using namespace detail;
  auto xs = [&] {
    if constexpr (std::is_same_v<Xs, None>)
      return none;
    else
      return to_arrays(xs_);
  }();
  using Rows = std::remove_cvref_t<decltype(xs)>;
  auto carry = initial_carry<F, Init, Rows>(init);
  using Carry = decltype(carry);
  using Types = StepTypes<F, Carry, Rows>;
  static_assert(std::is_same_v<typename Types::Carry, Carry>,
                "lax::scan: the carry that f returns must have the type of init: a tree of the same arrays");
  using Output = typename Types::Output;
  if (options.unroll < 1) raise<ValueError>({"scan: unroll must be at least 1, not ", options.unroll});
  tree::for_each(
      [](const auto& leaf) {
        if constexpr (is_array_v<decltype(leaf)>) check_operand("scan", leaf);
      },
      carry);
  const std::int64_t n = scan_length("scan", xs, options.length);
  if (n == 0) return scan_nothing<Output>(f, std::move(carry), xs);
  if (options.checkpoint.on() && recording.tape) {
    const std::int64_t step = std::min(n, options.checkpoint.steps(n));
    return records_loop(n) ? scan_recorded_in_parts<Output>(f, std::move(carry), xs, n, step, options.reverse)
                           : scan_checkpointed<Output>(f, std::move(carry), xs, n, step, options.reverse);
  }
  if (records_loop(n)) return scan_recorded<Output>(f, carry, xs, n, options.reverse);
  return scan_plain<Output>(f, std::move(carry), xs, n, options.reverse);
}

}  // namespace lax
NAX_END
