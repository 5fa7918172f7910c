#pragma once

#include <cstdint>
#include <memory>

#include "nax/modules/data/dataset.hpp"

NAX_BEGIN
namespace data {
namespace detail {

// Numbers in steps.
class RangeSource final : public IndexedStage<std::int64_t> {
 public:
  RangeSource(std::int64_t start, std::int64_t stop, std::int64_t step)
      : numbers_(std::make_shared<Numbers>(start, stop, step)) {}
  void describe(Fingerprint& print) const override {
    print.add("range"), print.add(numbers_->start), print.add(numbers_->step), print.add(numbers_->count);
  }
  std::int64_t size() const override { return numbers_->count; }
  std::shared_ptr<const Access<std::int64_t>> access(const Context&) const override { return numbers_; }

 private:
  struct Numbers final : Access<std::int64_t> {
    Numbers(std::int64_t first, std::int64_t stop, std::int64_t by) : start(first), step(by) {
      if (step == 0) throw ValueError("range: the step must not be 0");
      const auto apart = step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
                                  : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
      const auto by_size =
          step > 0 ? static_cast<std::uint64_t>(step) : std::uint64_t{0} - static_cast<std::uint64_t>(step);
      const bool none = step > 0 ? stop <= start : stop >= start;
      const std::uint64_t n = none ? 0 : (apart - 1) / by_size + 1;
      if (n > static_cast<std::uint64_t>(INT64_MAX)) throw ValueError("range: too many numbers");
      count = static_cast<std::int64_t>(n);
    }
    std::int64_t size() const override { return count; }
    std::int64_t at(std::int64_t i) const override {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(start) +
                                       static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(step));
    }
    std::int64_t start, step, count;
  };
  std::shared_ptr<const Numbers> numbers_;
};

}  // namespace detail

NAX_ENGINE Dataset<std::int64_t> range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  return Dataset<std::int64_t>(std::make_shared<detail::RangeSource>(start, stop, step));
}
NAX_ENGINE Dataset<std::int64_t> range(std::int64_t stop) { return range(0, stop, 1); }

}  // namespace data
NAX_END
