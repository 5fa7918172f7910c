#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "nax/transform/map_loops.hpp"

NAX_BEGIN

struct VectorizeOptions {
  std::vector<int> excluded = {};  // arguments that are handed on as they are
  std::string signature = {};      // NumPy's: "(m,n),(n)->(m)"
};

namespace detail {

// A generalised ufunc's signature: the names of the core axes of arguments and results.
struct UfuncSignature {
  using Core = std::vector<std::string>;
  std::vector<Core> in, out;

  static UfuncSignature parse(const std::string& text_);
};

// The extents of core axes, by name, as arguments and then outputs are read.
class CoreSizes {
 public:
  void read(const UfuncSignature::Core& core, const Shape& shape, std::size_t argument);
  void read_output(const UfuncSignature::Core& core, const Shape& shape, std::size_t output);

 private:
  std::int64_t size_of(const std::string& name, std::int64_t extent);

  std::map<std::string, std::int64_t> sizes_;
};

template <class X>
void check_core(const X& y, const std::vector<UfuncSignature::Core>& out, CoreSizes& sizes, std::size_t i) {
  if constexpr (is_array_v<X>) {
    if (i >= out.size()) return;
    if (y.ndim() != static_cast<int>(out[i].size()))
      raise<ValueError>({"vectorize: output ", i, " has shape ", y.shape(), " but the signature gives it ",
                         out[i].size(), " core dimension(s)"});
    sizes.read_output(out[i], y.shape(), i);
  }
}
template <class X>
inline constexpr bool is_tuple_like_v = false;
template <class... X>
inline constexpr bool is_tuple_like_v<std::tuple<X...>> = true;
template <class A, class B>
inline constexpr bool is_tuple_like_v<std::pair<A, B>> = true;

template <class F>
class Vectorized {
 public:
  Vectorized(F f, VectorizeOptions options) : f_(std::move(f)), options_(std::move(options)) {
    if (!options_.signature.empty()) signature_ = UfuncSignature::parse(options_.signature);
  }
  template <class... A>
  auto operator()(const A&... args) const {
    return std::apply([&](const auto&... a) { return call(a...); }, lift_for<F>(args...));
  }

 private:
  template <class... A>
  auto call(const A&... args) const {
    const bool named = !options_.signature.empty();
    std::vector<int> cores;
    CoreSizes sizes;
    Frame loops;
    std::size_t i = 0, input = 0;
    const auto read = [&](const auto& argument) {
      int core = -1;
      const bool excluded = std::find(options_.excluded.begin(), options_.excluded.end(),
                                      static_cast<int>(i)) != options_.excluded.end();
      if constexpr (is_array_v<decltype(argument)>) {
        check_operand("vectorize", argument);
        if (!excluded) {
          if (named && input >= signature_.in.size()) throw_count(sizeof...(A));
          core = named ? static_cast<int>(signature_.in[input].size()) : 0;
          if (named) sizes.read(signature_.in[input], argument.shape(), i);
          Dims own = argument.shape();
          own.resize_for_overwrite(own.size() - static_cast<std::size_t>(core));
          loops = broadcast("vectorize", loops, Frame{own, {}});
          ++input;
        }
      }
      cores.push_back(core);
      ++i;
    };
    (read(args), ...);
    if (named && input != signature_.in.size()) throw_count(sizeof...(A));
    const auto checked = [this, named, &sizes](const A&... a) {
      auto y = array_tree(f_(a...));
      if (named) check_outputs(y, sizes);
      return y;
    };
    return map_loops("vectorize", checked, loops.shape, cores, args...);
  }
  template <class Y>
  void check_outputs(const Y& y, CoreSizes sizes) const {
    if constexpr (is_tuple_like_v<Y>)
      std::apply([&, i = std::size_t{0}](
                     const auto&... part) mutable { (check_core(part, signature_.out, sizes, i++), ...); },
                 y);
    else
      check_core(y, signature_.out, sizes, 0);
  }
  [[noreturn, gnu::cold]] void throw_count(std::size_t arguments) const {
    raise<TypeError>({"vectorize: wrong number of positional arguments: ", arguments, " for the signature ",
                      options_.signature});
  }

  F f_;
  VectorizeOptions options_;
  UfuncSignature signature_;
};

}  // namespace detail

// f over arrays: the axes before the core axes that the signature names (none without one) broadcast and are
// mapped by vmap. vectorize([](const auto& a, const auto& v) { return matmul(a, v); }, {.signature =
// "(m,n),(n)->(m)"}). f sees the core axes only and runs once. Throws ValueError where core axes of one name
// of arguments differ, ShapeError where those of results do, TypeError for a wrong number of arguments.
template <class F>
auto vectorize(F f, VectorizeOptions options = {}) {
  return detail::transformed<detail::CheckCall, F>(
      [g = detail::Vectorized<F>(std::move(f), std::move(options))](const auto&... args) {
        return g(args...);
      });
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/transform/vectorize-inl.hpp"
#endif
