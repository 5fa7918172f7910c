#pragma once

#include <algorithm>

#include "nax/io/exporting/c_writer-inl.hpp"
#include "nax/io/new_file.hpp"
#include "nax/io/save_c.hpp"

NAX_BEGIN
namespace io::detail {

// Names of the function and its parameters, each another one and none that the source uses itself.
inline CNames c_names(const std::string& stem, const Graph& graph, const SaveCOptions& options) {
  CNames names{options.name.empty() ? stem : options.name, options.inputs, options.outputs,
               options.text_bytes};
  std::set<std::string> used = {"scratch", "memory"};
  const auto add = [&](const std::string& name) {
    const auto is_letter = [](char c) {
      return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    bool fits =
        !name.empty() && is_letter(name[0]) &&
        (name.size() < 3 || name[1] != '_' || !is_digit(name[2]));  // b_0, w_1 and so on are the source's
    for (const char c : name) fits = fits && (is_letter(c) || is_digit(c));
    if (!fits) raise<ValueError>({"save_c: no name of C's: ", name});
    if (!used.insert(name).second) raise<ValueError>({"save_c: a name is used twice: ", name});
  };
  const auto complete = [&](const char* what, std::vector<std::string>& own, char letter, std::size_t count) {
    if (own.empty())
      for (std::size_t i = 0; i < count; ++i) own.push_back(letter + std::to_string(i));
    if (own.size() != count)
      raise<ValueError>({"save_c: ", static_cast<std::int64_t>(own.size()), " names of ", what, " for ",
                         static_cast<std::int64_t>(count), " arrays"});
    for (const std::string& name : own) add(name);
  };
  add(names.function);
  complete("inputs", names.inputs, 'x', graph.arguments.size());
  complete("outputs", names.outputs, 'y', graph.results.size());
  return names;
}

NAX_ENGINE void write_c(const std::string& path, const Graph& graph, const SaveCOptions& options) {
  const std::size_t slash = path.find_last_of(os::separators);
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  std::string stem = path.substr(folder.size());
  stem = stem.substr(0, stem.rfind('.'));
  const CNames names = c_names(stem, graph, options);
  CWriter writer(graph, names);
  writer.write();
  const auto put = [](const std::string& to, const std::string& bytes) {
    NewFile file("save_c", to);
    file.write(bytes.data(), bytes.size());
    file.commit();
  };
  if (!writer.data().empty()) put(folder + names.function + ".bin", writer.data());
  put(folder + names.function + ".h", writer.header());
  put(path, writer.source());
}

}  // namespace io::detail
NAX_END
