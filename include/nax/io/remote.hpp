#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "nax/core/error.hpp"

// The seam to nax::storage: files whose paths are addresses (s3://bucket/key). All that reads or writes files
// by path goes through Source and NewFile, which ask here.
NAX_BEGIN
namespace io {

using Bytes = std::vector<std::uint8_t>;

namespace detail {

// Interface of nax::storage.
struct RemoteFiles {
  virtual ~RemoteFiles() = default;
  virtual Bytes read(const std::string& address) = 0;
  virtual void write(const std::string& address, const Bytes& bytes) = 0;
  // An object that is not there is none to remove.
  virtual void remove(const std::string& address) = 0;
  // The addresses of all objects that begin with this one, in order.
  virtual std::vector<std::string> list(const std::string& address) = 0;
  // For each address a text that changes with the object (its ETag); empty where the store has none.
  virtual std::vector<std::string> versions(const std::vector<std::string>& addresses) {
    return std::vector<std::string>(addresses.size());
  }
};
// Null where the program does not link nax::storage.
inline constinit RemoteFiles* remote_files = nullptr;

// Set once the loop is left that this thread works for: reads of objects give up then. Null for none.
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

inline bool is_address(const std::string& path) { return path.find("://") != std::string::npos; }
// Throws IoError where there is none.
NAX_ENGINE RemoteFiles& need_remote_files(const char* function, const std::string& address);
// Throws IoError for an address where a folder of this machine is needed.
NAX_ENGINE void check_local_folder(const char* function, const std::string& folder);

}  // namespace detail
}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace io::detail {

NAX_ENGINE RemoteFiles& need_remote_files(const char* function, const std::string& address) {
  if (!remote_files)
    raise<IoError>({function, ": '", address, "' needs nax::storage, which this program does not link"});
  return *remote_files;
}

NAX_ENGINE void check_local_folder(const char* function, const std::string& folder) {
  if (is_address(folder))
    raise<IoError>({function, ": '", folder, "' is an address, but this folder must lie on this machine"});
}

}  // namespace io::detail
NAX_END
#endif
