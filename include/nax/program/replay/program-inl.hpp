#pragma once

#include <algorithm>

#include "nax/core/allocator.hpp"
#include "nax/program/passes/passes.hpp"
#include "nax/program/passes/verify.hpp"
#include "nax/program/replay/program.hpp"

NAX_BEGIN
namespace program {

using nax::detail::ArrayAccess;

NAX_ENGINE Program::Program(Recorded&& recorder, std::vector<Output> outputs)
    : slots_(std::move(recorder.slots)),
      steps_(std::move(recorder.steps)),
      arguments_(std::move(recorder.arguments)),
      outputs_(std::move(outputs)),
      kept_(std::move(recorder.kept)),
      constants_(std::move(recorder.constants)) {
  plan(simplify());
}

NAX_ENGINE Program::~Program() { delete idle_.load(); }

NAX_ENGINE std::vector<int> Program::simplify() {
  std::vector<int> results;
  for (const Output& out : outputs_) results.push_back(out.slot);
  const auto verify_after = [&](const char* stage) {
    if (detail::verifies_programs()) detail::verify(slots_, steps_, arguments_, results, outputs_, stage);
  };
  // Passes group steps by their readers, so what a pass leaves without any goes before the next one.
  const auto finish = [&](const char* pass) {
    detail::drop_dead_steps(slots_, steps_, results);
    verify_after(pass);
  };
  verify_after("recording");
  detail::drop_dead_steps(slots_, steps_, results);
  detail::find_constants(slots_, steps_, results, constants_);
  finish("find_constants");
  detail::join_equal_steps(slots_, steps_, results);
  finish("join_equal_steps");
  detail::forward_copies(slots_, steps_, results);
  finish("forward_copies");
  detail::join_pieces(slots_, steps_, results);
  finish("join_pieces");
  for (const Step& step : steps_) flops_ += step.flops + step.work->total(&Program::flops);
#if defined(NAX_USES_FORMULAS)
  if (formula::machine() != formula::Machine::none) {
    detail::spell_small(slots_, steps_, results);
    finish("spell_small");
  }
#endif
  detail::accumulate_products(slots_, steps_, results);
  finish("accumulate_products");
#if defined(NAX_USES_FORMULAS)
  if (formula::machine() != formula::Machine::none) {
    detail::pad_pieces(slots_, steps_, results);
    finish("pad_pieces");
    detail::split_maps(slots_, steps_, results, outputs_);
    finish("split_maps");
    detail::fuse_maps(slots_, steps_, results);
    finish("fuse_maps");
    detail::fuse_reductions(slots_, steps_, results);
    finish("fuse_reductions");
    detail::write_pieces(slots_, steps_, results);
    finish("write_pieces");
  }
#endif
  detail::drop_barriers(slots_, steps_, results);
  verify_after("drop_barriers");
  for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i].slot = results[i];
  for (const int& slot : results) {
    if (slot == Place::constant) continue;
    Slot& s = slots_[static_cast<std::size_t>(slot)];
    if (s.kind != Slot::Kind::temporary) continue;
    s.kind = Slot::Kind::result;
    s.number = static_cast<int>(result_bytes_.size());
    result_bytes_.push_back(s.bytes);
    first_outputs_.push_back(static_cast<std::size_t>(&slot - results.data()));
  }
  if (std::any_of(arguments_.begin(), arguments_.end(), [](const Argument& a) { return a.donated; })) {
    detail::move_checks_first(slots_, steps_);
    verify_after("move_checks_first");
  }
  donations_ = detail::find_donations(slots_, steps_, arguments_, results, result_bytes_.size());
  // Recorded arrays are gone; what is left are the host's that steps read.
  std::erase_if(kept_, [](const nax::detail::BufferRef& b) { return nax::detail::on_program(b->device); });
  return results;
}

