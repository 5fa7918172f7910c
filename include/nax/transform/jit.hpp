#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <variant>

#include "nax/transform/call.hpp"
#include "nax/transform/jit/graph_cache.hpp"
#include "nax/transform/jit/options.hpp"
#include "nax/transform/jit/program_cache.hpp"
#include "nax/transform/jit/report.hpp"
#include "nax/transform/vmap.hpp"
#include "nax/tree/structure.hpp"

NAX_BEGIN
namespace detail {

// The arguments that are no trees, which must be static ones.
template <class Inputs>
struct OpaqueArguments;
template <class... X>
struct OpaqueArguments<std::tuple<X...>> {
  using type = std::tuple<std::conditional_t<is_tree_v<X>, std::monostate, X>...>;
  static type of(const std::tuple<X...>& inputs) {
    return std::apply(
        [](const X&... x) {
          return type([](const auto& one) {
            using One = std::remove_cvref_t<decltype(one)>;
            if constexpr (is_tree_v<One>)
              return std::monostate();
            else
              return one;
          }(x)...);
        },
        inputs);
  }
};

// f(i, argument i) for each argument.
template <class Inputs, class F>
void for_each_of(Inputs& inputs, F f) {
  [&]<std::size_t... i>(std::index_sequence<i...>) { (f(i, std::get<i>(inputs)), ...); }
  (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<Inputs>>>());
}

template <class F>
class Jitted {
 public:
  Jitted(F f, JitOptions options)
      : f_(std::move(f)),
        options_(std::move(options)),
        plain_(options_.static_argnums.get().empty() && options_.donate_argnums.get().empty()) {}

  // `numbers`: which arguments were given as numbers, and are arrays of no axes now.
  template <class Inputs>
  auto call(Inputs inputs, std::initializer_list<bool> numbers) const {
    constexpr int count = static_cast<int>(std::tuple_size_v<Inputs>);
    using Out = decltype(materialise_tree(call_with(f_, std::move(inputs))));
    constexpr Platform gpus = Platform::cuda;
    if (!accelerators[static_cast<int>(gpus)] && plain_ && all_trees<Inputs>()) {
      if (may_record()) {
        if constexpr (is_tree_v<Out>)
          return by_program<Out>(std::move(inputs), {}, {});
        else
          plain(no_tree);
      }
      return materialise_tree(call_with(f_, std::move(inputs)));
    }
    const std::vector<bool> fixed = named_arguments("static_argnums", options_.static_argnums, count),
                            donated = named_arguments("donate_argnums", options_.donate_argnums, count);
    for_each_of(inputs, [&](std::size_t i, const auto& argument) {
      if (fixed[i] && donated[i]) raise<ValueError>({"jit: argument ", i, " is both static and donated"});
      if constexpr (!is_tree_v<std::remove_cvref_t<decltype(argument)>>) {
        if (!fixed[i])
          raise<TypeError>({"jit: argument ", i, " is no tree of arrays; name it in static_argnums"});
      } else if (fixed[i] && !numbers.begin()[i]) {
        tree::for_each(
            [&](const auto& leaf) {
              if constexpr (is_array_v<decltype(leaf)>)
                raise<ValueError>(
                    {"jit: the static argument ", i, " holds an array, which is not compared by value"});
            },
            argument);
      }
    });
    if (may_record()) {
      if constexpr (is_tree_v<Out>) {
        if (accelerators[static_cast<int>(gpus)]) return by_graph<Out>(std::move(inputs), fixed, donated);
        return by_program<Out>(std::move(inputs), fixed, donated);
      } else {
        plain(no_tree);
      }
    }
    return materialise_tree(call_with(f_, std::move(inputs)));
  }
  std::size_t cached() const { return cache_.size() + programs_.size(); }

