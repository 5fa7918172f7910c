#pragma once

#include <map>
#include <string_view>

#include "cuda/ptx/module.hpp"

namespace ptx {

// Decodes one function of a module.
//
// Names live in scopes: a function's, and those of braces within it. A register's name is looked up whole,
// and then as the prefix of a range (`%r<24>`).
class Reader {
 public:
  Reader(Module& module, Function& to) : module_(module), to_(to) {}
  // Offsets in the module's text: the head, the opening brace, behind the closing one.
  void read(std::size_t head, std::size_t body, std::size_t end, bool entry);
  // The name in a head: `.func (...) name (...)`.
  static std::string name_of(std::string_view head);

 private:
  struct Symbol {
    enum Kind { slot, range, shared, local, passed, param, label, branch_targets } kind;
    std::uint32_t value = 0, count = 0;  // slot or offset; table
  };
  struct Scope {
    std::map<std::string, Symbol, std::less<>> names;
    std::vector<std::pair<std::uint32_t, std::string>> branches;  // that wait for their labels
  };
  // An operand: a slot, and what it is the address or the inverse of.
  struct Operand {
    std::uint32_t slot = no_slot;
    bool negated = false;
  };

  void read_head(std::string_view head);
  void statement(std::string_view text, int line);
  void directive(std::string_view text);
  void label(std::string_view name);
  void instruction(std::string_view text, int line);
  void place(const Words& w, std::vector<std::string_view>& operands, Instruction& i);
  void call(std::vector<std::string_view> operands, Instruction& i);
  void close_scope();

  const Symbol* find(std::string_view name) const;
  Operand operand(std::string_view text);
  void address(std::string_view text, Instruction& i);
  std::uint32_t constant(std::uint64_t value);
  std::uint32_t preset(Preset::Kind kind, int axis = 0, std::uint64_t value = 0);
  std::uint32_t special(std::string_view name);
  std::uint32_t allot(std::uint32_t& total, std::size_t bytes, std::size_t align);
  Passed local_named(std::string_view name) const;
  [[noreturn]] void fail(const std::string& problem) const;

  Module& module_;
  Function& to_;
  std::vector<Scope> scopes_;
  std::map<std::uint64_t, std::uint32_t> constants_;
  std::map<std::string, Passed, std::less<>> locals_;
  std::vector<std::vector<std::string>> tables_;  // labels of brx.idx
  std::string pending_label_;
  std::string_view now_;  // the statement, for messages
  int line_ = 0;
};

}  // namespace ptx
