#pragma once

#include <algorithm>
#include <regex>

#include "nax/io/torch.hpp"

NAX_BEGIN
namespace io {

NAX_ENGINE TorchNames::TorchNames(std::vector<std::pair<std::string, std::string>> pairs)
    : rename_([pairs = std::move(pairs)](std::string name) {
        for (const auto& [part, other] : pairs) {
          if (name.starts_with(part))
            name = other + name.substr(part.size());
          else if (name.ends_with(part))
            name = name.substr(0, name.size() - part.size()) + other;
        }
        return name;
      }) {}

NAX_ENGINE TorchNames TorchNames::matching(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<std::pair<std::regex, std::string>> all;
  for (const auto& [pattern, other] : pairs) try {
      all.emplace_back(std::regex(pattern), other);
    } catch (const std::regex_error& e) {
      raise<ValueError>({"load_torch: .rename: no regular expression: ", pattern, ": ", e.what()});
    }
  return [all = std::move(all)](std::string name) {
    for (const auto& [pattern, other] : all) {
      // Matching recurses with every character.
      if (name.size() > 4096)
        raise<IoError>({"load_torch: .rename: a name of ", static_cast<std::int64_t>(name.size()),
                        " bytes, more than 4096: ", name.substr(0, 64)});
      try {
        name = std::regex_replace(name, pattern, other);
      } catch (const std::regex_error& e) {
        raise<IoError>({"load_torch: .rename: an expression fails: ", name, ": ", e.what()});
      }
    }
    return name;
  };
}

namespace detail {

NAX_ENGINE TorchFiles::TorchFiles(const std::string& path, const LoadTorchOptions& options)
    : cast_(options.cast) {
  constexpr std::string_view ending = ".index.json";
  if (!path.ends_with(ending)) {
    add(path, options);
    return;
  }
  const std::string folder = path.substr(0, path.find_last_of('/') + 1);
  const Source index("load_torch", path);
  std::string text(static_cast<std::size_t>(index.size()), '\0');
  index.read(0, text.data(), text.size());
  const std::map<std::string, std::string> file_of = SafetensorsJson(index, text).read_weight_map();
  std::map<std::string, bool> files;
  for (const auto& [name, file] : file_of) {
    if (file.empty() || file.find('/') != std::string::npos || file == "..")
      index.fail("names the file " + shown(file) + ", which does not lie beside it");
    files.emplace(file, true);
  }
  if (files.empty()) index.fail("names no file");
  for (const auto& file : files) add(folder + file.first, options);
  for (const auto& [name, file] : file_of)
    if (!tensors_.count(options.rename(name)))
      index.fail("names " + shown(name) + ", which " + shown(file) + " has not");
}

NAX_ENGINE void TorchFiles::add(const std::string& path, const LoadTorchOptions& options) {
  files_.push_back(std::make_unique<File>(path, options.map));
  const File* const file = files_.back().get();
  for (const std::string& name : file->reader.names()) {
    const auto [place, is_new] = tensors_.emplace(options.rename(name), Tensor{file, name, false});
    if (!is_new)
      file->source.fail("(" + shown(name) + ") is renamed to " + shown(place->first) + ", as is " +
                        shown(place->second.name));
  }
}

NAX_ENGINE const Source& TorchFiles::source() const { return files_.front()->source; }

NAX_ENGINE const Shape* TorchFiles::shape(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second.file->reader.info(found->second.name).shape;
}

NAX_ENGINE ArrayBase TorchFiles::take(const std::string& name, DType dtype) {
  Tensor& tensor = tensors_.at(name);
  tensor.taken = true;
  return nax::detail::placed(tensor.file->reader.array(tensor.name, dtype, nullptr, cast_));
}

NAX_ENGINE std::vector<std::string> TorchFiles::left() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors_)
    if (!tensor.taken && !name.ends_with("num_batches_tracked")) names.push_back(tensor.name);
  return names;
}

NAX_ENGINE void TorchFiles::fail(const std::string& name, const std::string& what) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) source().fail("(" + shown(name) + ") " + what);
  found->second.file->reader.fail(found->second.name, what);
}

NAX_ENGINE std::string name_at(const Path& path) {
  const std::string text = path.text();
  return text.empty() ? text : name_of(text);
}

NAX_ENGINE TorchLoader::TorchLoader(const std::string& path, const LoadTorchOptions& options)
    : options_(options), files_(path, options) {}

NAX_ENGINE TorchLoader::~TorchLoader() = default;

NAX_ENGINE std::string TorchLoader::joined(const Path& module, const char* part) {
  const std::string name = dotted_name(name_at(module));
  return name.empty() ? part : name + '.' + part;
}

NAX_ENGINE bool TorchLoader::is_in_out(const Path& module, const std::string& name, const Shape& tree) {
  const std::string own = dotted_name(name_at(module));
  for (const auto& [ending, layout] : options_.layout)
    if (own.ends_with(ending)) return layout == TorchLayout::in_out;
  const Shape& file = *files_.shape(name);
  if (tree.size() != 2 || file.size() != 2) return false;
  if (file[0] == file[1]) {
    square_ = name;
    return false;
  }
  const bool as_it_is = file == tree;
  if (as_it_is) in_out_ = name;
  return as_it_is;
}

NAX_ENGINE void TorchLoader::note_empty(const Path& module, std::size_t missing) {
  const auto may_miss = [&](const std::string& leaf) {
    return std::any_of(options_.without.begin(), options_.without.end(), [&](const std::string& beginning) {
      return dotted_name(leaf).starts_with(beginning);
    });
  };
  const auto first = report_.missing.begin() + static_cast<std::ptrdiff_t>(missing);
  if (!empty_.empty() || std::all_of(first, report_.missing.end(), may_miss)) return;
  const std::string own = dotted_name(name_at(module));
  empty_ = own.empty() ? "it" : own;
}

NAX_ENGINE LoadReport TorchLoader::finish() {
  if (!in_out_.empty() && !square_.empty())
    files_.fail(square_, "is square and may be stored as (out, in) or, as " + shown(in_out_) +
                             " is, as (in, out): state it by .layout");
  report_.left = files_.left();
  if (options_.strict && !(report_.missing.empty() && report_.left.empty()))
    fail_strict(files_.source(), report_);
  if (report_.matched.empty() && !report_.missing.empty()) fail_strict(files_.source(), report_);
  if (!options_.strict && !empty_.empty())
    files_.source().fail("has nothing of " + shown(empty_) + ", which is not among .without");
  return std::move(report_);
}

}  // namespace detail
}  // namespace io
NAX_END
