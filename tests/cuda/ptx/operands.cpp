#include "cuda/ptx/reader.hpp"
#include "cuda/ptx/text.hpp"

// Instructions of a function: their names, and their operands as slots.
namespace ptx {

const Reader::Symbol* Reader::find(std::string_view name) const {
  std::string_view prefix = name;
  while (!prefix.empty() && std::isdigit(static_cast<unsigned char>(prefix.back()))) prefix.remove_suffix(1);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->names.find(name); found != scope->names.end()) return &found->second;
    if (prefix.size() == name.size()) continue;
    if (const auto found = scope->names.find(prefix);
        found != scope->names.end() && found->second.kind == Symbol::range)
      return &found->second;
  }
  return nullptr;
}

std::uint32_t Reader::preset(Preset::Kind kind, int axis, std::uint64_t value) {
  for (const Preset& p : to_.presets)
    if (kind != Preset::constant && p.kind == kind && p.axis == axis && p.value == value) return p.slot;
  to_.presets.push_back({kind, static_cast<std::uint8_t>(axis), to_.slots, value});
  return to_.slots++;
}
std::uint32_t Reader::constant(std::uint64_t value) {
  const auto [at, fresh] = constants_.try_emplace(value, 0);
  if (fresh) at->second = preset(Preset::constant, 0, value);
  return at->second;
}

// Special registers that stay as they are while a thread runs.
std::uint32_t Reader::special(std::string_view name) {
  int axis = 0;
  std::string_view base = name;
  if (name.size() > 2 && name[name.size() - 2] == '.') {
    axis = name.back() - 'x';
    base = name.substr(0, name.size() - 2);
  }
  static constexpr struct {
    std::string_view name;
    Preset::Kind kind;
  } all[] = {{"%tid", Preset::tid},
             {"%ntid", Preset::ntid},
             {"%ctaid", Preset::ctaid},
             {"%nctaid", Preset::nctaid},
             {"%laneid", Preset::laneid},
             {"%warpid", Preset::warpid},
             {"%nwarpid", Preset::nwarpid},
             {"%lanemask_eq", Preset::mask_eq},
             {"%lanemask_le", Preset::mask_le},
             {"%lanemask_lt", Preset::mask_lt},
             {"%lanemask_ge", Preset::mask_ge},
             {"%lanemask_gt", Preset::mask_gt},
             {"%smid", Preset::smid},
             {"%nsmid", Preset::nsmid},
             {"%dynamic_smem_size", Preset::dynamic_shared},
             {"%total_smem_size", Preset::total_shared}};
  for (const auto& one : all)
    if (one.name == base && axis >= 0 && axis <= 2) return preset(one.kind, axis);
  // A launch has no clusters: each is one block.
  if (base == "%cluster_ctaid" || base == "%cluster_ctarank" || base == "%gridid" ||
      base == "%is_explicit_cluster")
    return constant(0);
  if (base == "%cluster_nctaid" || base == "%cluster_nctarank") return constant(1);
  if (base == "%clusterid") return preset(Preset::ctaid, axis);
  if (base == "%nclusterid") return preset(Preset::nctaid, axis);
  return no_slot;
}

