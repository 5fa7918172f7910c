#pragma once

#include <string>
#include <vector>

#include "nax/program/record/recording.hpp"

NAX_BEGIN
namespace program {

// Finds the first thing that is wrong with a step's work.
class WorkCheck {
 public:
  explicit WorkCheck(const std::vector<Operand>& operands) : operands_(operands) {}
  // The work reads, or writes, these bytes, counted from the operand's address.
  void reads(int operand, std::int64_t first, std::int64_t bytes) { touches(operand, first, bytes, false); }
  void writes(int operand, std::int64_t first, std::int64_t bytes) { touches(operand, first, bytes, true); }
  NAX_ENGINE void expect(bool holds, const char* problem);
  // Empty where nothing is wrong.
  const std::string& problem() const { return problem_; }

 private:
  NAX_ENGINE void touches(int operand, std::int64_t first, std::int64_t bytes, bool written);

  const std::vector<Operand>& operands_;
  std::string problem_;
};

}  // namespace program
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/record/work_check-inl.hpp"
#endif
