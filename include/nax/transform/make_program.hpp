#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "nax/transform/call.hpp"
#include "nax/transform/jit/program_cache.hpp"
#include "nax/transform/vmap.hpp"

NAX_BEGIN

// The steps that a function computes, as make_program returns them. They print as JAX's jaxprs do.
class ProgramText {
 public:
  explicit ProgramText(std::shared_ptr<const program::Program> p) : program_(std::move(p)) {}
  std::string text() const;
  // How many steps a call takes.
  std::size_t size() const;
  // Bytes of memory that lie between arguments and results.
  std::size_t temporary_bytes() const;
  // Operations with floating numbers in a call: 2 m n k for a product of (m, k) and (k, n), and one an
  // element for each function of an expression and each term of a sum; gradients of expressions count each
  // function twice. Loops that run until a condition fails count one turn, branches the longest. What moves,
  // compares, sorts or draws counts none.
  double flops() const;
  // Bytes that the steps of a call read and write, each operand once a step, wherever they lie.
  double bytes() const;
  friend NAX_ENGINE std::ostream& operator<<(std::ostream& out, const ProgramText& p);

 private:
  std::shared_ptr<const program::Program> program_;
};

// A program, and the function and the tuple of arguments that it was recorded of: nax/io writes files of
// these.
template <class F, class Arguments>
class ProgramOf : public ProgramText {
 public:
  ProgramOf(std::shared_ptr<const program::Program> p, std::shared_ptr<const F> f, Arguments arguments)
      : ProgramText(std::move(p)), f_(std::move(f)), arguments_(std::move(arguments)) {}
  const F& function() const { return *f_; }
  const Arguments& arguments() const { return arguments_; }
  // The text that io::stablehlo gives; nax/modules/exporting/stablehlo.hpp defines it.
  auto stablehlo() const;

 private:
  std::shared_ptr<const F> f_;
  Arguments arguments_;
};

// The program that jit would record of f for these arguments: make_program(f)(x, y) prints it.
//
// Throws DeviceError where f does what cannot be recorded, such as reading elements.
template <class F>
auto make_program(F f) {
  return [f = std::make_shared<const F>(std::move(f))](auto... args) {
    using namespace detail;
    auto inputs = lift_for<F>(args...);
    std::vector<const ArrayBase*> arguments;
    const auto visit = [&](auto& tree, const auto& each) {
      tree::for_each(
          [&](auto& leaf) {
            if constexpr (is_array_v<decltype(leaf)>) each(leaf);
          },
          tree);
    };
    std::apply([&](auto&... tree) { (visit(tree, [&](ArrayBase& a) { arguments.push_back(&a); }), ...); },
               inputs);
    auto own = inputs;
    auto program =
        record_program(arguments.data(), arguments.size(), {}, [&](std::vector<ArrayBase>& leaves) {
          std::size_t at = 0;
          std::apply(
              [&](auto&... tree) { (visit(tree, [&](ArrayBase& a) { a = std::move(leaves[at++]); }), ...); },
              own);
          auto out = materialise_tree(call_with(*f, std::move(own)));
          std::vector<ArrayBase> results;
          visit(out, [&](ArrayBase& a) { results.push_back(std::move(a)); });
          return results;
        });
    return ProgramOf(std::move(program), f, std::move(inputs));
  };
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/program/replay/program.hpp"

NAX_BEGIN

NAX_ENGINE std::string ProgramText::text() const { return program_->text(); }
NAX_ENGINE std::size_t ProgramText::size() const { return program_->step_count(); }
NAX_ENGINE std::size_t ProgramText::temporary_bytes() const { return program_->bytes(); }
NAX_ENGINE double ProgramText::flops() const { return program_->flops(); }
NAX_ENGINE double ProgramText::bytes() const { return program_->traffic(); }
NAX_ENGINE std::ostream& operator<<(std::ostream& out, const ProgramText& p) { return out << p.text(); }

NAX_END
#endif
