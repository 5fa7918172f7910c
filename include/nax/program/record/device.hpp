#pragma once

#include <memory>

#include "nax/core/graph_recording.hpp"
#include "nax/program/replay/program.hpp"

// The device `program`: its operations append steps that call those of the host.
NAX_BEGIN
namespace program {

// Results of a function, as it gave them while it was recorded.
using Arrays = std::vector<ArrayBase>;

// Records this thread's computations while it lives. Within another recording it is one of a loop's body.
class Recording {
 public:
  // `unrolls`: loops are recorded turn by turn.
  NAX_ENGINE explicit Recording(bool unrolls = false);
  NAX_ENGINE ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // A row-major argument like this one.
  NAX_ENGINE ArrayBase argument(const ArrayBase& like, bool donated = false);
  Recorder& recorder() { return *recorder_; }
  // The recorder, which may live on.
  const std::shared_ptr<Recorder>& shared_recorder() const { return recorder_; }
  // Why it fails; empty while it does not.
  const std::string& refusal() const { return graph_.refusal; }
  // How these results lie in the slots. Throws NotRecordable where the function went on after something that
  // could not be recorded.
  NAX_ENGINE std::vector<Output> outputs(const Arrays& results);
  // The program of these results.
  std::unique_ptr<Program> finish(const Arrays& results) {
    std::vector<Output> all = outputs(results);
    return std::make_unique<Program>(std::move(*recorder_), std::move(all));
  }

 private:
  nax::detail::GraphRecording* const before_;
  std::shared_ptr<Recorder> recorder_;
  nax::detail::GraphRecording graph_;
};

}  // namespace program
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/record/device-inl.hpp"
#endif
