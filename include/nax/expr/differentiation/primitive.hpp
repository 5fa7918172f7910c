#pragma once

#include <memory>
#include <utility>

#include "nax/expr/differentiation/unbroadcast.hpp"
#include "nax/tape/sweep.hpp"

// Putting an operation on the tape that is not elementwise. Its derivative is written with public functions:
//
//   return record(result, wrt(a, [=](const Array<T>& g) { return matmul(g, transpose(b)); }),
//                         wrt(b, [=](const Array<T>& g) { return matmul(transpose(a), g); }));
//
// One `wrt` an input: a function from the result's cotangent to the input's, called only where it is wanted.
// A second function may map a tangent of the input to one of the result; without it the first is transposed.
// An operation whose derivative reads its own result takes `record_with_result`: pull and push then get the
// result, which is recorded as the value of this very node, as second argument.
//
// A first function that is an object with a method `of_number` gets a cotangent of no axes as a number, and
// makes an array on the device that it is told. One with a method `add_share` may add its share to a sum of
// cotangents on a GPU in place; false where it does not. One with a constant `takes_constants` takes, for a
// result on a GPU, a cotangent on the host that is one number everywhere.
//
// Hidden axes that the result has and the input has not are summed away afterwards, in one place, here.
NAX_BEGIN
namespace detail {

// sum += term, of one type, in place if no other handle shares it; recorded where one of them is.
NAX_ENGINE void add_to(ArrayBase& sum, const ArrayBase& term);

// May a share of this kind be added to the sum in place? On a GPU, where the sum's memory is its own and no
// transform watches.
NAX_ENGINE bool takes_in_place(const ArrayBase& sum, Device device, DType dtype, const Frame& frame);

// A node with a result that is an array: all nodes but the bookkeeping ones.
struct ResultNode : Node {
  void add(ArrayBase& sum, const ArrayBase& term) const final { add_to(sum, term); }
};

// An input of a transform; the outer value, if any, continues the chain.
struct LeafNode final : ResultNode {
  std::uint64_t outer;
  Levels levels, outer_levels;
  LeafNode(std::uint64_t serial, Levels own, Levels before)
      : outer(serial), levels(std::move(own)), outer_levels(std::move(before)) {}
  void pull(const ArrayBase& g, Reverse& sweep) override {
    if (sweep.wants(outer)) sweep.add(outer, sum_levels(g, levels, outer_levels));
  }
  void push(Forward& sweep, std::size_t self) override {
    if (const ArrayBase* t = sweep.find(outer)) sweep.put(self, *t);
  }
  Watchers watchers(const Tape& tape) const override { return tape.watchers(outer) | tape.innermost(); }
};

// The transpose of a linear function, by way of the tape: for F(g) linear in g, the t-weighted gradient of F.
template <class R, class T, class F>
Array<R> transpose_linear(const F& f, const Frame& domain, const Array<T>& t);

class PrimitiveNode;

// An input of a recorded operation, the types of its two functions erased.
struct InputBase {
  std::uint64_t serial;
  Levels levels;
  std::size_t bytes = 0;  // that the input takes on the tape
  ArrayBase (*pull_share)(InputBase&, const ArrayBase& g, const PrimitiveNode&) = nullptr;
  ArrayBase (*pull_number)(InputBase&, Number g, Device device) = nullptr;      // may be none
  bool (*pull_into)(InputBase&, const ArrayBase& g, ArrayBase& sum) = nullptr;  // may be none
  ArrayBase (*push_share)(InputBase&, const ArrayBase& t, const PrimitiveNode&) = nullptr;
  void (*destroy)(InputBase&) noexcept = nullptr;
};

struct NoPush {};

template <class T, class Pull, class Push>
struct Input : InputBase {
  using value_type = T;
  Pull pull;
  [[no_unique_address]] Push push;

