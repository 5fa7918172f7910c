#pragma once

#include <atomic>
#include <exception>
#include <limits>
#include <thread>

#include "nax/io/checkpoint_folder.hpp"

// Training states in a folder.
NAX_BEGIN
namespace io {

struct CheckpointOptions {
  double metric = std::numeric_limits<double>::quiet_NaN();  // NaN is never the best
};

// Saves and restores training states: `Checkpoints saved("runs/a", {.keep = 3, .every = 1000});`, then
// `saved.save(step, state)` after each step and `saved.restore(state)` before the first.
//
// A state is any tree: parameters, optimiser state, keys, counters. Each checkpoint is a file that numpy.load
// opens: `step`, `metric`, and the leaves as `state.w`. After a crash at any moment, of the program or of the
// machine, the last checkpoint that was complete loads. One thread at a time may use an object.
//
// Several processes save together with `.processes = distributed::process_count()` and `.process =
// distributed::process_index()`: all construct one for the same folder, and save and restore the same steps,
// with equal states. Each writes a part of every array. Any number of processes restores.
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
    detail::NamedArrays arrays;
    add(arrays, "step", step);
    add(arrays, "metric", options.metric);
    nax::tree::for_each_with_path(
        [&](const std::string& path, const auto& leaf) { add(arrays, detail::state_name(path), leaf); },
        state);
    write(step, std::move(arrays));
    return true;
  }

  // Fills the state from the last checkpoint and returns its step; none where there is no checkpoint. Names,
  // dtypes and shapes must agree, as for io::load. Waits for a save that is under way. Throws IoError; the
  // state is then as it was.
  template <class T>
  std::optional<std::int64_t> restore(T& state) {
    while (true) {
      const std::vector<std::int64_t> all = steps();
      if (all.empty()) return std::nullopt;
      try {
        return restore(state, all.back());
      } catch (const IoError&) {
        if (folder_.has(all.back())) throw;  // else another process removed it, and has a later one
      }
    }
  }
  // Restores from the checkpoint of this step.
  template <class T>
  std::int64_t restore(T& state, std::int64_t step) {
    wait();
    const std::string path = folder_.file_of(step);
    return detail::within_memory("Checkpoints", path, [&] {
      const detail::Source source("Checkpoints", path);
      detail::ZipReader zip(source);
      T result = state;
      const auto take = [&](const std::string& name) {
        const auto found = zip.entries().find(name);
        if (found == zip.entries().end()) source.fail("has no array named " + name);
        return std::move(zip.entries().extract(found).mapped());
      };
      std::optional<detail::Shards> shards;
      if (zip.entries().count("shards"))
        shards.emplace(folder_.shards_of(step), detail::loaded(zip.open(take("shards")), std::int64_t{}));
      nax::tree::for_each_with_path(
          [&](const std::string& tree_path, auto& leaf) {
            const std::string name = detail::state_name(tree_path);
            if (!shards) {
              leaf = detail::loaded(zip.open(take(name)), leaf);
              return;
            }
            const Array<std::int64_t> shape =
                detail::loaded(zip.open(take(detail::shape_name(name))), Array<std::int64_t>());
            const std::vector<std::int64_t> extents = shape.to_vector();
            const Bytes whole = shards->join(name, Shape(extents.begin(), extents.end()));
            const detail::Source joined("Checkpoints", path, whole);
            leaf = detail::loaded(detail::Member(joined, name), leaf);
          },
          result);
      take("step"), take("metric");
      if (!zip.entries().empty())
        source.fail("has " + zip.entries().begin()->first + ", which the state has not");
      state = std::move(result);
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
  // Waits for the save that is under way, and throws its error.
  void wait();

 private:
  template <class L>
  static void add(detail::NamedArrays& arrays, std::string name, const L& leaf) {
    ArrayBase array = nax::detail::constant(detail::array_of(name, leaf));
    static_cast<void>(nax::detail::raw_data(array));  // gathers shards, whose devices this thread knows
    arrays.emplace_back(std::move(name), std::move(array));
  }
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