Reader::Operand Reader::operand(std::string_view text) {
  Operand result;
  text = trimmed(text);
  if (!text.empty() && text[0] == '!') {
    result.negated = true;
    text = trimmed(text.substr(1));
  }
  if (text == "_") return result;
  if (std::uint64_t value = 0; read_number(text, value)) {
    result.slot = constant(value);
    return result;
  }
  std::string_view name = text;
  std::uint64_t plus = 0;
  if (const std::size_t sign = text.find('+'); sign != std::string_view::npos) {
    name = trimmed(text.substr(0, sign));
    if (!read_number(text.substr(sign + 1), plus))
      fail("the operand `" + std::string(text) + "` is not known");
  }
  if (const Symbol* s = find(name)) {
    switch (s->kind) {
      case Symbol::slot:
        result.slot = s->value;
        return result;
      case Symbol::range: {
        std::size_t digits = name.size();
        while (std::isdigit(static_cast<unsigned char>(name[digits - 1]))) --digits;
        std::uint64_t index = std::stoull(std::string(name.substr(digits)));
        if (index >= s->count) fail("the register " + std::string(name) + " is not declared");
        result.slot = s->value + static_cast<std::uint32_t>(index);
        return result;
      }
      case Symbol::shared:
      case Symbol::param:
        result.slot = constant(s->value + plus);
        return result;
      case Symbol::local:
        result.slot = preset(Preset::local_address, 0, s->value + plus);
        return result;
      case Symbol::passed:
        result.slot = preset(Preset::local_address, 0, (s->value + plus) | generic_base(Space::local));
        return result;
      case Symbol::label:
      case Symbol::branch_targets:
        break;
    }
  }
  if (!name.empty() && name[0] == '%')
    if ((result.slot = special(name)) != no_slot) return result;
  const std::string whole(name);
  if (char* const at = module_.variable(whole)) {
    result.slot = constant(reinterpret_cast<std::uint64_t>(at) + plus);
    return result;
  }
  if (const auto shared = module_.shared_.find(whole); shared != module_.shared_.end()) {
    result.slot = constant(shared->second + plus);
    return result;
  }
  for (const std::string& one : module_.extern_shared_)
    if (one == whole && plus == 0) {
      result.slot = preset(Preset::extern_shared);
      return result;
    }
  if (const Function* f = module_.function(whole)) {
    result.slot = constant(reinterpret_cast<std::uint64_t>(f));
    return result;
  }
  fail("the operand `" + std::string(text) + "` is not known");
}

// [name], [name+4], [12]
void Reader::address(std::string_view text, Instruction& i) {
  text = trimmed(text.substr(1, text.size() - 2));
  std::string_view name = text;
  std::uint64_t plus = 0;
  if (const std::size_t sign = text.find('+'); sign != std::string_view::npos) {
    name = trimmed(text.substr(0, sign));
    if (!read_number(text.substr(sign + 1), plus))
      fail("the address `" + std::string(text) + "` is not known");
  }
  i.at[8] = operand(name).slot;
  i.offset = static_cast<std::int64_t>(plus);
  if (const Symbol* s = find(name); s && s->kind == Symbol::passed) i.space = Space::local;
}

Passed Reader::local_named(std::string_view name) const {
  const auto found = locals_.find(name);
  if (found == locals_.end()) fail("the parameter " + std::string(name) + " is not known");
  return found->second;
}

// (results), callee, (arguments), prototype: all but the callee may be missing.
void Reader::call(std::vector<std::string_view> operands, Instruction& i) {
  Call call;
  std::size_t at = 0;
  const auto list = [&](std::vector<Passed>& to) {
    if (at >= operands.size() || operands[at].empty() || operands[at][0] != '(') return;
    for (std::string_view name : split(operands[at].substr(1, operands[at].size() - 2), ','))
      if (!name.empty()) to.push_back(local_named(name));
    ++at;
  };
  list(call.results);
  const std::string name(operands.at(at++));
  list(call.arguments);
  if (name[0] == '%') {
    i.at[0] = operand(name).slot;
  } else {
    call.callee = module_.function(name);
    if (!call.callee) fail("the function " + name + " is not in the module");
  }
  i.target = static_cast<std::uint32_t>(to_.calls.size());
  to_.calls.push_back(std::move(call));
}

