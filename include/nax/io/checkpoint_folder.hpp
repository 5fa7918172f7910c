#pragma once

#include <memory>
#include <optional>

#include "nax/io/new_file.hpp"
#include "nax/io/save.hpp"
#include "nax/parallel/distributed.hpp"

// The folder of Checkpoints: which steps it has, writing one, removing those that are not kept.
//
// A checkpoint is a file `step_<number>.npz`, as io::save writes it. It gets its name when all of it is on
// the disk, so a file of that name is complete. Files that a crash left unfinished have other names and are
// not read. An older file is removed when the newer one and its name are on the disk.
//
// Several processes that hold equal states share the work: each writes a part of every array to a file of its
// own, `step_<number>.shard_<i>_of_<n>.npz`. The first process waits for these files and then writes
// `step_<number>.npz`, which names them; so that file, as ever, is there when the checkpoint is complete. The
// others wait for it. When a checkpoint goes, this file goes first.
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
  // Processes that save together, and which of them this is: distributed::process_count() and
  // process_index().
  int processes = 1, process = 0;
  double timeout = 300;  // seconds that they wait for one another
};

namespace detail {

using NamedArrays = std::vector<std::pair<std::string, ArrayBase>>;

// The name of the shape of an array that is in shards.
NAX_ENGINE std::string shape_name(const std::string& name);
// A leaf's name in the file: `state.w`, `state[0]`.
NAX_ENGINE std::string state_name(const std::string& tree_path);

// The arrays of a checkpoint that several processes wrote.
class Shards {
 public:
  // `first`: the path up to the number of the shard.
  Shards(const std::string& first, std::int64_t count);
  // A .npy file of the whole array.
  Bytes join(const std::string& name, const Shape& shape);

 private:
  struct Shard {
    explicit Shard(const std::string& path) : source("Checkpoints", path), zip(source) {}
    Source source;
    ZipReader zip;
  };
  std::vector<std::unique_ptr<Shard>> all_;
};

class CheckpointFolder {
 public:
  CheckpointFolder(std::string path, const CheckpointsOptions& options);

  const CheckpointsOptions& options() const { return options_; }
  std::string file_of(std::int64_t step) const { return path_ + "/step_" + std::to_string(step) + ".npz"; }
  // Up to the number of the shard.
  std::string shards_of(std::int64_t step) const {
    return path_ + "/step_" + std::to_string(step) + ".shard_";
  }
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
  void write_shard(std::int64_t step, const NamedArrays& arrays) const;
  void write_manifest(std::int64_t step, const NamedArrays& arrays) const;
  // Waits until there is a file; `whose` is for messages.
  void wait_for(const std::string& file, const std::string& whose) const;
  void remove(std::int64_t step) const;
  // Removes shards of checkpoints that never were complete.
  void remove_shards_left() const;

  enum class Lock { held, taken, unknown };  // by this object, by another one, to no system

  Lock lock();
  void create() const;
  std::vector<std::string> names() const;
  double metric_of(std::int64_t step) const;

  std::string path_;
  CheckpointsOptions options_;
  std::int64_t processes_ = 1, process_ = 0;
  Descriptor folder_;
  bool locked_ = false, name_is_on_disk_ = false;
};

}  // namespace detail
}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/checkpoint_folder-inl.hpp"
#endif
