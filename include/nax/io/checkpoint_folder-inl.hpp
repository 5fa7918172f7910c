#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>

#include "nax/io/checkpoint_folder.hpp"
#include "nax/io/crc32.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE std::string shape_name(const std::string& name) { return "shape of " + name; }

NAX_ENGINE std::string state_name(const std::string& tree_path) {
  const bool joins = tree_path.empty() || tree_path[0] == '.' || tree_path[0] == '[';
  return (joins ? "state" : "state.") + tree_path;
}

// The number in `step_<number>.npz`; -1 for other names.
NAX_ENGINE std::int64_t step_in(const std::string& name) {
  constexpr std::size_t before = 5, after = 4;
  if (name.size() <= before + after || name.size() > before + after + 18) return -1;
  if (name.compare(0, before, "step_") != 0 || name.compare(name.size() - after, after, ".npz") != 0)
    return -1;
  const std::string digits = name.substr(before, name.size() - before - after);
  const bool is_number = digits.find_first_not_of("0123456789") == std::string::npos;
  return is_number && (digits[0] != '0' || digits.size() == 1) ? std::stoll(digits) : -1;
}

// The number in `step_<number>.shard_<i>_of_<n>.npz`; -1 for other names.
NAX_ENGINE std::int64_t step_of_shard(const std::string& name) {
  const std::size_t end = name.find(".shard_");
  return end == std::string::npos || name.size() < 4 || name.compare(name.size() - 4, 4, ".npz") != 0
             ? -1
             : step_in(name.substr(0, end) + ".npz");
}

// The name of a file that NewFile did not finish.
NAX_ENGINE bool is_unfinished(const std::string& name) {
  const std::size_t end = name.find(".npz.part");
  return end != std::string::npos &&
         (step_in(name.substr(0, end + 4)) >= 0 || step_of_shard(name.substr(0, end + 4)) >= 0);
}

NAX_ENGINE std::string shard_name(const std::string& first, std::int64_t i, std::int64_t count) {
  return first + std::to_string(i) + "_of_" + std::to_string(count) + ".npz";
}

// A checksum of each leaf: of its name, dtype, shape and elements.
NAX_ENGINE std::vector<std::uint32_t> sums_of(const NamedArrays& arrays) {
  std::vector<std::uint32_t> sums;
  for (const auto& [name, array] : arrays) {
    const std::string head = name + npy_header(array.dtype(), array.shape());
    sums.push_back(crc32(nax::detail::raw_data(array), array.nbytes(), crc32(head.data(), head.size())));
  }
  return sums;
}

// The part of an array that a process writes: a range of its elements in row-major order.
NAX_ENGINE std::pair<std::int64_t, std::int64_t> part_of(std::int64_t size, std::int64_t i,
                                                         std::int64_t count) {
  const std::int64_t each = size / count, more = size % count;
  const std::int64_t begin = i * each + std::min(i, more);
  return {begin, begin + each + (i < more ? 1 : 0)};
}

NAX_ENGINE bool CheckpointReader::is_joined() const { return !shards_.empty() && !is_own_; }

NAX_ENGINE ZipReader::Entry& CheckpointReader::File::entry(const std::string& name) {
  const auto found = zip.entries().find(name);
  if (found == zip.entries().end()) source.fail("has no array named " + name);
  return found->second;
}

NAX_ENGINE CheckpointReader::CheckpointReader(const CheckpointFolder& folder, std::int64_t step)
    : manifest_(folder.file_of(step)),
      process_(folder.options().process),
      processes_(folder.options().processes) {
  if (!manifest_.zip.entries().count("shards")) return;
  const auto count = loaded(manifest_.zip.open(manifest_.entry("shards")), std::int64_t{});
  for (std::int64_t i = 0; i < count; ++i)
    shards_.push_back(std::make_unique<File>(shard_name(folder.shards_of(step), i, count)));
  is_own_ = manifest_.zip.entries().count("own") > 0;
}

NAX_ENGINE CheckpointReader::File& CheckpointReader::leaves() {
  if (!is_own_) return manifest_;
  const auto count = static_cast<std::int64_t>(shards_.size());
  if (processes_ != count)
    source().fail("is of " + std::to_string(count) + " processes with states of their own, not of " +
                  std::to_string(processes_));
  return *shards_[static_cast<std::size_t>(process_)];
}

NAX_ENGINE std::vector<std::string> CheckpointReader::names() {
  const std::string before = is_joined() ? shape_name("") : "";
  std::vector<std::string> all;
  for (const auto& entry : leaves().zip.entries()) {
    const std::string& name = entry.first;
    const bool is_state = name != "step" && name != "metric" && name != "shards" && name != "own";
    if (is_state && name.compare(0, before.size(), before) == 0) all.push_back(name.substr(before.size()));
  }
  return all;
}

