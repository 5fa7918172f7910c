#pragma once

#include <algorithm>

#include "nax/numpy/views/copy.hpp"
#include "nax/program/record/device.hpp"
#include "nax/transform/jit/options.hpp"
#include "nax/transform/jit/program_cache.hpp"

NAX_BEGIN
namespace detail {

NAX_ENGINE std::shared_ptr<ProgramEntry> ProgramCache::find(const Signature& signature,
                                                            FunctionRef<bool(const ProgramEntry&)> same) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = entries_.size(); i-- > 0;)
    if (entries_[i]->signature == signature && same(*entries_[i])) {
      std::rotate(entries_.begin() + static_cast<std::ptrdiff_t>(i),
                  entries_.begin() + static_cast<std::ptrdiff_t>(i + 1), entries_.end());
      found_.store(
          found_.load(std::memory_order_relaxed) + (found_.load(std::memory_order_relaxed) < 1 << 20),
          std::memory_order_relaxed);
      return entries_.back();
    }
  return nullptr;
}

NAX_ENGINE void ProgramCache::add(std::shared_ptr<ProgramEntry> entry) {
  std::vector<std::shared_ptr<ProgramEntry>> gone;  // destroyed when nothing is locked
  const std::lock_guard lock(mutex_);
  added_.store(added_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  entries_.push_back(std::move(entry));
  const auto bytes = [](const ProgramEntry& e) { return e.program ? e.program->bytes() : 0; };
  std::size_t sum = 0;
  for (const auto& e : entries_) sum += bytes(*e);
  const std::size_t most = jit_cache_bytes.load(std::memory_order_relaxed);
  while (entries_.size() > most_entries || (sum > most && entries_.size() > 1)) {
    sum -= bytes(*entries_.front());
    gone.push_back(std::move(entries_.front()));
    entries_.erase(entries_.begin());
  }
}

NAX_ENGINE std::size_t ProgramCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

NAX_ENGINE std::shared_ptr<const program::Program> record_program(
    const ArrayBase* const* arguments, std::size_t count, const std::vector<bool>& donated,
    FunctionRef<std::vector<ArrayBase>(std::vector<ArrayBase>& arguments)> f) {
  program::Recording recorded;
  std::vector<ArrayBase> own;
  for (std::size_t i = 0; i < count; ++i)
    own.push_back(recorded.argument(*arguments[i], !donated.empty() && donated[i]));
  const std::vector<ArrayBase> results = f(own);
  return recorded.finish(results);
}

NAX_ENGINE bool run_program(const program::Program& program, const ArrayBase* const* arguments,
                            std::size_t count, std::vector<ArrayBase>& results) {
  results.resize(program.result_count());
  std::vector<ArrayBase> rows;  // of arguments that are no runs of memory
  std::vector<const ArrayBase*> all;
  for (std::size_t i = 0; i < count; ++i)
    if (program.reads_run(i) && !layout_of(*arguments[i]).is_contiguous()) {
      if (all.empty()) {
        all.assign(arguments, arguments + count);
        rows.reserve(count);
      }
      rows.push_back(contiguous(constant(*arguments[i])));
      all[i] = &rows.back();
    }
  try {
    program.run(all.empty() ? arguments : all.data(), results.data());
    return true;
  } catch (const program::Unforeseen&) {
    return false;
  }
}

}  // namespace detail
NAX_END
