#pragma once

#include "nax/modules/data/cursors.hpp"
#include "nax/modules/data/identity.hpp"
#include "nax/modules/data/trees.hpp"
#include "nax/random/key.hpp"

// map and filter.
NAX_BEGIN
namespace data {

// As many threads as the loop turns out to need: `.map(f, {.threads = data::auto_tune})`.
using detail::auto_tune;

struct MapOptions {
  int threads = 0;        // 0: in the loop's own thread
  random::Key key = {};   // for functions that take one: f(key, element), a key of its own for each element
  std::string name = "";  // in messages and profiles
  // Of the function, for caches on disk and positions, which cannot know that it was rewritten.
  std::string version = "";
  // false: elements come as threads make them, so that slow ones do not hold back others.
  bool deterministic = true;
};

struct FilterOptions {
  std::string name = "";     // in messages
  std::string version = "";  // of the function, as map's
};

namespace detail {

template <class Element>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct IsTuple<std::pair<A, B>> : std::true_type {};

// f(element), or f(x, y) for an element that is a tuple; with a key in front where f takes one.
template <class F, class Tuple>
struct TakesParts : std::false_type {};
template <class F, class... T>
struct TakesParts<F, std::tuple<T...>> : std::is_invocable<const F&, T...> {};
template <class F, class A, class B>
struct TakesParts<F, std::pair<A, B>> : std::is_invocable<const F&, A, B> {};
template <class F, class Tuple>
struct TakesKeyAndParts : std::false_type {};
template <class F, class... T>
struct TakesKeyAndParts<F, std::tuple<T...>> : std::is_invocable<const F&, const random::Key&, T...> {};
template <class F, class A, class B>
struct TakesKeyAndParts<F, std::pair<A, B>> : std::is_invocable<const F&, const random::Key&, A, B> {};

enum class Form { whole, parts, key_whole, key_parts, none };

template <class F, class Element>
consteval Form form_of() {
  if constexpr (std::is_invocable_v<const F&, Element>) {
    return Form::whole;
  } else if constexpr (TakesParts<F, Element>::value) {
    return Form::parts;
  } else if constexpr (std::is_invocable_v<const F&, const random::Key&, Element>) {
    return Form::key_whole;
  } else {
    return TakesKeyAndParts<F, Element>::value ? Form::key_parts : Form::none;
  }
}
template <class F, class Element>
inline constexpr bool takes_key_v = form_of<F, Element>() == Form::key_whole
                                    || form_of<F, Element>() == Form::key_parts;

template <class F, class Element, class MakeKey>
decltype(auto) call_with(const F& f, Element&& element, const MakeKey& key) {
  constexpr Form form = form_of<F, Element>();
  static_assert(form != Form::none,
                "data: the function takes neither an element of this dataset nor the parts of one, with or "
                "without a random::Key in front");
  if constexpr (form == Form::whole) {
    return f(std::move(element));
  } else if constexpr (form == Form::parts) {
    return std::apply(f, std::move(element));
  } else if constexpr (form == Form::key_whole) {
    return f(key(), std::move(element));
  } else if constexpr (form == Form::key_parts) {
    return std::apply([&](auto&&... part) { return f(key(), std::move(part)...); }, std::move(element));
  }
}

struct NoKey {
  random::Key operator()() const { return {}; }
};

template <class F, class Element>
using Mapped = decltype(settled(call_with(std::declval<const F&>(), std::declval<Element>(), NoKey())));

// Element i of an epoch has this key, whatever thread it meets.
inline random::Key key_of_element(const random::Key& key, std::int64_t epoch, std::int64_t i) {
  return random::fold_in(random::fold_in(key, epoch), i);
}

template <class F, class In, class Out>
struct MapFunction {
  const F f;
  const MapOptions options;
  const std::string label = stage_label("map", options.name);

  Out operator()(In&& element, std::int64_t epoch, std::int64_t i, const auto& source) const {
    const profile::Span span(profile::Kind::data, label.c_str());
    try {
      return settled(call_with(f, std::move(element), [&] { return key_of_element(options.key, epoch, i); }));
    } catch (...) {
      rethrow_from(label, source());
    }
  }
};

template <class F, class In, class Out>
class MapStage final : public Stage<Out> {
 public:
  using Function = MapFunction<F, In, Out>;

