#pragma once

#include <dirent.h>
#include <sys/file.h>

#include <algorithm>
#include <memory>

#include "nax/io/checkpoint_folder.hpp"

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

// The part of an array that a process writes: a range of its elements in row-major order.
NAX_ENGINE std::pair<std::int64_t, std::int64_t> part_of(std::int64_t size, std::int64_t i,
                                                         std::int64_t count) {
  const std::int64_t each = size / count, more = size % count;
  const std::int64_t begin = i * each + std::min(i, more);
  return {begin, begin + each + (i < more ? 1 : 0)};
}

NAX_ENGINE Shards::Shards(const std::string& first, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    all_.push_back(std::make_unique<Shard>(shard_name(first, i, count)));
}

NAX_ENGINE Bytes Shards::join(const std::string& name, const Shape& shape) {
  Bytes bytes;
  std::int64_t elements = 0;
  for (const auto& shard : all_) {
    const auto found = shard->zip.entries().find(name);
    if (found == shard->zip.entries().end()) shard->source.fail("has no array named " + name);
    Member member = shard->zip.open(found->second);
    const NpyHeader header = read_npy_header(member);
    if (shard == all_.front()) {
      const std::string whole = npy_header(header.descr, shape);
      bytes.assign(whole.begin(), whole.end());
    }
    elements += header.shape.count();
    const std::size_t at = bytes.size();
    bytes.resize(at + static_cast<std::size_t>(member.left()));
    member.read(bytes.data() + at, bytes.size() - at);
    member.finish();
  }
  if (elements != shape.count()) all_.front()->source.fail("and its other parts do not make up " + name);
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
  check_local_folder("Checkpoints", path_);
  create();
  folder_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder_.get() < 0) fail_system("Checkpoints", path_, "cannot be created or opened");
  if (process_ == 0 && lock() == Lock::held) {
    for (const std::string& name : names())
      if (is_unfinished(name)) ::unlink((path_ + '/' + name).c_str());
    remove_shards_left();
    // Of several processes the first keeps the lock, or a reader could take the others' shards for a crash's.
    if (processes_ == 1) {
      ::flock(folder_.get(), LOCK_UN);
      locked_ = false;
    }
  }
  // No process writes before that is done.
  if (processes_ > 1 && processes_ == distributed::process_count()) distributed::barrier();
}

NAX_ENGINE void CheckpointFolder::remove_shards_left() const {
  for (const std::string& name : names())
    if (const std::int64_t step = step_of_shard(name); step >= 0 && !has(step))
      ::unlink((path_ + '/' + name).c_str());
}

// As `mkdir -p` does. Opening the folder will tell what failed.
NAX_ENGINE void CheckpointFolder::create() const {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path_.find('/', end + 1);
    if (::mkdir(path_.substr(0, end).c_str(), 0777) == 0) sync_folder(path_.substr(0, end) + "/..");
  }
}

NAX_ENGINE CheckpointFolder::Lock CheckpointFolder::lock() {
  if (locked_) return Lock::held;
  int result;
  do result = ::flock(folder_.get(), LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  locked_ = result == 0;
  return locked_ ? Lock::held : errno == EWOULDBLOCK ? Lock::taken : Lock::unknown;
}

NAX_ENGINE std::vector<std::string> CheckpointFolder::names() const {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path_.c_str()), ::closedir);
  if (!folder) fail_system("Checkpoints", path_, "cannot be listed");
  std::vector<std::string> all;
  errno = 0;
  while (const dirent* const entry = ::readdir(folder.get())) all.emplace_back(entry->d_name), errno = 0;
  if (errno != 0) fail_system("Checkpoints", path_, "cannot be listed");
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
  ZipReader zip(source);
  const auto found = zip.entries().find("metric");
  if (found == zip.entries().end()) source.fail("has no array named metric");
  return loaded(zip.open(found->second), 0.0);
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
    const timespec pause{0, 20'000'000};
    ::nanosleep(&pause, nullptr);
  }
  // Shards are never written over: those of two saves might be mixed.
  const std::int64_t first = processes_ == 1 ? step + 1 : step;
  if (const std::vector<std::int64_t> all = steps(); !all.empty() && all.back() >= first)
    raise<ValueError>({"Checkpoints: '", path_, "' has step ", all.back(), " already, which is ",
                       all.back() == step ? "not before " : "after ", step,
                       "; remove it, or save to another folder"});
  if (!name_is_on_disk_ && !sync_folder(path_ + "/.."))
    fail_system("Checkpoints", path_, "cannot be brought to the disk");
  name_is_on_disk_ = true;
}

NAX_ENGINE void CheckpointFolder::write(std::int64_t step, const NamedArrays& arrays) const {
  if (processes_ > 1) {
    write_shard(step, arrays);
    if (process_ > 0) return wait_for(file_of(step), "process 0 has not completed");
    for (std::int64_t i = 1; i < processes_; ++i)
      wait_for(shard_name(shards_of(step), i, processes_),
               "process " + std::to_string(i) + " has not written");
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

NAX_ENGINE void CheckpointFolder::remove(std::int64_t step) const {
  const auto unlink = [](const std::string& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_system("Checkpoints", path, "cannot be removed");
  };
  unlink(file_of(step));
  std::vector<std::string> shards;
  for (const std::string& name : names())
    if (step_of_shard(name) == step) shards.push_back(path_ + '/' + name);
  if (shards.empty()) return;
  if (!sync_folder(path_)) fail_system("Checkpoints", path_, "cannot be brought to the disk");
  for (const std::string& shard : shards) unlink(shard);
}

NAX_ENGINE void CheckpointFolder::write_shard(std::int64_t step, const NamedArrays& arrays) const {
  ZipWriter zip("Checkpoints", shard_name(shards_of(step), process_, processes_));
  for (const auto& [name, array] : arrays) {
    const auto [begin, end] = part_of(array.size(), process_, processes_);
    const std::size_t item = dtype_size(array.dtype());
    zip.add(name + ".npy", npy_header(array.dtype(), Shape{end - begin}),
            static_cast<const char*>(static_cast<const void*>(nax::detail::raw_data(array))) +
                static_cast<std::size_t>(begin) * item,
            static_cast<std::size_t>(end - begin) * item);
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
    } else {
      const Shape shape = array.shape();
      add(shape_name(name), {shape.begin(), shape.end()}, {static_cast<std::int64_t>(shape.size())});
    }
  }
  add("shards", {processes_}, {});
  zip.commit();
}

NAX_ENGINE void CheckpointFolder::wait_for(const std::string& file, const std::string& whose) const {
  timespec pause{0, 1'000'000};
  double waited = 0;
  while (::access(file.c_str(), F_OK) != 0) {
    if (waited > options_.timeout)
      raise<IoError>({"Checkpoints: ", whose, " '", file, "' in ", options_.timeout, " seconds"});
    ::nanosleep(&pause, nullptr);
    waited += static_cast<double>(pause.tv_nsec) * 1e-9;
    pause.tv_nsec = std::min(pause.tv_nsec * 2, 50'000'000L);
  }
}

}  // namespace io::detail
NAX_END
