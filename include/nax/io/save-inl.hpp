#pragma once

#include "nax/io/save.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE void check_text(Member&& member, const std::string& text) {
  const NpyHeader header = read_npy_header(member);
  if (header.descr.substr(0, 2) != "|S" || !header.shape.empty() ||
      header.descr.substr(2) != std::to_string(member.left()))
    member.fail("has dtype '" + header.descr + "' and shape " + to_string(header.shape) +
                ", the tree has the text '" + text + "'");
  std::string there(member.left(), '\0');
  member.read(there.data(), there.size());
  member.finish();
  if (there == padded(text)) return;
  there.resize(std::min<std::size_t>(there.find_last_not_of('\0') + 1, 256));
  member.fail("is '" + there + "', the tree has '" + text + "'");
}

}  // namespace io::detail
NAX_END
