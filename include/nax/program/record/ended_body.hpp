#pragma once

#include "nax/program/record/loop.hpp"

// Bodies after their recording: which of their values are kept, and where. Programs are made of them when the
// outer recording ends.
NAX_BEGIN
namespace program {

// Bytes of a row that is kept: rows begin at lines of the cache.
inline std::int64_t padded(std::int64_t bytes) { return std::max<std::int64_t>(64, (bytes + 63) / 64 * 64); }

// The body of a step of the recording that was going on when it was made.
class EndedBody : public RecordedBody {
 public:
  // Where a value lies in the row of xs' first element, in the memory of the recording that has the step, and
  // how far the next one is.
  struct Rows {
    char* first;
    std::int64_t step;
  };
  EndedBody(const EndedBody&) = delete;
  EndedBody& operator=(const EndedBody&) = delete;
  NAX_ENGINE_VIRTUAL ~EndedBody() override;

  virtual const Work* work() const = 0;
  const BodyRecording& body() const { return *body_; }
  // Slots of the body that are the arguments and results of its program, in the order of the work's.
  const std::vector<int>& arguments() const { return arguments_; }
  const std::vector<int>& results() const { return results_; }
  Recorder& owner() const { return *recorder().parent; }  // has the step
  Recorder& recorder() const { return body_->recorder(); }
  // The rows of a slot of the body, where they are; of a carry's history where one is given.
  void add_rows(int slot, Rows rows, int carry = -1) { known_.push_back({slot, rows, carry}); }
  // The rows of any slot. Those that nothing holds are kept from now on.
  NAX_ENGINE Rows rows(int slot);
  NAX_ENGINE_VIRTUAL bool place(Recorder& other, const void* address, Place& to) override;
  NAX_ENGINE_VIRTUAL void complete() override;

 protected:
  NAX_ENGINE EndedBody(std::unique_ptr<BodyRecording> body, std::shared_ptr<BodyFamily> family,
                       std::vector<int> arguments, std::vector<int> results);
  Step& step();
  // An operand of the step takes so many bytes, which are reserved.
  void grow(int operand, std::int64_t bytes);
  // A new operand of the step, which the body writes to; its place in memory.
  std::pair<int, char*> add_result(int slot, std::int64_t bytes);

 private:
  struct Known {
    int slot;
    Rows rows;
    int carry;
  };
  virtual Rows keep(int slot) = 0;
  virtual void keep_history(int) {}
  virtual void take(std::shared_ptr<const Program> program) = 0;

  std::shared_ptr<BodyFamily> family_;
  std::unique_ptr<BodyRecording> body_;
  std::vector<int> arguments_, results_;  // in the order of the work's
  std::vector<Known> known_;
  bool complete_ = false;
};

class Loop final : public EndedBody {
 public:
  Loop(std::unique_ptr<BodyRecording> body, std::shared_ptr<LoopWork> work,
       std::shared_ptr<BodyFamily> family, std::vector<int> arguments, std::vector<int> results)
      : EndedBody(std::move(body), std::move(family), std::move(arguments), std::move(results)),
        work_(std::move(work)) {}

 private:
  const Work* work() const override { return work_.get(); }
  NAX_ENGINE_VIRTUAL Rows keep(int slot) override;
  NAX_ENGINE_VIRTUAL void keep_history(int carry) override;
  NAX_ENGINE_VIRTUAL void take(std::shared_ptr<const Program> program) override;
  std::shared_ptr<LoopWork> work_;
};

class Branch final : public EndedBody {
 public:
  Branch(std::unique_ptr<BodyRecording> body, std::shared_ptr<BranchWork> work, std::size_t number,
         std::shared_ptr<BodyFamily> family, std::vector<int> arguments, std::vector<int> results)
      : EndedBody(std::move(body), std::move(family), std::move(arguments), std::move(results)),
        work_(std::move(work)),
        number_(number) {}

 private:
  const Work* work() const override { return work_.get(); }
  NAX_ENGINE_VIRTUAL Rows keep(int slot) override;
  NAX_ENGINE_VIRTUAL void take(std::shared_ptr<const Program> program) override;
  std::shared_ptr<BranchWork> work_;
  std::size_t number_;
};

}  // namespace program
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/record/ended_body-inl.hpp"
#endif