NAX_ENGINE CheckpointEntry CheckpointReader::entry(const std::string& name) {
  File& file = is_joined() ? *shards_.front() : leaves();
  Member member = file.zip.open(file.entry(name));
  const NpyHeader header = read_npy_header(member);
  for (std::size_t i = 0; i < dtype_count; ++i)
    if (bool swapped = false; same_descr(header.descr, static_cast<DType>(i), swapped))
      return {name, static_cast<DType>(i), is_joined() ? joined_shape(name) : header.shape};
  member.fail("has dtype " + header.descr + ", which nax has not");
}

NAX_ENGINE void CheckpointReader::check() {
  Bytes some(1 << 20);
  const auto read_all = [&](File& file) {
    for (const auto& entry : file.zip.entries()) {
      Member member = file.zip.open(entry.second);
      while (member.left() > 0)
        member.read(some.data(),
                    static_cast<std::size_t>(std::min<std::uint64_t>(member.left(), some.size())));
      member.finish();
    }
  };
  read_all(manifest_);
  for (const auto& shard : shards_) read_all(*shard);
}

NAX_ENGINE Shape CheckpointReader::joined_shape(const std::string& name) {
  const std::string entry = shape_name(name);
  if (!manifest_.zip.entries().count(entry)) source().fail("has no array named " + name);
  const std::vector<std::int64_t> extents =
      loaded(manifest_.zip.open(manifest_.entry(entry)), Array<std::int64_t>()).to_vector();
  return Shape(extents.begin(), extents.end());
}

NAX_ENGINE Bytes CheckpointReader::join(const std::string& name) {
  const Shape shape = joined_shape(name);
  Bytes bytes;
  std::int64_t elements = 0;
  for (const auto& shard : shards_) {
    Member member = shard->zip.open(shard->entry(name));
    const NpyHeader header = read_npy_header(member);
    if (shard == shards_.front()) {
      const std::string whole = npy_header(header.descr, shape);
      bytes.assign(whole.begin(), whole.end());
    }
    elements += header.shape.count();
    const std::size_t at = bytes.size();
    bytes.resize(at + static_cast<std::size_t>(member.left()));
    member.read(bytes.data() + at, bytes.size() - at);
    member.finish();
  }
  if (elements != shape.count()) shards_.front()->source.fail("and its other parts do not make up " + name);
  return bytes;
}

NAX_ENGINE CheckpointFolder::CheckpointFolder(std::string path, const CheckpointsOptions& options)
    : path_(std::move(path)), options_(options) {
  if (options.every < 1 || options.keep < 0)
    raise<ValueError>({"Checkpoints: .every must be at least 1 and .keep at least 0, got ", options.every,
                       " and ", options.keep});
  processes_ = options.processes;
  process_ = options.process;
  if (process_ < 0 || process_ >= processes_)
    raise<ValueError>({"Checkpoints: there is no process ", process_, " of ", processes_});
  if (is_address(path_)) {
    remote_ = &need_remote_files("Checkpoints", path_);
    while (path_.back() == '/') path_.pop_back();
    if (process_ == 0 && processes_ > 1) remove_shards_left();
  } else {
    const int error = make_folders(path_, true);
    folder_ = Descriptor(os::open_lock(path_));
    if (error != 0) errno = error;
    if (folder_.get() < 0) fail_system("Checkpoints", path_, "cannot be created or opened");
  }
  if (process_ == 0 && lock() == Lock::held) {
    for (const std::string& name : names())
      if (is_unfinished(name)) os::remove_file(path_ + '/' + name);
    remove_shards_left();
    // Of several processes the first keeps the lock, or a reader could take the others' shards for a crash's.
    if (processes_ == 1) {
      os::unlock(folder_.get());
      locked_ = false;
    }
  }
  // No process writes before that is done.
  if (processes_ > 1 && processes_ == distributed::process_count()) distributed::barrier();
}

NAX_ENGINE void CheckpointFolder::remove_shards_left() const {
  for (const std::string& name : names())
    if (const std::int64_t step = step_of_shard(name); step >= 0 && !has(step)) unlink(path_ + '/' + name);
}

NAX_ENGINE bool CheckpointFolder::exists(const std::string& file) const {
  if (!remote_) return os::exists(file);
  const std::vector<std::string> found = remote_->list(file);
  return std::find(found.begin(), found.end(), file) != found.end();
}

NAX_ENGINE void CheckpointFolder::unlink(const std::string& file) const {
  if (remote_) return remote_->remove(file);
  if (!os::remove_file(file) && errno != ENOENT) fail_system("Checkpoints", file, "cannot be removed");
}

