#include "cuda/ptx/module.hpp"

#include <cstdlib>
#include <cstring>

#include "cuda/ptx/reader.hpp"
#include "cuda/ptx/text.hpp"

// A module's functions and variables.
namespace ptx {

std::size_t bytes_of_type(std::string_view type) {
  if (type == "pred") return 1;
  if (type.size() < 2 || std::string_view("bsuf").find(type[0]) == std::string_view::npos) return 0;
  const std::string_view bits = type.substr(1);
  return bits == "8" ? 1 : bits == "16" ? 2 : bits == "32" ? 4 : bits == "64" ? 8 : bits == "128" ? 16 : 0;
}

bool read_number(std::string_view text, std::uint64_t& value) {
  text = trimmed(text);
  if (text == "WARP_SZ") return value = 32, true;
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text = trimmed(text.substr(1));
  }
  if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  const std::string digits(text);
  char* end = nullptr;
  if (text.size() > 2 && text[0] == '0' && std::strchr("fFdD", text[1])) {
    value = std::strtoull(digits.c_str() + 2, &end, 16);
    if (negative) value ^= std::uint64_t{1} << (std::strchr("fF", text[1]) ? 31 : 63);
    return *end == 0;
  }
  value = text.size() > 2 && (text[1] == 'b' || text[1] == 'B') ? std::strtoull(digits.c_str() + 2, &end, 2)
                                                                : std::strtoull(digits.c_str(), &end, 0);
  if (negative) value = std::uint64_t{0} - value;
  return *end == 0 || (*end == 'U' && end[1] == 0);
}

Declared read_declaration(std::string_view text) {
  Declared d;
  std::size_t count = 1;
  if (const std::size_t bracket = text.find('['); bracket != std::string_view::npos) {
    std::string_view rest = text.substr(bracket);
    while (!rest.empty() && rest[0] == '[') {
      const std::size_t close = rest.find(']');
      std::uint64_t n = 0;
      if (!read_number(rest.substr(1, close - 1), n)) d.open = true;
      count *= n;
      rest = trimmed(rest.substr(close + 1));
    }
    text = text.substr(0, bracket);
  }
  const std::vector<std::string_view> words = words_of(text);
  d.name = words.empty() ? std::string_view() : words.back();
  bool explicit_align = false;
  std::size_t lanes = 1;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    std::uint64_t n = 0;
    if (words[i] == ".align" && read_number(words[i + 1], n) && i + 2 < words.size()) {
      // `.ptr .align` is of what the parameter points to
      if (i == 0 || (words[i - 1] != ".ptr" && (i < 2 || words[i - 2] != ".ptr"))) {
        d.align = n;
        explicit_align = true;
      }
    } else if (words[i] == ".v2") {
      lanes = 2;
    } else if (words[i] == ".v4") {
      lanes = 4;
    } else if (words[i][0] == '.') {
      if (const std::size_t bytes = bytes_of_type(words[i].substr(1))) d.element = bytes;
    }
  }
  if (!explicit_align) d.align = d.element * lanes;
  d.bytes = d.element * lanes * count;
  return d;
}

Module::Module(std::string text) : text_(std::move(text)) {
  // Comments become blanks.
  for (std::size_t i = 0; i + 1 < text_.size(); ++i) {
    if (text_[i] == '/' && text_[i + 1] == '/')
      while (i < text_.size() && text_[i] != '\n') text_[i++] = ' ';
    else if (text_[i] == '/' && text_[i + 1] == '*') {
      const std::size_t end = std::min(text_.find("*/", i), text_.size() - 2) + 2;
      for (; i < end; ++i)
        if (text_[i] != '\n') text_[i] = ' ';
    }
  }
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') line_starts_.push_back(i + 1);

  std::size_t at = 0;
  while (true) {
    while (at < text_.size() && (is_space(text_[at]) || text_[at] == '\0')) ++at;
    if (at >= text_.size()) break;
    std::size_t end = at;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string_view word = std::string_view(text_).substr(at, end - at);
    if (word == ".version" || word == ".target" || word == ".address_size" || word == ".file") {
      at = std::min(text_.find('\n', at), text_.size());
    } else if (word == ".entry" || word == ".func") {
      const std::size_t stop = text_.find_first_of("{;", at);
      if (stop == std::string::npos) throw Unsupported("PTX: a function without an end");
      Source source{at, stop, stop + 1, word == ".entry"};
      const std::string name = Reader::name_of(std::string_view(text_).substr(at, stop - at));
      if (text_[stop] == '{') {
        int depth = 0;
        for (source.end = stop; source.end < text_.size(); ++source.end) {
          if (text_[source.end] == '{') ++depth;
          if (text_[source.end] == '}' && --depth == 0) break;
        }
        ++source.end;
        sources_[name] = source;
      }
      at = source.end;
    } else if (word == ".visible" || word == ".extern" || word == ".weak" || word == ".common") {
      at = end;
      if (word == ".extern") {
        const std::size_t stop = text_.find(';', at);
        const std::string_view declared = trimmed(std::string_view(text_).substr(at, stop - at));
        if (declared.substr(0, 7) == ".shared") {
          extern_shared_.emplace_back(read_declaration(declared).name);
          at = stop + 1;
        }
      }
    } else if (word == ".global" || word == ".const" || word == ".shared") {
      const std::size_t stop = std::min(text_.find(';', at), text_.size());
      read_variable(std::string_view(text_).substr(at, stop - at));
      at = stop + 1;
    } else {
      throw Unsupported("PTX: `" + std::string(std::string_view(text_).substr(at, 60)) + "` is not known");
    }
  }
}
Module::~Module() = default;

