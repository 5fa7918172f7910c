#pragma once

#include "nax/data/remote.hpp"

NAX_BEGIN
namespace data::detail {

NAX_ENGINE RemoteStore& need_store(const char* function, const std::string& address) {
  if (!remote_store)
    raise<IoError>({function, ": '", address, "' needs nax::storage, which this program does not link"});
  return *remote_store;
}

NAX_ENGINE io::Bytes read_any(const char* function, const std::string& path) {
  return is_remote(path) ? need_store(function, path).read(path) : io::detail::read_file(function, path);
}

}  // namespace data::detail
NAX_END