 private:
  // Reasons for plain calls.
  static constexpr const char *elsewhere = "jit: the arguments lie on several devices",
                              *no_tree = "jit: the function returns something else than a tree of arrays",
                              *differ = "jit: nearly each call is of another kind",
                              *unforeseen = "jit: elements are other than those that steps are made for";

  void plain(const std::string& reason) const { count_plain(plain_calls(reason), options_.required); }

  // Not within another transform, nor while something looks at operations one by one.
  static bool may_record() {
    return !jit_disabled.load(std::memory_order_relaxed) && !graph_recording && !recording.tape &&
           !recording.caller && vmap_stack().frames.empty() && !watches_operations();
  }
  template <class Out, class Inputs>
  struct Entry final : GraphCache::Entry {
    typename OpaqueArguments<Inputs>::type opaque;
    std::optional<Out> out;  // without its arrays
  };

  template <class Out, class Inputs>
  Out by_graph(Inputs inputs, const std::vector<bool>& fixed, const std::vector<bool>& donated) const {
    CallKey key;
    std::vector<ArrayBase> arguments;
    std::vector<bool> gives;
    bool usual = true;
    for_each_of(inputs, [&](std::size_t i, auto& argument) {
      if constexpr (is_tree_v<std::remove_cvref_t<decltype(argument)>>) {
        key.add(argument);
        if (fixed[i]) return;
        tree::for_each(
            [&](const auto& leaf) {
              if constexpr (is_array_v<decltype(leaf)>) {
                check_operand("jit", leaf);
                // The shards of a pmap's result lie on several devices.
                const BufferRef& buffer = ArrayAccess::buffer(leaf);
                usual = usual && (!buffer || buffer->address || takes_part(buffer, buffer->device));
                arguments.push_back(constant(leaf));
                gives.push_back(donated[i]);
              }
            },
            argument);
      }
    });
    const std::optional<Device> found = device_of_call(arguments);
    if (usual && !found && !on_accelerator(current_device))
      return by_program<Out>(std::move(inputs), fixed, donated);
    if (!usual || !found) {
      plain(elsewhere);
      return materialise_tree(call_with(f_, std::move(inputs)));
    }
    const Device device = *found;
    key.add_value(device.ordinal);
    key.add_value(current_device.ordinal);
    key.add_value(current_device.platform);
    key.add_value(accelerator_of(device).stream(device));

    using Own = Entry<Out, Inputs>;
    auto opaque = OpaqueArguments<Inputs>::of(inputs);
    GraphCache::Use use(cache_);
    Own* entry = cache_.template find<Own>(key, [&](const Own& e) { return e.opaque == opaque; });
    if (!entry) {
      auto fresh = std::make_unique<Own>();
      fresh->opaque = std::move(opaque);
      entry = cache_.add(std::move(fresh), std::move(key));
    }
    // Each thread has handles of libraries of its own, which it makes in its first call.
    if (accelerator_of(device).graphs().wants_plain_call() && entry->begins_on_thread()) {
      use.end();
      return materialise_tree(call_with(f_, std::move(inputs)));
    }
    if (!entry->plain) {
      const auto traced = [&](std::vector<ArrayBase>& leaves) {
        Inputs own = inputs;
        std::size_t at = 0;
        for_each_of(own, [&](std::size_t i, auto& argument) {
          if constexpr (is_tree_v<std::remove_cvref_t<decltype(argument)>>)
            if (!fixed[i]) for_each_leaf(argument, [&](ArrayBase& leaf) { leaf = std::move(leaves[at++]); });
        });
        Out out = materialise_tree(call_with(f_, std::move(own)));
        GraphResults results;
        for_each_leaf(out, [&](ArrayBase& leaf) { results.push_back(std::exchange(leaf, ArrayBase())); });
        entry->out = std::move(out);
        return results;
      };
      try {
        GraphResults results = cache_.run(*entry, device, arguments, gives, traced);
        Out out = *entry->out;
        std::size_t at = 0;
        for_each_leaf(out, [&](ArrayBase& leaf) { leaf = std::move(results[at++]); });
        return out;
      } catch (const NotRecordable& why) {
        entry->refuse(why.what());
      }
    }
    use.end();
    count_plain(*entry->plain, options_.required);
    return materialise_tree(call_with(f_, std::move(inputs)));
  }