void Reader::place(const Words& w, std::vector<std::string_view>& operands, Instruction& i) {
  const std::string_view root = w.root;
  std::size_t next = 0;
  const auto set = [&](std::size_t k, std::string_view text) {
    const Operand o = operand(text);
    if (k >= 9) fail("it has too many operands");
    i.at[k] = o.slot;
    if (o.negated) i.negated |= std::uint32_t{1} << k;
  };
  // d|p, of which the second may be missing
  const auto pair = [&] {
    const auto both = split(operands.at(0), '|');
    set(0, both[0]);
    if (both.size() > 1) set(1, both[1]);
    next = 1;
  };
  const auto vector = [&](std::string_view text) {
    const auto parts = split(text.substr(1, text.size() - 2), ',');
    i.count = static_cast<std::uint8_t>(parts.size());
    return parts;
  };

  if (root == "bra") {
    scopes_.back().branches.emplace_back(static_cast<std::uint32_t>(to_.code.size()),
                                         std::string(operands.at(0)));
  } else if (root == "brx") {
    set(0, operands.at(0));
    const Symbol* const s = find(operands.at(1));
    if (!s || s->kind != Symbol::branch_targets) fail("its table is not known");
    i.target = s->value;
  } else if (root == "call") {
    call(operands, i);
  } else if (root == "ld" || root == "ldu" || root == "st" || root == "atom" || root == "red") {
    for (std::string_view text : operands) {
      if (text[0] == '[') {
        address(text, i);
        if (root == "red") next = 1;
      } else if (text[0] == '{') {
        for (std::string_view part : vector(text)) set(next++, part);
      } else {
        set(next++, text);
      }
    }
  } else if (root == "cp") {  // to, from, how many bytes are written, how many of them are copied
    if (operands.size() == 4) operands.erase(operands.begin() + 2);
    for (std::size_t k = 0; k < operands.size(); ++k)
      set(k, operands[k][0] == '[' ? trimmed(operands[k].substr(1, operands[k].size() - 2)) : operands[k]);
  } else if (root == "mma" || root == "ldmatrix") {
    i.target = static_cast<std::uint32_t>(to_.registers.size());
    auto& list = to_.registers.emplace_back();
    for (std::string_view text : operands) {
      if (text[0] == '[')
        address(text, i);
      else
        for (std::string_view part : vector(text)) list.push_back(operand(part).slot);
    }
  } else if (root == "setp" || root == "shfl" || root == "match" || root == "elect") {
    pair();
    for (std::size_t k = 2; next < operands.size(); ++k) set(k, operands[next++]);
  } else if (root == "set") {
    set(0, operands.at(0));
    for (std::size_t k = 1; k < operands.size(); ++k) set(k + 1, operands[k]);
  } else if ((root == "bar" || root == "barrier") && !w.has("warp")) {
    if (w.has("red")) {
      set(0, operands.at(0));
      set(1, operands.back());
      operands.pop_back();
      operands.erase(operands.begin());
    }
    for (std::size_t k = 0; k < operands.size(); ++k) set(4 + k, operands[k]);
  } else if (root == "prefetch" || root == "prefetchu" || root == "membar" || root == "fence") {
  } else if (root == "mov" && operands.size() == 2 && operands[0][0] == '{') {
    i.mode = 1;
    for (std::string_view part : vector(operands[0])) set(next++, part);
    set(next, operands[1]);
  } else if (root == "mov" && operands.size() == 2 && operands[1][0] == '{') {
    set(0, operands[0]);
    for (std::string_view part : vector(operands[1])) set(++next, part);
  } else if (root == "mov" && (operands.at(1).substr(0, 6) == "%clock" || operands[1] == "%globaltimer")) {
    i.mode = 2;
    set(0, operands[0]);
  } else {
    for (std::string_view text : operands) set(next++, text);
  }
}

void Reader::instruction(std::string_view text, int line) {
  Instruction i;
  i.line = line;
  if (text[0] == '@') {
    std::size_t end = 1;
    while (end < text.size() && !is_space(text[end])) ++end;
    const Operand guard = operand(text.substr(1, end - 1));
    i.guard = guard.slot;
    i.guard_negated = guard.negated;
    text = trimmed(text.substr(end));
  }
  std::size_t end = 0;
  while (end < text.size() && !is_space(text[end])) ++end;
  Words w;
  std::string_view name = text.substr(0, end);
  w.root = name.substr(0, name.find('.'));
  name.remove_prefix(w.root.size());
  while (!name.empty()) {
    name.remove_prefix(1);
    std::string_view mod = name.substr(0, name.find('.'));
    name.remove_prefix(mod.size());
    if (mod.substr(0, 8) == "shared::") mod = "shared";
    w.mods.push_back(mod);
  }
  std::vector<std::string_view> operands = split(text.substr(end), ',');
  place(w, operands, i);
  if (!decode_control(w, i) && !decode_warp(w, i) && !decode_matrix(w, i) && !decode_memory(w, i) &&
      !decode_atomic(w, i) && !decode_convert(w, i) && !decode_compare(w, i) && !decode_bits(w, i) &&
      !decode_float(w, i) && !decode_integer(w, i))
    fail("the instruction is not known");
  to_.code.push_back(i);
}

}  // namespace ptx
