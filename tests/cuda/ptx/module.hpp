#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// A PTX module as the interpreter keeps it.
//
//   Module       text of one translation unit; functions are decoded when they are first run
//   Function     instructions, and how a frame of it looks
//   Instruction  a handler, register slots, and what the handler wants to know
//
// All values of a thread lie in a frame of 64-bit slots: registers, constants (written when the frame is
// made), special registers and addresses of local variables (also written then). So each operand is a slot.
//
// Addresses: those of global and constant memory are the host's. Shared, local and parameter addresses are
// offsets; their generic form has the space in bits 56 to 63.
namespace ptx {

struct Thread;
struct Warp;
struct Instruction;
using Handler = void (*)(Thread&, const Instruction&);
using GroupHandler = void (*)(Warp&, const Instruction&, std::uint32_t lanes);

enum class Space : std::uint8_t { generic, global, shared, local, param };
inline constexpr std::uint64_t offset_mask = (std::uint64_t{1} << 56) - 1;
constexpr std::uint64_t generic_base(Space space) {
  return space == Space::generic || space == Space::global ? 0 : static_cast<std::uint64_t>(space) << 56;
}

inline constexpr std::uint32_t no_slot = ~std::uint32_t{0};

struct Instruction {
  Handler run = nullptr;
  GroupHandler group = nullptr;  // of instructions for which the threads of a warp wait for each other
  std::uint32_t at[9] = {no_slot, no_slot, no_slot, no_slot, no_slot, no_slot, no_slot, no_slot, no_slot};
  std::uint32_t guard = no_slot;  // the predicate before the instruction
  std::uint32_t target = 0;       // of a branch: an instruction; else an index in calls or registers
  std::int64_t offset = 0;        // of an address
  bool guard_negated = false;
  Space space = Space::generic;
  std::uint8_t bytes = 0, count = 1;  // of an access: of an element, elements
  bool is_signed = false;             // loads extend the sign
  bool strong = false;                // volatile, relaxed, acquire, release, atomic
  bool acquires = false, releases = false;
  std::uint8_t mode = 0;      // for the handler
  std::uint32_t negated = 0;  // bit i: predicate operand i is read inverted
  int line = 0;               // in the module's text
};

// A value that a frame gets when it is made.
struct Preset {
  enum Kind : std::uint8_t {
    constant,
    local_address,
    tid,
    ntid,
    ctaid,
    nctaid,
    laneid,
    warpid,
    nwarpid,
    mask_eq,
    mask_le,
    mask_lt,
    mask_ge,
    mask_gt,
    smid,
    nsmid,
    dynamic_shared,
    total_shared,
    extern_shared
  } kind;
  std::uint8_t axis = 0;
  std::uint32_t slot = 0;
  std::uint64_t value = 0;
};

// A variable of the local frame that a call passes or gets.
struct Passed {
  std::uint32_t offset, bytes;
};
struct Function;
struct Call {
  const Function* callee = nullptr;  // null: by the address in a register
  std::vector<Passed> arguments, results;
};

struct Function {
  std::string name;
  bool entry = false;
  std::vector<Passed> params, results;  // of an entry: in the parameter space; of others: in the frame
  std::uint32_t param_bytes = 0, slots = 0, local_bytes = 0, shared_bytes = 0;
  std::uint32_t most_threads = 1024;
  std::vector<Preset> presets;
  std::vector<Instruction> code;
  std::vector<Call> calls;
  std::vector<std::vector<std::uint32_t>> registers;  // of products of matrices
  std::vector<std::vector<std::uint32_t>> tables;     // of brx.idx
};

// An error in the PTX or of the interpreter: something that it does not know.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Module {
 public:
  explicit Module(std::string text);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Null where the module has no such entry. Throws Unsupported, which names the instruction.
  const Function* entry(const std::string& name);
  std::vector<std::string> entries() const;
  // The memory of a .global or .const variable; null where there is none.
  char* variable(const std::string& name, std::size_t* bytes = nullptr);
  // Is all of [address, address + bytes) in one variable?
  bool holds(const void* address, std::size_t bytes) const;
  // The text of a line, for messages.
  std::string line(int number) const;

 private:
  friend class Reader;
  struct Source {
    std::size_t head = 0, body = 0,
                end = 0;  // in the text: from `.entry` or `.func`, the brace, behind its partner
    bool entry = false;
  };
  struct Variable {
    std::unique_ptr<char[]> memory;
    char* at;
    std::size_t bytes;
  };
  void read_variable(std::string_view text);
  const Function* function(const std::string& name);

  std::string text_;
  std::map<std::string, Source> sources_;
  std::map<std::string, std::unique_ptr<Function>> functions_;
  std::map<std::string, Variable> variables_;
  std::map<std::string, std::uint32_t> shared_;  // offsets of those outside functions
  std::vector<std::string> extern_shared_;
  std::uint32_t shared_bytes_ = 0;
  std::vector<std::size_t> line_starts_;
};

// Turns an instruction's name and operands into a handler. Each family returns false for what is not its own.
struct Words {
  std::string_view root;
  std::vector<std::string_view> mods;  // what follows the root's dots
  bool has(std::string_view mod) const {
    for (std::string_view m : mods)
      if (m == mod) return true;
    return false;
  }
  std::string_view type() const { return mods.empty() ? std::string_view() : mods.back(); }
};
bool decode_integer(const Words& w, Instruction& i);
bool decode_bits(const Words& w, Instruction& i);
bool decode_float(const Words& w, Instruction& i);
bool decode_compare(const Words& w, Instruction& i);
bool decode_convert(const Words& w, Instruction& i);
bool decode_memory(const Words& w, Instruction& i);
bool decode_atomic(const Words& w, Instruction& i);
bool decode_control(const Words& w, Instruction& i);
bool decode_warp(const Words& w, Instruction& i);
bool decode_matrix(const Words& w, Instruction& i);

}  // namespace ptx
