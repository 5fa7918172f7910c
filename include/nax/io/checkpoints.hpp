#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <thread>

#include "nax/core/where_used.hpp"
#include "nax/io/checkpoint_folder.hpp"
#include "nax/io/safetensors.hpp"

// Training states in a folder.
NAX_BEGIN
namespace io {

struct CheckpointOptions {
  double metric = std::numeric_limits<double>::quiet_NaN();  // NaN is never the best
};

// Of restoring; as LoadSafetensorsOptions. Names are those in the file, `state.params.w`.
struct RestoreOptions {
  bool strict = true;  // throws unless the state and the checkpoint have the same names
  // Beginnings of names: {"state.params", "state"} restores parameters alone, where .strict is false.
  std::vector<std::pair<std::string, std::string>> rename = {};
  LoadReport* report = nullptr;  // gets what matched, what kept its value, and what was left
};

// Saves and restores training states: `Checkpoints saved("runs/a", {.keep = 3, .every = 1000});`, then
// `saved.save(step, state)` after each step and `saved.restore(state)` before the first.
//
// A state is any tree: parameters, optimiser state, keys, counters. Each checkpoint is a file that numpy.load
// opens: `step`, `metric`, and the leaves as `state.w`. After a crash at any moment, of the program or of the
// machine, the last checkpoint that was complete loads. One thread at a time may use an object. The folder
// may be an address (s3://bucket/run) where the program links nax::storage; nothing keeps two programs from
// saving there at once.
//
// Several processes save together with `.processes = distributed::process_count()` and `.process =
// distributed::process_index()`: all construct one for the same folder, and save and restore the same steps,
// with equal states. Each writes a part of every array. Any number of processes restores. Where a leaf
// differs between processes no checkpoint is made, and each throws IoError that names it; with .own each
// process saves and restores a state of its own, and as many processes must restore.
class Checkpoints {
 public:
  // Creates the folder where there is none. Removes files that a crash left unfinished, unless another object
  // saves to the folder now. Throws IoError, ValueError.
  explicit Checkpoints(const std::string& folder, const CheckpointsOptions& options = {})
      : folder_(folder, options) {}
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;
  // Waits for the save that is under way. Prints an error that no call has thrown; wait() throws it.
  ~Checkpoints();

  // Saves the state if `every` divides the step, and says whether. With .async it returns when the state has
  // been copied from accelerators; elements on the host are shared, since arrays are values. A second save
  // waits for the first, and throws its error. Throws IoError, also where another object saves to the folder;
  // ValueError where the folder has a later step.
  template <class T>
  bool save(std::int64_t step, const T& state, const CheckpointOptions& options = {}) {
    if (step % folder_.options().every != 0) {
      if (done_.load(std::memory_order_acquire)) wait();
      return false;
    }
    wait();
    folder_.begin(step);
    nax::detail::where_used_t<detail::NamedArrays, T> arrays;
    add(arrays, "step", step);
    add(arrays, "metric", options.metric);
    nax::tree::for_each_with_path(
        [&](const std::string& path, const auto& leaf) { add(arrays, detail::state_name(path), leaf); },
        state);
    write(step, std::move(arrays));
    return true;
  }

  // Fills the state from the last checkpoint and returns its step; none where there is no checkpoint. Names,
  // dtypes and shapes must agree, as for io::load. One that is damaged is passed over, said so on stderr, and
  // set aside as `<file>.damaged`. Waits for a save that is under way. Throws IoError; the state is then as
  // it was.
  template <class T>
  std::optional<std::int64_t> restore(T& state, const RestoreOptions& options = {}) {
    using Steps = nax::detail::where_used_t<std::vector<std::int64_t>, T>;
    std::exception_ptr first;
    for (Steps all = steps(); !all.empty();) {
      const std::int64_t step = all.back();
      try {
        check_own(step);
        return restore(state, step, options);
      } catch (const IoError& error) {
        if (!folder_.has(step)) {
          Steps now = steps();
          if (!std::binary_search(now.begin(), now.end(), step)) {
            all = std::move(now);  // another process removed it, and has a later one
            continue;
          }
          // A name that leads nowhere, such as a link: the one before is tried.
        } else if (!pass_over(step, error, all.size() > 1)) {
          throw;
        }
        if (!first) first = std::current_exception();
        all.pop_back();
      }
    }
    if (first) std::rethrow_exception(first);
    return std::nullopt;
  }
  // Restores from the checkpoint of this step.
  template <class T>
  std::int64_t restore(T& state, std::int64_t step, const RestoreOptions& options = {}) {
    wait();
    return detail::within_memory("Checkpoints", folder_.file_of(step), [&] {
      nax::detail::where_used_t<detail::CheckpointReader, T> reader(folder_, step);
      nax::detail::where_used_t<detail::NamesOfFile, T> names(reader.source(), reader.names(),
                                                              options.rename);
      nax::detail::where_used_t<LoadReport, T> report;
      T result = state;
      nax::tree::for_each_with_path(
          [&](const std::string& tree_path, auto& leaf) {
            const std::string name = detail::state_name(tree_path);
            const std::string* const in_file = names.take(name);
            if (in_file)
              leaf = reader.leaf(*in_file, leaf);
            else if (options.strict)
              reader.source().fail("has no array named " + name);
            (in_file ? report.matched : report.missing).push_back(name);
          },
          result);
      report.left = names.left();
      if (options.strict && !report.left.empty())
        reader.source().fail("has " + report.left.front() + ", which the state has not");
      state = std::move(result);
      if (options.report) *options.report = std::move(report);
      return step;
    });
  }
  // Restores the checkpoint of the best metric. Throws ValueError unless .best says which that is.
  template <class T>
  std::optional<std::int64_t> restore_best(T& state) {
    wait();
    const std::optional<std::int64_t> step = folder_.best();
    return step ? std::optional(restore(state, *step)) : std::nullopt;
  }

  // The steps that can be restored, in their order.
  std::vector<std::int64_t> steps() {
    wait();
    return folder_.steps();
  }
  // The arrays of this step's checkpoint, by name. Throws IoError.
  std::vector<CheckpointEntry> contents(std::int64_t step);
  // Waits for the save that is under way, and throws its error.
  void wait();

 private:
  template <class L>
  static void add(detail::NamedArrays& arrays, std::string name, const L& leaf) {
    ArrayBase array = nax::detail::constant(detail::array_of(name, leaf));
    static_cast<void>(nax::detail::raw_data(array));  // gathers shards, whose devices this thread knows
    append(arrays, std::move(name), std::move(array));
  }
  NAX_ENGINE static void append(detail::NamedArrays& arrays, std::string name, ArrayBase array);
  // Whether the checkpoint is damaged, so that the one before is tried; says so.
  bool pass_over(std::int64_t step, const IoError& error, bool has_another);
  // Throws IoError where the part of any process is damaged of states that are their own: all must then
  // restore the same step.
  void check_own(std::int64_t step);
  void write(std::int64_t step, detail::NamedArrays arrays);
  void write_apart(std::int64_t step, const detail::NamedArrays& arrays) noexcept;
  void join();

  detail::CheckpointFolder folder_;
  std::thread writer_;
  std::atomic<bool> done_{false};
  std::exception_ptr error_;  // of the writer, once it is joined
};

}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/checkpoints-inl.hpp"
#endif
