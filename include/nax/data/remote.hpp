#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "nax/io/file.hpp"

// Files by path, and objects by address where the program links nax::storage.
NAX_BEGIN
namespace data::detail {

// Interface of nax::storage for `scheme://` addresses.
struct RemoteStore {
  virtual ~RemoteStore() = default;
  virtual io::Bytes read(const std::string& address) = 0;
  // The addresses of all objects that begin with this one, in order.
  virtual std::vector<std::string> list(const std::string& address) = 0;
  // For each address a text that changes with the object (its ETag); empty where the store has none.
  virtual std::vector<std::string> versions(const std::vector<std::string>& addresses) {
    return std::vector<std::string>(addresses.size());
  }
};
inline constinit RemoteStore* remote_store = nullptr;

// Set once the loop is left that this thread works for: what reads objects gives up then. Null for none.
inline constinit thread_local const std::atomic<bool>* reads_for = nullptr;

// Names the loop that this thread reads for, while it lives.
class ReadsFor {
 public:
  explicit ReadsFor(const std::atomic<bool>* left) : before_(reads_for) { reads_for = left; }
  ~ReadsFor() { reads_for = before_; }
  ReadsFor(const ReadsFor&) = delete;
  ReadsFor& operator=(const ReadsFor&) = delete;

 private:
  const std::atomic<bool>* before_;
};

inline bool is_remote(const std::string& path) { return path.find("://") != std::string::npos; }

NAX_ENGINE RemoteStore& need_store(const char* function, const std::string& address);

// All bytes of a file or an object. Throws IoError that names it.
NAX_ENGINE io::Bytes read_any(const char* function, const std::string& path);

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/data/remote-inl.hpp"
#endif