NAX_ENGINE void CheckpointFolder::set_aside(std::int64_t step) {
  const bool had_lock = locked_;
  if (process_ != 0 || lock() != Lock::held) return;
  const auto rename = [](const std::string& file) { return os::replace_file(file, file + ".damaged"); };
  if (rename(file_of(step)))
    for (const std::string& name : names())
      if (step_of_shard(name) == step) rename(path_ + '/' + name);
  if (!had_lock) {
    os::unlock(folder_.get());
    locked_ = false;
  }
}

NAX_ENGINE CheckpointFolder::Lock CheckpointFolder::lock() {
  if (locked_ || remote_) return locked_ ? Lock::held : Lock::unknown;
  const Lock result = os::try_lock(folder_.get());
  locked_ = result == Lock::held;
  process_of_lock_ = os::process_id();
  return result;
}

NAX_ENGINE std::vector<std::string> CheckpointFolder::names() const {
  if (remote_) {
    std::vector<std::string> all;
    for (const std::string& address : remote_->list(path_ + '/'))
      all.push_back(address.substr(path_.size() + 1));
    return all;
  }
  std::vector<std::string> all;
  if (!os::names_in(path_, all)) fail_system("Checkpoints", path_, "cannot be listed");
  return all;
}

NAX_ENGINE std::vector<std::int64_t> CheckpointFolder::steps() const {
  std::vector<std::int64_t> all;
  for (const std::string& name : names())
    if (const std::int64_t step = step_in(name); step >= 0) all.push_back(step);
  std::sort(all.begin(), all.end());
  return all;
}

