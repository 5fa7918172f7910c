#pragma once

#include <map>
#include <string>

#include "nax/io/file.hpp"

NAX_BEGIN
namespace storage::detail {

// The answer to a request.
struct Response {
  long status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  io::Bytes body;
  std::uint64_t received = 0;  // bytes of headers and body, to see whether it moves
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

}  // namespace storage::detail
NAX_END