NAX_ENGINE void Program::plan(const std::vector<int>& results) {
  arena_bytes_ = detail::plan_memory(slots_, steps_, offsets_);
  if (detail::verifies_programs()) {
    const detail::MemoryPlan plan{offsets_, arena_bytes_, donations_};
    detail::verify(slots_, steps_, arguments_, results, outputs_, "plan_memory", &plan);
  }
  reads_run_.assign(arguments_.size(), false);
  const auto read = [&](int slot, bool run) {
    if (slot == Place::constant) return;
    const Slot& s = slots_[static_cast<std::size_t>(slot)];
    if (run && s.kind == Slot::Kind::argument) reads_run_[static_cast<std::size_t>(s.number)] = true;
  };
  for (const Output& out : outputs_) read(out.slot, true);
  for (const Step& step : steps_) {
    calls_.push_back({step.work.get(), address_count_});
    for (const Operand& x : step.operands) {
      read(x.place.slot, x.place.offset != 0 || Frame{x.shape, {}}.size() > 1);
      if (x.place.slot != Place::constant) {
        const Slot& s = slots_[static_cast<std::size_t>(x.place.slot)];
        if (s.kind == Slot::Kind::argument || s.kind == Slot::Kind::result)
          patches_.push_back(
              {address_count_, s.kind == Slot::Kind::result, s.number, given_number(s), x.place.offset});
      }
      ++address_count_;
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& out = outputs_[i];
    if (out.slot == Place::constant) continue;
    const Slot& s = slots_[static_cast<std::size_t>(out.slot)];
    if (s.kind == Slot::Kind::result && given_number(s) == i) continue;
    copies_.push_back({i, s.kind, s.kind == Slot::Kind::constant ? 0 : given_number(s), s.data,
                       static_cast<std::size_t>(out.layout.size()) * dtype_size(out.dtype)});
  }
}

NAX_ENGINE auto Program::make_arena() const -> std::unique_ptr<Arena> {
  auto arena = std::make_unique<Arena>();
  arena->memory =
      nax::detail::BufferRef(nax::detail::Buffer::allocate(arena_bytes_, nax::detail::host_device()));
  char* const base = static_cast<char*>(arena->memory->host_data());
  for (const Step& step : steps_)
    for (const Operand& x : step.operands) {
      char* at = nullptr;
      if (x.place.slot == Place::constant) {
        at = reinterpret_cast<char*>(static_cast<std::intptr_t>(x.place.offset));
      } else {
        const Slot& s = slots_[static_cast<std::size_t>(x.place.slot)];
        if (s.kind == Slot::Kind::temporary)
          at = base + offsets_[static_cast<std::size_t>(x.place.slot)] + x.place.offset;
        if (s.kind == Slot::Kind::constant)
          at = const_cast<char*>(static_cast<const char*>(s.data)) + x.place.offset;
      }
      arena->addresses.push_back(at);
    }
  arena->results.resize(result_bytes_.size());
  return arena;
}

NAX_ENGINE auto Program::take_arena() const -> std::unique_ptr<Arena> {
  std::unique_ptr<Arena> arena(idle_.exchange(nullptr, std::memory_order_acq_rel));
  return arena ? std::move(arena) : make_arena();
}
NAX_ENGINE void Program::give_back(std::unique_ptr<Arena> arena) const {
  delete idle_.exchange(arena.release(), std::memory_order_acq_rel);
}

NAX_ENGINE double Program::traffic() const {
  double bytes = 0;
  for (const Step& step : steps_) {
    if (!step.work->programs().empty()) {
      bytes += step.work->total(&Program::traffic);
      continue;
    }
    for (const Operand& x : step.operands) bytes += detail::bytes_of(x);
  }
  return bytes;
}

NAX_ENGINE bool Program::is_unforeseen() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const Step& s) { return s.unforeseen; });
}
NAX_ENGINE bool Program::uses(std::size_t argument) const {
  for (const Step& step : steps_)
    for (const Operand& x : step.operands)
      if (x.place.slot == arguments_[argument].slot) return true;
  return false;
}

NAX_ENGINE Program::Runner::Runner(const Program& program)
    : program_(program), arena_(program.take_arena()) {}
NAX_ENGINE Program::Runner::~Runner() { program_.give_back(std::move(arena_)); }

NAX_ENGINE void Program::Runner::run(void* const* arguments, void* const* results) {
  const Program& p = program_;
  void** const addresses = arena_->addresses.data();
  for (const Patch& patch : p.patches_)
    addresses[patch.at] =
        static_cast<char*>((patch.result ? results : arguments)[patch.given]) + patch.offset;
  for (const Call& call : p.calls_) call.work->run(addresses + call.first);
  for (const ResultCopy& copy : p.copies_) {
    const void* const from = copy.kind == Slot::Kind::result     ? results[copy.given]
                             : copy.kind == Slot::Kind::argument ? arguments[copy.given]
                                                                 : copy.data;
    if (from != results[copy.to]) std::memcpy(results[copy.to], from, copy.bytes);
  }
}

