#pragma once

#include <algorithm>

#include "nax/modules/data/csv.hpp"

NAX_BEGIN
namespace data {

NAX_ENGINE CsvTable::CsvTable(std::string path, io::Bytes bytes, const CsvOptions& options)
    : path_(std::move(path)), bytes_(std::move(bytes)), options_(options) {}

NAX_ENGINE std::vector<std::string> CsvTable::names() const {
  return detail::csv_names(path_, bytes_, options_);
}

NAX_ENGINE ArrayBase CsvTable::rows(const CsvColumn& column, DType dtype) const {
  CsvOptions options = options_;
  options.columns = {column};
  return detail::read_csv_rows(path_, bytes_, options, dtype);
}

NAX_ENGINE std::vector<std::string> CsvTable::text(const CsvColumn& column) const {
  CsvOptions options = options_;
  options.columns = {column};
  std::vector<std::string> texts;
  for (std::vector<std::string>& row : detail::read_csv_text(path_, bytes_, options))
    texts.push_back(std::move(row[0]));
  return texts;
}

NAX_ENGINE std::pair<Array<int>, std::vector<std::string>> CsvTable::categories(
    const CsvColumn& column) const {
  const std::vector<std::string> texts = text(column);
  std::vector<std::string> all = texts;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<int> places;
  for (const std::string& one : texts)
    places.push_back(static_cast<int>(std::lower_bound(all.begin(), all.end(), one) - all.begin()));
  return {array(places), std::move(all)};
}

}  // namespace data
NAX_END
