#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "nax/backend/operations.hpp"
#include "nax/ops/table.hpp"
#include "nax/program/record/recording.hpp"

NAX_BEGIN
namespace program::detail {

// An operation of the host, at the addresses of a replay.
class CallWork final : public Work {
 public:
  // `given`: where in the step's operands each of the form's is, -1: nowhere; empty where all are in order.
  CallWork(ops::Op op, std::shared_ptr<const void> form, std::vector<int> given = {})
      : op_(op), form_(std::move(form)), given_(std::move(given)) {}
  // The form, if it is one of this operation.
  template <class Form>
  const Form* form() const {
    return op_ == ops::OpOf<Form>::value ? static_cast<const Form*>(form_.get()) : nullptr;
  }
  ops::Op op() const { return op_; }
  const void* form() const { return form_.get(); }
  // Where in the step's operands the form's is, -1: nowhere.
  int place(std::size_t operand) const {
    return given_.empty() ? static_cast<int>(operand) : given_[operand];
  }
  // Wrong elements are reported by the function itself, which is then called.
  void run(void* const* at) const override {
    if (given_.empty()) return call(at);
    void* data[ops::most_operands] = {};
    for (std::size_t i = 0; i < given_.size(); ++i) data[i] = given_[i] < 0 ? nullptr : at[given_[i]];
    call(data);
  }

 private:
  void call(void* const* data) const {
    if (backend::host_operations().run({op_, Device(), form_.get(), data}).value_or(false))
      throw Unforeseen();
  }

  ops::Op op_;
  std::shared_ptr<const void> form_;
  std::vector<int> given_;
};

template <class Form>
std::shared_ptr<const Work> work_of(Form form) {
  return std::make_shared<const CallWork>(ops::OpOf<Form>::value,
                                          std::make_shared<const Form>(std::move(form)));
}

}  // namespace program::detail
NAX_END
