#pragma once

#include <memory>
#include <optional>

#include "nax/core/function_ref.hpp"
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
// own, `step_<number>.shard_<i>_of_<n>.npz`, with a checksum of each whole leaf as it has it. All wait for
// these files and compare the checksums. The first process then writes `step_<number>.npz`, which names them;
// so that file, as ever, is there when the checkpoint is complete. The others wait for it. When a checkpoint
// goes, this file goes first. With .own each file holds all of its process's state instead.
//
// A folder may be an address (s3://bucket/run): its files are objects then, which are there whole or not at
// all.
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
  bool own = false;      // their states differ: each writes and restores all of its own
  double timeout = 300;  // seconds that they wait for one another
};

// An array of a checkpoint.
struct CheckpointEntry {
  std::string name;  // `state.w`
  DType dtype = DType::float32;
  Shape shape;
};

namespace detail {

using NamedArrays = std::vector<std::pair<std::string, ArrayBase>>;

// The name of the shape of an array that is in shards.
NAX_ENGINE std::string shape_name(const std::string& name);
// A leaf's name in the file: `state.w`, `state[0]`.
NAX_ENGINE std::string state_name(const std::string& tree_path);

class CheckpointFolder;

// A checkpoint, of one file or of several.
class CheckpointReader {
 public:
  CheckpointReader(const CheckpointFolder& folder, std::int64_t step);

  const Source& source() const { return manifest_.source; }
  // Whether each process has a state of its own.
  bool is_own() const { return is_own_; }
  // The arrays of the state.
  std::vector<std::string> names();
  CheckpointEntry entry(const std::string& name);
  template <class L>
  L leaf(const std::string& name, const L& like) {
    if (!is_joined()) return loaded(open(name), like);
    const Bytes whole = join(name);
    const Source joined("Checkpoints", source().path(), whole);
    return loaded(Member(joined, name), like);
  }
  // Reads all of it. Throws IoError where it is damaged, or a part is missing.
  void check();

 private:
  struct File {
    explicit File(const std::string& path) : source("Checkpoints", path), zip(source) {}
    ZipReader::Entry& entry(const std::string& name);
    Source source;
    ZipReader zip;
  };
  bool is_joined() const;
  // The file of all leaves, or of this process's. Throws IoError where other processes saved their own.
  File& leaves();
  Member open(const std::string& name) { return leaves().zip.open(leaves().entry(name)); }
  Shape joined_shape(const std::string& name);
  // A .npy file of the whole array.
  Bytes join(const std::string& name);

  File manifest_;
  std::vector<std::unique_ptr<File>> shards_;
  std::int64_t process_, processes_;
  bool is_own_ = false;
};

class CheckpointFolder {
 public:
  CheckpointFolder(std::string path, const CheckpointsOptions& options);
  // Lets go of the lock at once: a child that was forked meanwhile has the folder open, too, which would
  // keep it. The child itself leaves the lock as it is.
  ~CheckpointFolder() {
    if (locked_ && process_of_lock_ == os::process_id()) os::unlock(folder_.get());
  }
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  const CheckpointsOptions& options() const { return options_; }
  std::string file_of(std::int64_t step) const { return path_ + "/step_" + std::to_string(step) + ".npz"; }
  // Up to the number of the shard.
  std::string shards_of(std::int64_t step) const {
    return path_ + "/step_" + std::to_string(step) + ".shard_";
  }
  bool has(std::int64_t step) const { return exists(file_of(step)); }
  // Gives a damaged checkpoint another name, `<file>.damaged`, if this object may save.
  void set_aside(std::int64_t step);
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
  // Waits until there is a file; `whose` is for messages, `meanwhile` runs between looks.
  void wait_for(const std::string& file, const std::string& whose, FunctionRef<void()> meanwhile) const;
  // Throws IoError unless all processes' shards are of equal states; false where one is not there yet.
  bool check_sums(std::int64_t step, const NamedArrays& arrays) const;
  void remove(std::int64_t step) const;
  // Brings the names of the folder's files to the disk.
  void sync_names() const;
  bool exists(const std::string& file) const;
  void unlink(const std::string& file) const;
  // Removes shards of checkpoints that never were complete.
  void remove_shards_left() const;

  using Lock = os::Lock;

  Lock lock();
  std::vector<std::string> names() const;
  // NaN, which is never the best, where the file is damaged. Throws IoError where it cannot be opened.
  double metric_of(std::int64_t step) const;

  std::string path_;
  CheckpointsOptions options_;
  std::int64_t processes_ = 1, process_ = 0;
  Descriptor folder_;
  RemoteFiles* remote_ = nullptr;  // where the folder is an address
  bool locked_ = false, name_is_on_disk_ = false;
  std::int64_t process_of_lock_ = 0;
};

}  // namespace detail
}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/checkpoint_folder-inl.hpp"
#endif
