#include "cuda/ptx/reader.hpp"

#include "cuda/ptx/grid.hpp"
#include "cuda/ptx/text.hpp"

// Statements of a function: scopes, declarations, labels.
namespace ptx {

namespace {
bool is_label(std::string_view text) {
  text = trimmed(text);
  for (char c : text)
    if (!is_word(c)) return false;
  return !text.empty();
}
}  // namespace

void Reader::fail(const std::string& problem) const {
  throw Unsupported("PTX of " + readable(to_.name) + ", line " + std::to_string(line_) + " `" +
                    std::string(now_) + "`: " + problem);
}

std::string Reader::name_of(std::string_view head) {
  std::string_view rest = trimmed(head.substr(head.find_first_of(" \t\n(")));
  if (!rest.empty() && rest[0] == '(') rest = trimmed(rest.substr(rest.find(')') + 1));
  std::size_t end = 0;
  while (end < rest.size() && is_word(rest[end])) ++end;
  return std::string(rest.substr(0, end));
}

std::uint32_t Reader::allot(std::uint32_t& total, std::size_t bytes, std::size_t align) {
  total = static_cast<std::uint32_t>((total + align - 1) / align * align);
  const std::uint32_t at = total;
  total += static_cast<std::uint32_t>(bytes);
  return at;
}

void Reader::read_head(std::string_view head) {
  std::string_view rest = trimmed(head.substr(head.find_first_of(" \t\n(")));
  const auto list = [&](bool results) {
    const std::size_t close = rest.find(')');
    for (std::string_view text : split(rest.substr(1, close - 1), ',')) {
      if (text.empty()) continue;
      const Declared d = read_declaration(text);
      std::uint32_t& total = to_.entry ? to_.param_bytes : to_.local_bytes;
      const Passed passed{allot(total, d.bytes, d.align), static_cast<std::uint32_t>(d.bytes)};
      (results ? to_.results : to_.params).push_back(passed);
      scopes_[0].names[std::string(d.name)] = {to_.entry ? Symbol::param : Symbol::passed, passed.offset, 0};
      if (!to_.entry) locals_[std::string(d.name)] = passed;
    }
    rest = trimmed(rest.substr(close + 1));
  };
  if (!rest.empty() && rest[0] == '(') list(true);
  std::size_t end = 0;
  while (end < rest.size() && is_word(rest[end])) ++end;
  rest = trimmed(rest.substr(end));
  if (!rest.empty() && rest[0] == '(') list(false);
  if (const std::size_t most = rest.find(".maxntid"); most != std::string_view::npos) {
    std::string_view numbers = rest.substr(most + 8);
    numbers = numbers.substr(0, numbers.find_first_of(".\n"));
    std::uint64_t product = 1, n = 0;
    for (std::string_view part : split(numbers, ','))
      if (read_number(part, n)) product *= n;
    to_.most_threads = static_cast<std::uint32_t>(product);
  }
}

void Reader::read(std::size_t head, std::size_t body, std::size_t end, bool entry) {
  const std::string_view text = module_.text_;
  to_.entry = entry;
  to_.shared_bytes = module_.shared_bytes_;
  scopes_.emplace_back();
  now_ = text.substr(head, std::min<std::size_t>(body - head, 80));
  read_head(text.substr(head, body - head));
  int line = 1;
  for (std::size_t i = 0; i < body; ++i) line += text[i] == '\n';
  std::size_t begin = body + 1;
  for (std::size_t i = body + 1; i < end - 1; ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    const bool blank = trimmed(text.substr(begin, i - begin)).empty();
    if (c == '{' && blank) {
      scopes_.emplace_back();
      begin = i + 1;
    } else if (c == '}' && blank) {
      close_scope();
      begin = i + 1;
    } else if (c == '"') {
      i = text.find('"', i + 1);
    } else if (c == ':' && text[i + 1] != ':' && is_label(text.substr(begin, i - begin))) {
      label(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    } else if (c == '\n' && trimmed(text.substr(begin, i - begin)).substr(0, 5) == ".loc ") {
      begin = i + 1;
    } else if (c == ';') {
      const std::string_view whole = trimmed(text.substr(begin, i - begin));
      int first = line;
      for (char w : whole) first -= w == '\n';
      statement(whole, first);
      begin = i + 1;
    }
  }
  close_scope();
  if (!scopes_.empty()) fail("a brace is not closed");
}

void Reader::label(std::string_view name) {
  scopes_.back().names[std::string(name)] = {Symbol::label, static_cast<std::uint32_t>(to_.code.size()), 0};
  pending_label_ = std::string(name);
}

void Reader::close_scope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (auto& [at, name] : scope.branches) {
    const auto found = scope.names.find(name);
    if (found != scope.names.end() && found->second.kind == Symbol::label)
      to_.code[at].target = found->second.value;
    else if (!scopes_.empty())
      scopes_.back().branches.emplace_back(at, std::move(name));
    else
      fail("there is no label " + name);
  }
  if (!scopes_.empty()) return;
  for (const auto& table : tables_) {
    auto& targets = to_.tables.emplace_back();
    for (const std::string& name : table) {
      const auto found = scope.names.find(name);
      if (found == scope.names.end()) fail("there is no label " + name);
      targets.push_back(found->second.value);
    }
  }
}

void Reader::statement(std::string_view text, int line) {
  if (text.empty()) return;
  now_ = text;
  line_ = line;
  if (text[0] == '.')
    directive(text);
  else
    instruction(text, line);
}

void Reader::directive(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
  std::string_view rest = trimmed(text.substr(word.size()));
  if (word == ".pragma" || word == ".loc" || word == ".callprototype" || word == ".maxnreg") return;
  if (word == ".branchtargets") {
    scopes_.back().names[pending_label_] = {Symbol::branch_targets,
                                            static_cast<std::uint32_t>(tables_.size()), 0};
    auto& table = tables_.emplace_back();
    for (std::string_view name : split(rest, ',')) table.emplace_back(name);
    return;
  }
  if (word == ".reg") {
    const std::string_view type = rest.substr(0, rest.find_first_of(" \t\n"));
    for (std::string_view name : split(rest.substr(type.size()), ',')) {
      std::uint64_t count = 1;
      const std::size_t angle = name.find('<');
      if (angle != std::string_view::npos)
        read_number(name.substr(angle + 1, name.find('>') - angle - 1), count);
      scopes_.back().names[std::string(trimmed(name.substr(0, angle)))] = {
          angle == std::string_view::npos ? Symbol::slot : Symbol::range, to_.slots,
          static_cast<std::uint32_t>(count)};
      to_.slots += static_cast<std::uint32_t>(count);
    }
    return;
  }
  const Declared d = read_declaration(rest);
  const std::string name(d.name);
  if (word == ".shared") {
    scopes_.back().names[name] = {Symbol::shared, allot(to_.shared_bytes, d.bytes, d.align), 0};
  } else if (word == ".local" || word == ".param") {
    const Passed at{allot(to_.local_bytes, d.bytes, d.align), static_cast<std::uint32_t>(d.bytes)};
    scopes_.back().names[name] = {word == ".local" ? Symbol::local : Symbol::passed, at.offset, 0};
    locals_[name] = at;
  } else {
    fail("the directive " + std::string(word) + " is not known");
  }
}

}  // namespace ptx