  MapStage(StageRef<In> input, F f, MapOptions options)
      : input_(std::move(input)),
        function_(std::make_shared<const Function>(Function{std::move(f), std::move(options)})) {
    check_threads("map", function_->options.threads);
    const random::Key& key = function_->options.key;
    if (takes_key_v<F, In>) {
      if (key.ndim() != 0) raise<ValueError>({"map: the function takes a random::Key; give one as .key"});
      random::detail::check_single("map", key);
    }
  }
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("map"), add_types<Out>(print);
    add_function<F>(print, function_->options.name, function_->options.version);
    if constexpr (takes_key_v<F, In>) add_key(print, function_->options.key.words());
  }
  std::int64_t size() const override { return input_->size(); }
  bool indexable() const override { return input_->indexable(); }
  std::shared_ptr<const Access<Out>> access(const Context& context) const override {
    auto input = input_->access(context);
    if (!input) return nullptr;
    return std::make_shared<Elements>(std::move(input), function_, context.epoch);
  }
  std::unique_ptr<Cursor<Out>> open(const Context& context) const override {
    if (input_->indexable()) return open_indices(access(context), context);
    const int threads = function_->options.threads;
    if (threads == 0) return std::make_unique<InTurn>(input_->open(context), function_, context.epoch);
    using Raw = std::pair<In, std::int64_t>;
    const auto work = [function = function_, epoch = context.epoch](Raw&& raw, const Origin& origin) {
      return (*function)(std::move(raw.first), epoch, raw.second, [&] { return origin.text(); });
    };
    return open_parallel<Raw, Out>(context, function_->label, {threads, function_->options.deterministic}, 0,
                                   PullCounted{input_->open(context)}, work);
  }
  // Keys count a shard's own elements, which are others from one number of shards to the next.
  std::int64_t elastic_position(std::int64_t start, std::int64_t n) const override {
    const bool counts = !takes_key_v<F, In> && function_->options.deterministic;
    return counts ? input_->elastic_position(start, n) : -1;
  }

 private:
  struct Elements final : Access<Out> {
    Elements(std::shared_ptr<const Access<In>> from, std::shared_ptr<const Function> by, std::int64_t of)
        : input(std::move(from)), function(std::move(by)), epoch(of) {}
    std::int64_t size() const override { return input->size(); }
    Out at(std::int64_t i) const override {
      return (*function)(input->at(i), epoch, i, [&] { return input->source(i); });
    }
    Crew crew() const override {
      return joined(input->crew(), {function->options.threads, function->options.deterministic});
    }
    std::string name() const override { return function->label; }
    std::string source(std::int64_t i) const override { return input->source(i); }
    std::shared_ptr<const Access<In>> input;
    std::shared_ptr<const Function> function;
    std::int64_t epoch;
  };
  class InTurn final : public Cursor<Out> {
   public:
    InTurn(std::unique_ptr<Cursor<In>> input, std::shared_ptr<const Function> function, std::int64_t epoch)
        : input_(std::move(input)), function_(std::move(function)), epoch_(epoch) {}
    std::optional<Out> next() override {
      std::optional<In> element = input_->next();
      if (!element) return std::nullopt;
      return (*function_)(std::move(*element), epoch_, at_++, [&] { return input_->origin().text(); });
    }
    void prepare() override { input_->prepare(); }
    std::int64_t skip(std::int64_t n) override {
      const std::int64_t done = input_->skip(n);
      at_ += done;
      return done;
    }
    Origin origin() const override { return input_->origin(); }

   private:
    std::unique_ptr<Cursor<In>> input_;
    std::shared_ptr<const Function> function_;
    std::int64_t epoch_, at_ = 0;
  };
  struct PullCounted {
    std::unique_ptr<Cursor<In>> input;
    std::int64_t at = 0;
    std::optional<std::pair<In, std::int64_t>> next(Origin& origin) {
      std::optional<In> element = input->next();
      if (!element) return std::nullopt;
      origin = input->origin();
      return std::pair{std::move(*element), at++};
    }
    std::int64_t skip(std::int64_t n) {
      const std::int64_t done = input->skip(n);
      at += done;
      return done;
    }
  };

  StageRef<In> input_;
  std::shared_ptr<const Function> function_;
};

// Whether a user's predicate holds for an element of `input`; what it throws names the stage and the origin.
template <class F, class Element>
bool passes(const F& f, const Element& element, const std::string& label, const Cursor<Element>& input) {
  const profile::Span span(profile::Kind::data, label.c_str());
  try {
    return static_cast<bool>(settled(call_with(f, Element(element), NoKey())));
  } catch (...) {
    rethrow_from(label, input.origin().text());
  }
}

template <class F, class Element>
class FilterStage final : public Stage<Element> {
 public:
  FilterStage(StageRef<Element> input, F f, FilterOptions options)
      : input_(std::move(input)),
        function_(std::make_shared<const F>(std::move(f))),
        options_(std::move(options)) {}
  void describe(Fingerprint& print) const override {
    input_->describe(print), print.add("filter");
    add_function<F>(print, options_.name, options_.version);
  }
  std::int64_t size() const override { return -1; }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    return std::make_unique<Passing>(input_->open(context), function_, stage_label("filter", options_.name),
                                     context);
  }

 private:
  class Passing final : public Cursor<Element> {
   public:
    Passing(std::unique_ptr<Cursor<Element>> input, std::shared_ptr<const F> function, std::string label,
            const Context& context)
        : input_(std::move(input)),
          function_(std::move(function)),
          label_(std::move(label)),
          context_(context) {}
    std::optional<Element> next() override {
      while (!context_.is_stopped()) {
        std::optional<Element> element = input_->next();
        if (!element || passes(*function_, *element, label_, *input_)) return element;
      }
      return std::nullopt;
    }
    void prepare() override { input_->prepare(); }
    Origin origin() const override { return input_->origin(); }

   private:
    std::unique_ptr<Cursor<Element>> input_;
    std::shared_ptr<const F> function_;
    std::string label_;
    Context context_;
  };
  StageRef<Element> input_;
  std::shared_ptr<const F> function_;
  FilterOptions options_;
};

}  // namespace detail
}  // namespace data
NAX_END
