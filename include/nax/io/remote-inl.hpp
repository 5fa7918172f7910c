#pragma once

#include "nax/io/remote.hpp"

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
