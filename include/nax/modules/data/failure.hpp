#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "nax/core/error.hpp"

// The exception that reaches the loop when a stage throws: the stage, the origin of its element, and the text
// that the exception had, which is nested within.
NAX_BEGIN
namespace data::detail {

// Something that can say where its elements came from.
struct Describes {
  Describes() = default;
  Describes(const Describes&) = delete;
  Describes& operator=(const Describes&) = delete;
  virtual ~Describes() = default;
  virtual std::string source(std::int64_t i) const { return "element " + std::to_string(i); }
};

struct Origin {
  std::shared_ptr<const Describes> from;
  std::int64_t index = 0;

  std::string text() const { return from ? from->source(index) : "an element"; }
};

template <class E>
[[noreturn]] void throw_again(const std::string& stage, const std::string& source, const E& error) {
  std::throw_with_nested(E(stage + ": " + source + ": " + error.what()));
}

// Inside a catch block. An error of nax keeps its class; anything else becomes an Error.
[[noreturn, gnu::cold]] NAX_ENGINE void rethrow_from(const std::string& stage, const std::string& source);

// A stage's name in messages: its kind, and what its user called it.
NAX_ENGINE std::string stage_label(const char* kind, const std::string& name);

[[gnu::cold]] NAX_ENGINE void check_not_negative(const char* function, const char* what, std::int64_t n);

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/failure-inl.hpp"
#endif