void Module::read_variable(std::string_view text) {
  const std::size_t equals = text.find('=');
  Declared d = read_declaration(text.substr(0, equals));
  const std::string name(d.name);
  std::vector<std::string_view> values;
  if (equals != std::string_view::npos) {
    std::string_view list = trimmed(text.substr(equals + 1));
    std::string flat(list);
    for (char& c : flat)
      if (c == '{' || c == '}') c = ' ';
    if (d.open) d.bytes = split(flat, ',').size() * d.element;
  }
  if (text.substr(0, 7) == ".shared") {
    shared_bytes_ = static_cast<std::uint32_t>((shared_bytes_ + d.align - 1) / d.align * d.align);
    shared_[name] = shared_bytes_;
    shared_bytes_ += static_cast<std::uint32_t>(d.bytes);
    return;
  }
  Variable& v = variables_[name];
  v.bytes = d.bytes;
  v.memory = std::make_unique<char[]>(d.bytes + d.align);
  const auto raw = reinterpret_cast<std::uintptr_t>(v.memory.get());
  v.at = v.memory.get() + (d.align - raw % d.align) % d.align;
  if (equals == std::string_view::npos) return;
  std::string flat(text.substr(equals + 1));
  for (char& c : flat)
    if (c == '{' || c == '}') c = ' ';
  std::size_t offset = 0;
  for (std::string_view item : split(flat, ',')) {
    std::uint64_t value = 0;
    if (!read_number(item, value)) {
      std::string symbol(item);
      if (symbol.rfind("generic(", 0) == 0)
        symbol = std::string(trimmed(std::string_view(symbol).substr(8, symbol.find(')') - 8)));
      const auto found = variables_.find(symbol);
      if (found == variables_.end())
        throw Unsupported("PTX: the initial value `" + symbol + "` of " + name + " is not known");
      value = reinterpret_cast<std::uint64_t>(found->second.at);
    }
    if (offset + d.element <= v.bytes) std::memcpy(v.at + offset, &value, d.element);
    offset += d.element;
  }
}

const Function* Module::function(const std::string& name) {
  std::unique_ptr<Function>& f = functions_[name];
  if (f) return f.get();
  const auto source = sources_.find(name);
  if (source == sources_.end()) {
    functions_.erase(name);
    return nullptr;
  }
  f = std::make_unique<Function>();
  f->name = name;
  const Source& s = source->second;
  try {
    Reader(*this, *f).read(s.head, s.body, s.end, s.entry);
  } catch (...) {
    functions_.erase(name);
    throw;
  }
  return functions_[name].get();
}
const Function* Module::entry(const std::string& name) {
  const auto source = sources_.find(name);
  return source == sources_.end() || !source->second.entry ? nullptr : function(name);
}
std::vector<std::string> Module::entries() const {
  std::vector<std::string> names;
  for (const auto& [name, source] : sources_)
    if (source.entry) names.push_back(name);
  return names;
}
char* Module::variable(const std::string& name, std::size_t* bytes) {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return nullptr;
  if (bytes) *bytes = found->second.bytes;
  return found->second.at;
}
bool Module::holds(const void* address, std::size_t bytes) const {
  const char* const at = static_cast<const char*>(address);
  for (const auto& [name, v] : variables_)
    if (at >= v.at && at + bytes <= v.at + v.bytes) return true;
  return false;
}
std::string Module::line(int number) const {
  if (number < 1 || static_cast<std::size_t>(number) > line_starts_.size()) return "";
  const std::size_t begin = line_starts_[static_cast<std::size_t>(number) - 1];
  std::string text(trimmed(std::string_view(text_).substr(begin, text_.find('\n', begin) - begin)));
  for (char& c : text)
    if (c == '\t') c = ' ';
  return text;
}

}  // namespace ptx
