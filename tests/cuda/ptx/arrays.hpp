#pragma once

#include <map>
#include <mutex>

#include "cuda/ptx/grid.hpp"

// Where kernels may read and write.
namespace ptx {

// The lives of arrays within the blocks of a pool. A moment is the number of a launch or of a life's end.
class Arrays {
 public:
  std::uint64_t now() {
    const std::lock_guard lock(mutex_);
    return ++moment_;
  }
  void begin(const char* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto& lives = lives_[memory];
    if (lives.size() > 64) lives.erase(lives.begin(), lives.begin() + 32);
    lives.push_back({bytes, ++moment_, ~std::uint64_t{0}});
  }
  void end(const char* memory) {
    const std::lock_guard lock(mutex_);
    if (const auto found = lives_.find(memory); found != lives_.end()) found->second.back().end = ++moment_;
  }
  // For a kernel of that moment on a card.
  Extent find(const char* at, std::size_t bytes, std::uint64_t moment, int card);

 private:
  struct Life {
    std::size_t bytes;
    std::uint64_t begin, end;
  };
  std::mutex mutex_;
  std::uint64_t moment_ = 0;
  std::map<const char*, std::vector<Life>> lives_;
};

}  // namespace ptx