  // On the host.
  template <class Out, class Inputs>
  struct Recorded final : ProgramEntry {
    CallKey key;  // of what has no quick signature
    typename OpaqueArguments<Inputs>::type opaque;
    std::optional<Out> out;  // without its arrays
  };
  template <class Out, class Inputs>
  Out by_program(Inputs inputs, const std::vector<bool>& fixed, const std::vector<bool>& donated) const {
    using Own = Recorded<Out, Inputs>;
    Signature signature;
    CallKey key;
    SmallVector<const ArrayBase*, 32> arguments;
    std::vector<bool> gives;
    std::string refusal;
    const auto is = [](const std::vector<bool>& named, std::size_t i) { return !named.empty() && named[i]; };
    for_each_of(inputs, [&](std::size_t i, auto& argument) {
      using Argument = std::remove_cvref_t<decltype(argument)>;
      if constexpr (is_tree_v<Argument>) {
        const auto visit = [&](const auto& leaf) {
          using Leaf = std::remove_cvref_t<decltype(leaf)>;
          if constexpr (is_array_v<Leaf>) {
            check_operand("jit", leaf);
            const BufferRef& buffer = ArrayAccess::buffer(leaf);
            if (!takes_part(buffer, current_device)) refusal = not_on_device(i, buffer, current_device);
            signature.add_array(leaf);
            arguments.push_back(&leaf);
            if (is(donated, i)) gives.resize(arguments.size()), gives.back() = true;
          } else if constexpr (Scalar<Leaf>) {
            signature.add_bytes(leaf);
          } else {
            refusal = "jit: argument " + std::to_string(i) + " holds a leaf that is no array and no number";
          }
        };
        if constexpr (tree::detail::has_quick_signature<Argument>()) {
          if (!is(fixed, i)) return tree::detail::add_signature(argument, signature, visit);
        }
        key.add(argument);
        if (!is(fixed, i)) tree::for_each(visit, argument);
      }
    });
    if (refusal.empty() && on_accelerator(current_device)) refusal = elsewhere;
    if (!refusal.empty()) {
      plain(refusal);
      return materialise_tree(call_with(f_, std::move(inputs)));
    }
    signature.add(current_device.ordinal);
    const auto opaque = OpaqueArguments<Inputs>::of(inputs);
    const auto same = [&](const ProgramEntry& entry) {
      const Own* const own = dynamic_cast<const Own*>(&entry);
      return own && own->key == key && own->opaque == opaque;
    };
    std::shared_ptr<ProgramEntry> found = programs_.find(signature, same);
    if (!found && !programs_.is_vain()) {
      auto fresh = std::make_shared<Own>();
      fresh->signature = signature;
      fresh->key = std::move(key);
      fresh->opaque = opaque;
      const auto traced = [&](std::vector<ArrayBase>& leaves) {
        Inputs own = inputs;
        std::size_t at = 0;
        for_each_of(own, [&](std::size_t i, auto& argument) {
          if constexpr (is_tree_v<std::remove_cvref_t<decltype(argument)>>)
            if (!is(fixed, i))
              for_each_leaf(argument, [&](ArrayBase& leaf) { leaf = std::move(leaves[at++]); });
        });
        Out out = materialise_tree(call_with(f_, std::move(own)));
        std::vector<ArrayBase> results;
        for_each_leaf(out, [&](ArrayBase& leaf) { results.push_back(std::exchange(leaf, ArrayBase())); });
        fresh->out = std::move(out);
        return results;
      };
      try {
        if (!gives.empty()) gives.resize(arguments.size());
        fresh->program = record_program(arguments.data(), arguments.size(), gives, traced);
        ++jit_recordings;
      } catch (const NotRecordable& why) {
        fresh->out.reset();
        fresh->plain = &plain_calls(why.what());
      }
      programs_.add(fresh);
      found = std::move(fresh);
    }
    if (!found) {
      plain(differ);
    } else if (!found->program) {
      count_plain(*found->plain, options_.required);
    } else {
      Own& own = static_cast<Own&>(*found);
      std::vector<ArrayBase> results;
      if (run_program(*own.program, arguments.data(), arguments.size(), results)) {
        Out out = *own.out;
        std::size_t at = 0;
        for_each_leaf(out, [&](ArrayBase& leaf) { leaf = std::move(results[at++]); });
        return out;
      }
      Out out = materialise_tree(call_with(f_, std::move(inputs)));  // an error of f's comes first
      plain(unforeseen);
      return out;
    }
    return materialise_tree(call_with(f_, std::move(inputs)));
  }

