#pragma once

#include <optional>

#include "nax/io/new_file.hpp"
#include "nax/io/save.hpp"

// The folder of Checkpoints: which steps it has, writing one, removing those that are not kept.
//
// A checkpoint is a file `step_<number>.npz`, as io::save writes it. It gets its name when all of it is on
// the disk, so a file of that name is complete. Files that a crash left unfinished have other names and are
// not read. An older file is removed when the newer one and its name are on the disk.
//
// One object at a time saves to a folder: it holds a lock of the system's (flock) on the folder. So
// everything unfinished that is found under the lock is a crash's. Where the file system has no locks,
// nothing is guarded, and nothing unfinished is removed.
NAX_BEGIN
namespace io {

// Which metric is the best one.
enum class Best { none, lowest, highest };

struct CheckpointsOptions {
  int keep = 0;            // the last so many steps; 0: all
  std::int64_t every = 1;  // saves the steps that this divides, and no other
  bool async = false;      // writes in the background
  Best best = Best::none;  // keeps the checkpoint of the best metric as well
};

namespace detail {

using NamedArrays = std::vector<std::pair<std::string, ArrayBase>>;

// A leaf's name in the file: `state.w`, `state[0]`.
NAX_ENGINE std::string state_name(const std::string& tree_path);

class CheckpointFolder {
 public:
  CheckpointFolder(std::string path, const CheckpointsOptions& options);

  const CheckpointsOptions& options() const { return options_; }
  std::string file_of(std::int64_t step) const { return path_ + "/step_" + std::to_string(step) + ".npz"; }
  bool has(std::int64_t step) const { return ::access(file_of(step).c_str(), F_OK) == 0; }
  // The checkpoints that are complete, in their order.
  std::vector<std::int64_t> steps() const;
  // The step with the best metric; of several the last.
  std::optional<std::int64_t> best() const;
  // Throws unless this step may be saved now. Takes the lock, which stays until the object goes.
  void begin(std::int64_t step);
  // Writes the file, then removes those that are not kept.
  void write(std::int64_t step, const NamedArrays& arrays) const;

 private:
  enum class Lock { held, taken, unknown };  // by this object, by another one, to no system

  Lock lock();
  void create() const;
  std::vector<std::string> names() const;
  double metric_of(std::int64_t step) const;

  std::string path_;
  CheckpointsOptions options_;
  Descriptor folder_;
  bool locked_ = false, name_is_on_disk_ = false;
};

}  // namespace detail
}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/checkpoint_folder-inl.hpp"
#endif