NAX_ENGINE void Program::Runner::run_turns(std::int64_t turns, void* const* first, const Motion* arguments,
                                           const Motion* results) {
  const Program& p = program_;
  if (!p.copies_.empty()) {
    const std::size_t count = p.arguments_.size();
    std::vector<Motion> motions(arguments, arguments + count);
    motions.insert(motions.end(), results, results + p.outputs_.size());
    std::vector<void*> at(motions.size());
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      for (std::size_t i = 0; i < at.size(); ++i) {
        at[i] = turn == 0 && i < count && first[i] ? first[i] : motions[i].now;
        motions[i].advance();
      }
      run(at.data(), at.data() + count);
    }
    return;
  }
  // Few instructions between the steps let the processor begin with a turn while the one before goes on.
  void** const addresses = arena_->addresses.data();
  struct Moved {
    void** at;
    Motion motion;
  };
  std::vector<Moved> all;
  for (const Patch& patch : p.patches_) {
    Motion motion = (patch.result ? results : arguments)[patch.given];
    void** const at = addresses + patch.at;
    motion.now += patch.offset;
    motion.next += patch.offset;
    *at = motion.now;
    if (!patch.result && first[patch.given]) *at = static_cast<char*>(first[patch.given]) + patch.offset;
    motion.advance();
    if (motion.step != 0 || motion.next != motion.now) all.push_back({at, motion});
  }
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    for (const Call& call : p.calls_) call.work->run(addresses + call.first);
    for (Moved& m : all) {
      *m.at = m.motion.now;
      m.motion.advance();
    }
  }
}

NAX_ENGINE void Program::run(const ArrayBase* const* arguments, ArrayBase* results) const {
  std::unique_ptr<Arena> arena = take_arena();
  void** const addresses = arena->addresses.data();
  for (std::size_t r = 0; r < result_bytes_.size(); ++r) {
    if (donations_[r] >= 0) {
      const ArrayBase& given = *arguments[donations_[r]];
      const nax::detail::BufferRef& buffer = ArrayAccess::buffer(given);
      if (buffer.unique() && !buffer->source && ArrayAccess::offset(given) == 0 &&
          buffer->bytes == result_bytes_[r]) {
        arena->results[r] = buffer;
        continue;
      }
    }
    arena->results[r] = nax::detail::BufferRef(nax::detail::Buffer::allocate(result_bytes_[r]));
  }
  for (const Patch& patch : patches_) {
    char* const base =
        patch.result ? static_cast<char*>(arena->results[static_cast<std::size_t>(patch.number)]->host_data())
                     : nax::detail::raw_data(*arguments[patch.number]);
    addresses[patch.at] = base + patch.offset;
  }
  for (const Call& call : calls_) call.work->run(addresses + call.first);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& out = outputs_[i];
    if (out.slot == Place::constant) {
      results[i] = out.constant;
      continue;
    }
    const Slot& s = slots_[static_cast<std::size_t>(out.slot)];
    std::int64_t offset = out.offset;
    nax::detail::BufferRef buffer;
    switch (s.kind) {
      case Slot::Kind::argument: {
        const ArrayBase& a = *arguments[s.number];
        buffer = ArrayAccess::buffer(a);
        offset += ArrayAccess::offset(a) * static_cast<std::int64_t>(dtype_size(a.dtype())) /
                  static_cast<std::int64_t>(dtype_size(out.dtype));
        break;
      }
      case Slot::Kind::result:
        buffer = arena->results[static_cast<std::size_t>(s.number)];
        break;
      case Slot::Kind::constant:
        buffer = nax::detail::BufferRef(nax::detail::Buffer::allocate(s.bytes));
        std::memcpy(buffer->host_data(), s.data, s.bytes);
        break;
      case Slot::Kind::temporary:
        break;
    }
    results[i] = ArrayAccess::make(std::move(buffer), out.layout, out.dtype);
    ArrayAccess::offset(results[i]) = offset;
  }
  for (nax::detail::BufferRef& r : arena->results) r = nax::detail::BufferRef();
  give_back(std::move(arena));
}

}  // namespace program
NAX_END
