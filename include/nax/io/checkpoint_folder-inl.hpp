#pragma once

#include <dirent.h>
#include <sys/file.h>

#include <algorithm>
#include <memory>

#include "nax/io/checkpoint_folder.hpp"

NAX_BEGIN
namespace io::detail {

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

// The name of a file that NewFile did not finish.
NAX_ENGINE bool is_unfinished(const std::string& name) {
  const std::size_t end = name.find(".npz.part");
  return end != std::string::npos && step_in(name.substr(0, end + 4)) >= 0;
}

NAX_ENGINE CheckpointFolder::CheckpointFolder(std::string path, const CheckpointsOptions& options)
    : path_(std::move(path)), options_(options) {
  if (options.every < 1 || options.keep < 0)
    raise<ValueError>({"Checkpoints: .every must be at least 1 and .keep at least 0, got ", options.every,
                       " and ", options.keep});
  create();
  folder_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder_.get() < 0) fail_system("Checkpoints", path_, "cannot be created or opened");
  if (lock() != Lock::held) return;
  for (const std::string& name : names())
    if (is_unfinished(name)) ::unlink((path_ + '/' + name).c_str());
  ::flock(folder_.get(), LOCK_UN);
  locked_ = false;
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
  for (int attempt = 0; lock() == Lock::taken; ++attempt) {  // one that begins holds it for a moment
    if (attempt == 50) fail("Checkpoints", path_, "is being saved to by another Checkpoints");
    const timespec pause{0, 20'000'000};
    ::nanosleep(&pause, nullptr);
  }
  if (const std::vector<std::int64_t> all = steps(); !all.empty() && all.back() > step)
    raise<ValueError>({"Checkpoints: '", path_, "' has step ", all.back(), " already, which is after ", step,
                       "; remove it, or save to another folder"});
  if (!name_is_on_disk_ && !sync_folder(path_ + "/.."))
    fail_system("Checkpoints", path_, "cannot be brought to the disk");
  name_is_on_disk_ = true;
}

NAX_ENGINE void CheckpointFolder::write(std::int64_t step, const NamedArrays& arrays) const {
  ZipWriter zip("Checkpoints", file_of(step));
  for (const auto& [name, array] : arrays)
    zip.add(name + ".npy", npy_header(array.dtype(), array.shape()), nax::detail::raw_data(array),
            array.nbytes());
  zip.commit();
  if (options_.keep == 0) return;
  std::vector<std::int64_t> old = steps();
  const auto keep = static_cast<std::size_t>(options_.keep);
  old.resize(old.size() - std::min(old.size(), keep));
  if (old.empty()) return;
  const std::optional<std::int64_t> best_one = options_.best == Best::none ? std::nullopt : best();
  for (const std::int64_t gone : old)
    if (gone != best_one && ::unlink(file_of(gone).c_str()) != 0 && errno != ENOENT)
      fail_system("Checkpoints", file_of(gone), "cannot be removed");
}

}  // namespace io::detail
NAX_END