  template <class Tree, class Visit>
  static void for_each_leaf(Tree& t, const Visit& visit) {
    tree::for_each(
        [&](auto& leaf) {
          if constexpr (is_array_v<decltype(leaf)>) visit(leaf);
        },
        t);
  }

  template <class Inputs>
  static constexpr bool all_trees() {
    return []<class... X>(std::type_identity<std::tuple<X...>>) {
      return (is_tree_v<X> && ...);
    }(std::type_identity<Inputs>());
  }

  F f_;
  JitOptions options_;
  bool plain_;  // no options
  mutable GraphCache cache_;
  mutable ProgramCache programs_;
};

}  // namespace detail

// f with the same results, recorded once and replayed. The first call with arguments of some structure,
// shapes, types, numbers and devices records what f computes: on a GPU the launches, as a graph, on the CPU a
// program of steps, without those that no result needs or that compute the same twice (make_program prints
// it). Later such calls run that, and all other work of the host is done once. So f must do nothing but
// compute with arrays: what it prints or counts happens while it is recorded. Arrays that f captured are
// constants. Numbers reach f as arrays of no axes where its parameters allow, and then do not tell calls
// apart. Recordings of the 64 kinds of calls that came last are kept, of at most set_jit_cache() bytes; when
// the GPU's memory runs out none are.
//
// f is called as it is inside other transforms (which may go outside of jit and inside alike), where it maps
// over devices or uses a collective, and where its arguments do not all lie on one device (numbers and arrays
// of no axes go along to a GPU; memory of mapped files and of others serves). On the CPU it is also called as
// it is, after a recording in vain, where it reads an array's elements (item(), printing, a condition, a mask
// whose trues decide a shape), takes a gradient through a while_loop, or calls linalg's expm.
// jit_report() counts these calls by their reasons; {.required = true} throws the reason instead. On a
// GPU to read elements is a DeviceError. Other errors of f go to the caller. Bodies of lax's loops and
// branches run once while the CPU records.
//
// Throws ValueError for argnums out of range, or a static argument that holds an array, TypeError for an
// argument that is no tree and not static, and DeviceError where recording is required and f is called as it
// is.
template <class F>
[[nodiscard]] auto jit(F f, JitOptions options = {}) {
  return detail::transformed<detail::CheckJitted, F>(
      [jitted = std::make_shared<const detail::Jitted<F>>(std::move(f), std::move(options))](auto&&... args) {
        using namespace detail;
        using Inputs = lifted_t<F, std::remove_cvref_t<decltype(args)>...>;
        return jitted->call(
            [&] {
              if constexpr (((Scalar<std::remove_cvref_t<decltype(args)>> ||
                              Expression<std::remove_cvref_t<decltype(args)>>) ||
                             ...))
                return lift_for<F>(args...);
              else
                return Inputs(std::forward<decltype(args)>(args)...);
            }(),
            {Scalar<std::remove_cvref_t<decltype(args)>>...});
      });
}

NAX_END
