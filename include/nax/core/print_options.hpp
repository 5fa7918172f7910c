#pragma once

#include <mutex>
#include <optional>
#include <type_traits>

#include "nax/core/at_fork.hpp"
#include "nax/core/error.hpp"

// How arrays print: NumPy's options and their defaults, one set for the process.
NAX_BEGIN

struct PrintOptions {
  int precision = 8;     // most digits after the point
  int threshold = 1000;  // more elements than this are summarised
  int edgeitems = 3;     // items kept at each end of a summarised axis
  int linewidth = 75;
  bool suppress = false;  // never the exponential form for small numbers
};

// Changes for set_printoptions; options that are not named stay.
struct PrintOptionsChange {
  std::optional<int> precision = {};
  std::optional<int> threshold = {};
  std::optional<int> edgeitems = {};
  std::optional<int> linewidth = {};
  std::optional<bool> suppress = {};
};

namespace detail {

struct SharedPrintOptions {
  ForkMutex mutex;
  PrintOptions options;
};
inline SharedPrintOptions& shared_print_options() {
  static SharedPrintOptions shared;
  return shared;
}

inline void check_print_option(const char* name, int value) {
  if (value < 0) raise<ValueError>({"set_printoptions: ", name, " must be >= 0"});
}

}  // namespace detail

// The options that printing uses now.
NAX_ENGINE PrintOptions get_printoptions();

// set_printoptions(get_printoptions()) changes nothing. (A template, so that braces mean a change.)
template <class Options>
requires std::is_same_v<Options, PrintOptions>
void set_printoptions(const Options& options) {
  detail::check_print_option("precision", options.precision);
  detail::check_print_option("threshold", options.threshold);
  detail::check_print_option("edgeitems", options.edgeitems);
  detail::check_print_option("linewidth", options.linewidth);
  auto& shared = detail::shared_print_options();
  std::lock_guard lock(shared.mutex);
  shared.options = options;
}

// set_printoptions({.precision = 3}): the others stay as they are.
NAX_ENGINE void set_printoptions(const PrintOptionsChange& change);

// NumPy's context manager: `auto scope = nax::printoptions({.precision = 3});` until the end of the block.
class [[nodiscard]] PrintOptionsScope {
 public:
  explicit PrintOptionsScope(const PrintOptionsChange& change) : before_(get_printoptions()) {
    set_printoptions(change);
  }
  PrintOptionsScope(const PrintOptionsScope&) = delete;
  PrintOptionsScope& operator=(const PrintOptionsScope&) = delete;
  ~PrintOptionsScope() { set_printoptions(before_); }

 private:
  PrintOptions before_;
};
// Changes the options of printing while the returned object lives.
inline PrintOptionsScope printoptions(const PrintOptionsChange& change) { return PrintOptionsScope(change); }

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN

NAX_ENGINE PrintOptions get_printoptions() {
  auto& shared = detail::shared_print_options();
  std::lock_guard lock(shared.mutex);
  return shared.options;
}

NAX_ENGINE void set_printoptions(const PrintOptionsChange& change) {
  PrintOptions o = get_printoptions();
  o.precision = change.precision.value_or(o.precision);
  o.threshold = change.threshold.value_or(o.threshold);
  o.edgeitems = change.edgeitems.value_or(o.edgeitems);
  o.linewidth = change.linewidth.value_or(o.linewidth);
  o.suppress = change.suppress.value_or(o.suppress);
  set_printoptions(o);
}

NAX_END
#endif
