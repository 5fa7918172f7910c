#pragma once

#include "nax/io/numpy_files.hpp"

NAX_BEGIN
namespace io::detail {

NAX_ENGINE void write_npy(const char* function, const std::string& path, const ArrayBase& array) {
  const std::string header = npy_header(array.dtype(), array.shape());
  NewFile file(function, path);
  file.write(header.data(), header.size());
  file.write(nax::detail::raw_data(array), array.nbytes());
  file.commit();
}

NAX_ENGINE std::string npz_dtype(const ZipReader& zip, const ZipReader::Entry& entry) {
  if (!is_npy(entry.name)) return "";
  Member member = zip.open(entry);
  const std::string descr = read_npy_header(member).descr;
  for (std::size_t i = 0; i < dtype_count; ++i)
    if (bool swapped = false; same_descr(descr, static_cast<DType>(i), swapped))
      return std::string(dtype_name(static_cast<DType>(i)));
  return descr;
}

NAX_ENGINE void write_npz(const char* function, const std::string& path,
                          const std::vector<std::pair<std::string, ArrayBase>>& arrays, bool pack) {
  ZipWriter zip(function, with_ending(path, ".npz"));
  for (const auto& [name, array] : arrays)
    zip.add(name + ".npy", npy_header(array.dtype(), array.shape()), nax::detail::raw_data(array),
            array.nbytes(), pack);
  zip.commit();
}

NAX_ENGINE std::vector<std::pair<std::string, ArrayBase>> named(std::initializer_list<NamedArray> list) {
  std::vector<std::pair<std::string, ArrayBase>> arrays;
  for (const NamedArray& x : list) arrays.emplace_back(x.name, x.array);
  return arrays;
}

}  // namespace io::detail
NAX_END