NAX_ENGINE double CheckpointFolder::metric_of(std::int64_t step) const {
  const Source source("Checkpoints", file_of(step));
  try {
    ZipReader zip(source);
    const auto found = zip.entries().find("metric");
    if (found == zip.entries().end()) source.fail("has no array named metric");
    return loaded(zip.open(found->second), 0.0);
  } catch (const IoError&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

NAX_ENGINE std::optional<std::int64_t> CheckpointFolder::best() const {
  if (options_.best == Best::none)
    raise<ValueError>({"Checkpoints: .best must say whether the lowest or the highest metric is the best"});
  std::optional<std::int64_t> step;
  double record = 0;
  for (const std::int64_t candidate : steps()) {
    const double metric = options_.best == Best::lowest ? -metric_of(candidate) : metric_of(candidate);
    if (metric != metric || (step && metric < record)) continue;
    step = candidate;
    record = metric;
  }
  return step;
}

NAX_ENGINE void CheckpointFolder::begin(std::int64_t step) {
  if (step < 0) raise<ValueError>({"Checkpoints: a step must be at least 0, got ", step});
  for (int attempt = 0; process_ == 0 && lock() == Lock::taken;
       ++attempt) {  // one that begins holds it for a moment
    if (attempt == 50) fail("Checkpoints", path_, "is being saved to by another Checkpoints");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // Shards are never written over: those of two saves might be mixed.
  const std::int64_t first = processes_ == 1 ? step + 1 : step;
  if (const std::vector<std::int64_t> all = steps(); !all.empty() && all.back() >= first)
    raise<ValueError>({"Checkpoints: '", path_, "' has step ", all.back(), " already, which is ",
                       all.back() == step ? "not before " : "after ", step,
                       "; remove it, or save to another folder"});
  if (!remote_ && !name_is_on_disk_ && !os::sync_folder(path_ + "/.."))
    fail_system("Checkpoints", path_, "cannot be brought to the disk");
  name_is_on_disk_ = true;
}

NAX_ENGINE void CheckpointFolder::write(std::int64_t step, const NamedArrays& arrays) const {
  if (processes_ > 1) {
    write_shard(step, arrays);
    bool checked = options_.own;
    if (process_ > 0) {
      wait_for(file_of(step), "process 0 has not completed",
               [&] { checked = checked || check_sums(step, arrays); });
      // The name is seen before process 0 has brought it to the disk.
      return sync_names();
    }
    for (std::int64_t i = 1; i < processes_; ++i)
      wait_for(shard_name(shards_of(step), i, processes_),
               "process " + std::to_string(i) + " has not written", [] {});
    if (!checked) check_sums(step, arrays);
    write_manifest(step, arrays);
  } else {
    ZipWriter zip("Checkpoints", file_of(step));
    for (const auto& [name, array] : arrays)
      zip.add(name + ".npy", npy_header(array.dtype(), array.shape()), nax::detail::raw_data(array),
              array.nbytes());
    zip.commit();
  }
  if (options_.keep == 0) return;
  std::vector<std::int64_t> old = steps();
  const auto keep = static_cast<std::size_t>(options_.keep);
  old.resize(old.size() - std::min(old.size(), keep));
  if (old.empty()) return;
  const std::optional<std::int64_t> best_one = options_.best == Best::none ? std::nullopt : best();
  for (const std::int64_t gone : old)
    if (gone != best_one) remove(gone);
}

NAX_ENGINE void CheckpointFolder::sync_names() const {
  if (!remote_ && !os::sync_folder(path_)) fail_system("Checkpoints", path_, "cannot be brought to the disk");
}

NAX_ENGINE void CheckpointFolder::remove(std::int64_t step) const {
  unlink(file_of(step));
  std::vector<std::string> shards;
  for (const std::string& name : names())
    if (step_of_shard(name) == step) shards.push_back(path_ + '/' + name);
  if (shards.empty()) return;
  sync_names();
  for (const std::string& shard : shards) unlink(shard);
}

NAX_ENGINE bool CheckpointFolder::check_sums(std::int64_t step, const NamedArrays& arrays) const {
  for (std::int64_t i = 0; i < processes_; ++i)
    if (!exists(shard_name(shards_of(step), i, processes_))) return false;
  const std::vector<std::uint32_t> own = sums_of(arrays);
  for (std::int64_t i = 0; i < processes_; ++i) {
    const Source source("Checkpoints", shard_name(shards_of(step), i, processes_));
    ZipReader zip(source);
    const auto found = zip.entries().find("sums");
    if (found == zip.entries().end()) source.fail("has no array named sums");
    const std::vector<std::uint32_t> theirs =
        loaded(zip.open(found->second), Array<std::uint32_t>()).to_vector();
    std::size_t leaf = 2;  // behind step and metric
    while (leaf < own.size() && leaf < theirs.size() && own[leaf] == theirs[leaf]) ++leaf;
    if (own.size() == theirs.size() && leaf == own.size()) continue;
    raise<IoError>({"Checkpoints: '", file_of(step),
                    "' is not written: ", leaf < own.size() ? arrays[leaf].first : "the number of leaves",
                    " of process ", i, " is not equal to that of process ", process_,
                    "; states that differ are saved with .own = true"});
  }
  return true;
}

NAX_ENGINE void CheckpointFolder::write_shard(std::int64_t step, const NamedArrays& arrays) const {
  ZipWriter zip("Checkpoints", shard_name(shards_of(step), process_, processes_));
  for (const auto& [name, array] : arrays) {
    if (options_.own) {
      zip.add(name + ".npy", npy_header(array.dtype(), array.shape()), nax::detail::raw_data(array),
              array.nbytes());
      continue;
    }
    const auto [begin, end] = part_of(array.size(), process_, processes_);
    const std::size_t item = dtype_size(array.dtype());
    zip.add(name + ".npy", npy_header(array.dtype(), Shape{end - begin}),
            static_cast<const char*>(static_cast<const void*>(nax::detail::raw_data(array))) +
                static_cast<std::size_t>(begin) * item,
            static_cast<std::size_t>(end - begin) * item);
  }
  if (!options_.own) {
    const std::vector<std::uint32_t> sums = sums_of(arrays);
    zip.add("sums.npy", npy_header(DType::uint32, Shape{static_cast<std::int64_t>(sums.size())}), sums.data(),
            sums.size() * sizeof(std::uint32_t));
  }
  zip.commit();
}

NAX_ENGINE void CheckpointFolder::write_manifest(std::int64_t step, const NamedArrays& arrays) const {
  ZipWriter zip("Checkpoints", file_of(step));
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& values, const Shape& shape) {
    zip.add(name + ".npy", npy_header(DType::int64, shape), values.data(),
            values.size() * sizeof(std::int64_t));
  };
  for (const auto& [name, array] : arrays) {
    if (name == "step" || name == "metric") {
      zip.add(name + ".npy", npy_header(array.dtype(), array.shape()), nax::detail::raw_data(array),
              array.nbytes());
    } else if (!options_.own) {
      const Shape shape = array.shape();
      add(shape_name(name), {shape.begin(), shape.end()}, {static_cast<std::int64_t>(shape.size())});
    }
  }
  add("shards", {processes_}, {});
  if (options_.own) add("own", {1}, {});
  zip.commit();
}

NAX_ENGINE void CheckpointFolder::wait_for(const std::string& file, const std::string& whose,
                                           FunctionRef<void()> meanwhile) const {
  using std::chrono::milliseconds;
  milliseconds pause(1);
  double waited = 0;
  while (!exists(file)) {
    meanwhile();
    if (waited > options_.timeout)
      raise<IoError>({"Checkpoints: ", whose, " '", file, "' in ", options_.timeout, " seconds"});
    std::this_thread::sleep_for(pause);
    waited += std::chrono::duration<double>(pause).count();
    pause = std::min(pause * 2, milliseconds(remote_ ? 500 : 50));
  }
}

}  // namespace io::detail
NAX_END