  Input(std::uint64_t serial_, const Levels& levels_, Pull&& pull_, Push&& push_)
      : InputBase{serial_, levels_}, pull(std::move(pull_)), push(std::move(push_)) {}
};

template <class T, class Pull, class Push = NoPush>
Input<T, Pull, Push> wrt(const Array<T>& x, Pull pull, Push push = {}) {
  return {is_recorded(x) ? serial_of(x) : 0, layout_of(x).levels, std::move(pull), std::move(push)};
}
// Of functions over ArrayBase, which have no type of elements (void stands for it).
template <class Pull, class Push>
Input<void, Pull, Push> wrt(const ArrayBase& x, Pull pull, Push push) {
  return {is_recorded(x) ? serial_of(x) : 0, layout_of(x).levels, std::move(pull), std::move(push)};
}

// The node; its inputs follow in the arena, one after another.
class PrimitiveNode final : public ResultNode {
 public:
  explicit PrimitiveNode(const Frame& frame) : frame_(frame) {}
  ~PrimitiveNode() override {
    InputBase* in = first();
    for (int i = 0; i < count_; ++i) {
      InputBase* const next = after(in);
      in->destroy(*in);
      in = next;
    }
  }

  // The place for the next input; `append` it there.
  void* end() {
    InputBase* in = first();
    for (int i = 0; i < count_; ++i) in = after(in);
    return in;
  }
  void append(InputBase& input, std::size_t bytes, bool takes_constants) {
    input.bytes = bytes;
    takes_constants_ = takes_constants && (count_ == 0 || takes_constants_);
    ++count_;
  }

  void pull(const ArrayBase& g, Reverse& sweep) override {
    InputBase* in = first();
    for (int i = 0; i < count_; ++i, in = after(in))
      if (const std::size_t node = sweep.place(in->serial); node != Tape::npos)
        if (!accelerators_present || !pull_into_sum(*in, g, sweep, node))
          sweep.add_at(node, in->pull_share(*in, g, *this));
  }
  NAX_ENGINE_VIRTUAL void pull_number(Number g, Reverse& sweep) override;
  bool takes_constants() const override { return takes_constants_; }
  NAX_ENGINE_VIRTUAL void push(Forward& sweep, std::size_t self) override;
  Watchers watchers(const Tape& tape) const override {
    Watchers all = 0;
    const InputBase* in = reinterpret_cast<const InputBase*>(this + 1);
    for (int i = 0; i < count_; ++i, in = after(const_cast<InputBase*>(in))) all |= tape.watchers(in->serial);
    return all;
  }

  const Frame& frame() const { return frame_; }  // of the result
  std::unique_ptr<ArrayBase> result;             // if the derivatives read it

 private:
  static bool pull_into_sum(InputBase& in, const ArrayBase& g, Reverse& sweep, std::size_t node) {
    if (!in.pull_into) return false;
    ArrayBase* const sum = sweep.sum_at(node);
    return sum && in.pull_into(in, g, *sum);
  }
  InputBase* first() { return reinterpret_cast<InputBase*>(this + 1); }
  static InputBase* after(InputBase* in) {
    return reinterpret_cast<InputBase*>(reinterpret_cast<char*>(in) + in->bytes);
  }

  Frame frame_;
  int count_ = 0;
  bool takes_constants_ = false;
};

template <class T>
decltype(auto) as_type_of(const ArrayBase& x) {
  if constexpr (std::is_void_v<T>)
    return x;
  else
    return typed<T>(x);
}

template <class Pull>
constexpr bool takes_constants_of() {
  if constexpr (requires { Pull::takes_constants; })
    return Pull::takes_constants;
  else
    return false;
}
template <class Pull>
constexpr bool takes_number() {
  return requires(const Pull& p, Number g, Device device) { p.of_number(g, device); };
}

template <class Pull>
constexpr bool adds_share() {
  return requires(const Pull& p, const ArrayBase& g, ArrayBase& sum) { p.add_share(g, sum); };
}

// Operations of a node on an input of type I, the result being of element type T.
template <class T, class I, bool with_result>
struct InputOps;
template <class T, class R, class Pull, class Push, bool with_result>
struct InputOps<T, Input<R, Pull, Push>, with_result> {
  using In = Input<R, Pull, Push>;
  static constexpr std::size_t bytes = (sizeof(In) + 15) / 16 * 16;

