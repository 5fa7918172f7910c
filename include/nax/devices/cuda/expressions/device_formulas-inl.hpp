#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "nax/devices/cuda/expressions/device_formulas.hpp"
#include "nax/devices/cuda/expressions/text_kernels.hpp"
#include "nax/formula/text_numbers.hpp"
#include "nax/formula/text_steps.hpp"

NAX_BEGIN
namespace detail {

// The expression's numbers, as its kernels take them.
inline SmallVector<std::uint64_t, 8> text_numbers(const ExpressionSymbols& symbols, const void* constants) {
  SmallVector<std::uint64_t, 8> numbers;
  for (int i = 0; i < symbols.count; ++i)
    if (symbols.steps[i].kind == SymbolStep::Kind::number)
      numbers.push_back(std::bit_cast<std::uint64_t>(number_at(symbols.steps[i], constants)));
  return numbers;
}
inline TextKey text_key(const ExpressionSymbols& symbols, const void* constants, std::uint64_t work) {
  TextKey key{reinterpret_cast<std::uintptr_t>(&symbols), work};
  for (std::uint64_t known : known_numbers(symbols, constants)) key.push_back(known);
  return key;
}

inline formula::TextBody lowered_body(const ExpressionSymbols& symbols, const formula::Formula& f) {
  return formula::text_body(formula::lowered(f), symbols.leaves, symbols.numbers);
}

// Runs launch(), whose errors about texts are the expression's.
template <class Launch>
void with_texts(const char* name, Device device, const Launch& launch) {
  if (!cuda::text_compiler)
    raise<DeviceError>({name, ": an expression on ", device,
                        " is to be compiled at run time, and the program has no compiler: link nax::nvrtc"});
  try {
    launch();
  } catch (const ValueError& error) {
    raise<DeviceError>(
        {name, ": an expression on ", device,
         " has no kernel that can be compiled at run time, and needs a CUDA file (.cu): ", error.what()});
  }
}

NAX_ENGINE void launch_text_forward(const char* name, const ExpressionSymbols& symbols, Device device,
                                    const void* constants, const Dims& shape,
                                    const loops::Operand* operands) {
  with_texts(name, device, [&] {
    const TextKey key = text_key(symbols, constants, key_of(FormulaWork::forward));
    const auto made = text_kernels(key, [&] {
      return lowered_body(symbols, formula_of(symbols, constants, SeparateLeaves(symbols.leaves).inputs));
    });
    loops::Operand all[max_leaves + 1];
    std::copy_n(operands, symbols.leaves + 1, all);
    made->launch(device, shape, all, symbols.leaves + 1, text_numbers(symbols, constants).data());
  });
}

NAX_ENGINE void launch_text_pull(const char* name, const ExpressionSymbols& symbols, Device device,
                                 const void* constants, const Dims& shape, const loops::Operand* operands,
                                 unsigned added) {
  with_texts(name, device, [&] {
    const int leaves = symbols.leaves;
    const loops::Operand* const gradients = operands + leaves + 1;
    void* grads[max_leaves] = {};
    for (int l = 0; l < leaves; ++l) grads[l] = gradients[l].data;
    const WantedGradients wanted(symbols, grads, added);
    const TextKey key = text_key(symbols, constants, wanted.key(FormulaWork::pull));
    const auto made = text_kernels(
        key, [&] { return lowered_body(symbols, stored_pull_formula(symbols, constants, wanted, false)); });
    // Leaves, the cotangent, gradients that are added to (at most one), those that are stored.
    loops::Operand all[3 * max_leaves + 1];
    int count = leaves + 1;
    std::copy_n(operands, count, all);
    for (int l = 0; l < leaves; ++l)
      if (wanted.is_first(l) && wanted.adds(l)) all[count++] = gradients[l];
    for (int l = 0; l < leaves; ++l)
      if (wanted.is_first(l)) all[count++] = gradients[l];
    if (count == leaves + 1) return;
    made->launch(device, shape, all, count, text_numbers(symbols, constants).data());
  });
}

NAX_ENGINE formula::TextBody text_body(const TextNodeList& nodes) {
  using formula::detail::lane_text, formula::detail::stored_text;
  formula::TextBody body;
  body.functions = formula::detail::text_numbers;
  body.inputs.resize(static_cast<std::size_t>(nodes.leaves + nodes.numbers));
  std::vector<std::string> names;
  for (int i = 0; i < nodes.count; ++i) {
    const TextNode& node = nodes.at[i];
    const std::string type = lane_text(node.type);
    if (node.kind != TextNode::Kind::operation) {
      const bool leaf = node.kind == TextNode::Kind::leaf;
      const int input = leaf ? node.slot : nodes.leaves + node.slot;
      const std::string number = "nax_number(nax_of_word<" + std::string(stored_text(node.type)) + ">($))";
      body.inputs[static_cast<std::size_t>(input)] = {type, leaf ? "" : number, true};
      names.push_back("x" + std::to_string(input) + "[j]");
      continue;
    }
    std::string value;
    for (const char* c = node.pattern; *c != 0; ++c) {
      if (*c != '$') {
        value += *c;
        continue;
      }
      const int j = *++c - '0';
      const std::size_t at = static_cast<std::size_t>(node.operand[j]);
      const std::string taken = lane_text(node.taken[j]);
      value +=
          taken == lane_text(nodes.at[at].type) ? names[at] : "nax_convert<" + taken + ">(" + names[at] + ")";
    }
    names.push_back("t" + std::to_string(i));
    body.statements += "      const " + type + " " + names.back() + " = " + value + ";\n";
  }
  body.results.push_back({lane_text(nodes.at[nodes.count - 1].type), names.back()});
  return body;
}

NAX_ENGINE void launch_text_nodes(const char* name, const TextNodeList& nodes, Device device,
                                  const void* constants, const Dims& shape, const loops::Operand* operands) {
  with_texts(name, device, [&] {
    const auto made =
        text_kernels({reinterpret_cast<std::uintptr_t>(nodes.at)}, [&] { return text_body(nodes); });
    SmallVector<std::uint64_t, 8> numbers;
    for (int k = 0; k < nodes.numbers; ++k) {
      std::uint64_t word;
      std::memcpy(&word, static_cast<const char*>(constants) + static_cast<std::size_t>(k) * constant_bytes,
                  sizeof word);
      numbers.push_back(word);
    }
    loops::Operand all[max_leaves + 1];
    std::copy_n(operands, nodes.leaves + 1, all);
    made->launch(device, shape, all, nodes.leaves + 1, numbers.data());
  });
}

}  // namespace detail
NAX_END