  template <class F, class X>
  static auto call(const F& f, const X& x, const PrimitiveNode& node) {
    if constexpr (with_result)
      return f(x, as_type_of<T>(*node.result));
    else
      return f(x);
  }
  static ArrayBase pull(InputBase& input, const ArrayBase& g, const PrimitiveNode& node) {
    return sum_levels(share_of(call(static_cast<In&>(input).pull, as_type_of<T>(g), node)),
                      node.frame().levels, input.levels);
  }
  static ArrayBase pull_number(InputBase& input, Number g, Device device) requires(takes_number<Pull>()) {
    return share_of(static_cast<In&>(input).pull.of_number(g, device));
  }
  static bool pull_into(InputBase& input, const ArrayBase& g, ArrayBase& sum) requires(adds_share<Pull>()) {
    return static_cast<In&>(input).pull.add_share(g, sum);
  }
  template <class S>
  static ArrayBase share_of(S&& share) {
    if constexpr (std::is_void_v<R>)
      return std::forward<S>(share);
    else
      return Array<R>(std::forward<S>(share));
  }
  static ArrayBase push(InputBase& input, const ArrayBase& t, const PrimitiveNode& node) {
    In& in = static_cast<In&>(input);
    if constexpr (std::is_void_v<T>)
      return call(in.push, as_type_of<R>(t), node);
    else if constexpr (std::is_same_v<Push, NoPush>)
      return transpose_linear<T, R>([&](const Array<T>& g) { return Array<R>(call(in.pull, g, node)); },
                                    node.frame(), typed<R>(t));
    else
      return Array<T>(call(in.push, typed<R>(t), node));
  }
  static void destroy(InputBase& input) noexcept { static_cast<In&>(input).~In(); }

  static void append(PrimitiveNode& node, In&& input) {
    In* const in = new (node.end()) In(std::move(input));
    in->pull_share = pull;
    if constexpr (takes_number<Pull>()) in->pull_number = pull_number;
    if constexpr (adds_share<Pull>()) in->pull_into = pull_into;
    in->push_share = push;
    in->destroy = destroy;
    node.append(*in, bytes, takes_constants_of<Pull>());
  }
};

template <bool with_result, class T, class... In>
void record_inputs(ArrayBase& result, In&... in) {
  Tape::NewNode building(*recording.tape,
                         sizeof(PrimitiveNode) + (InputOps<T, In, with_result>::bytes + ... + 0));
  auto& node = building.template make<PrimitiveNode>(layout_of(result));
  (InputOps<T, In, with_result>::append(node, std::move(in)), ...);
  ArrayAccess::serial(result) = building.commit();
  if constexpr (with_result) node.result = std::make_unique<ArrayBase>(result);
}

template <class T, class... In>
Array<T> record(Array<T> result, In... in) {
  if ((in.serial || ...)) record_inputs<false, T>(result, in...);
  return result;
}

template <class... In>
ArrayBase record(ArrayBase result, In... in) {
  if ((in.serial || ...)) record_inputs<false, void>(result, in...);
  return result;
}

template <class T, class... In>
Array<T> record_with_result(Array<T> result, In... in) {
  if ((in.serial || ...)) record_inputs<true, T>(result, in...);
  return result;
}

template <class... In>
ArrayBase record_with_result(ArrayBase result, In... in) {
  if ((in.serial || ...)) record_inputs<true, void>(result, in...);
  return result;
}

}  // namespace detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/expr/differentiation/primitive-inl.hpp"
#endif
