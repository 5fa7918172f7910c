#pragma once

#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/elementwise/extrema.hpp"
#include "nax/numpy/elementwise/power.hpp"
#include "nax/numpy/indexing/indexing.hpp"

// a.at(...).set(v) and kin: new arrays with some elements changed.
NAX_BEGIN

// The result of a.at(index...). `std::move(a).at(i).set(v)` writes in place where no other handle holds a's
// elements.
template <class Element>
class NAX_RESULT("at(...) changes nothing by itself: a = a.at(...).set(v)") AtProxy {
 public:
  // Anything that may be written: an array or expression of any type, a number, nested braces.
  class Value {
   public:
    template <detail::Operand V>
    Value(const V& v) : array_(convert(v)) {}
    Value(std::initializer_list<detail::Nested<Element>> list) : array_(list), goes_along_(true) {}
    const Array<Element>& get() const { return array_; }
    // Braces were made on the host, whatever they are for.
    Array<Element> beside(const Array<Element>& x) const {
      return goes_along_ ? detail::brought_to(x.device(), array_) : array_;
    }

   private:
    template <class V>
    static Array<Element> convert(const V& v) {
      if constexpr (Scalar<V>) {
        return Array<Element>(v);
      } else if constexpr (std::is_same_v<typename V::value_type, Element> ||
                           detail::ExpressionOf<V, Element>) {
        return Array<Element>(v);
      } else {
        return Array<typename V::value_type>(v).template astype<Element>();
      }
    }
    Array<Element> array_;
    bool goes_along_ = false;
  };

  AtProxy(Array<Element> array, detail::Selection selection)
      : array_(std::move(array)), selection_(std::move(selection)) {}

  AtProxy(const AtProxy&) = default;
  AtProxy(AtProxy&&) = default;
  AtProxy& operator=(const AtProxy&) = default;
  AtProxy& operator=(AtProxy&&) = default;
  template <class V>
  AtProxy& operator=(const V&) {
    detail::refuse_assignment<V>();
    return *this;
  }

  Array<Element> get() const { return detail::get(array_, selection_); }

  // Of several writes to one place the last stays.
  Array<Element> set(const Value& v) && { return write(v, detail::Update::set); }
  // Several additions to one place all count; so do several multiplications, and so on.
  Array<Element> add(const Value& v) && { return write(v, detail::Update::add); }
  Array<Element> multiply(const Value& v) && {
    return change(v, [](const auto& x, const auto& y) { return x * y; });
  }
  Array<Element> divide(const Value& v) && {
    return change(v, [](const auto& x, const auto& y) { return x / y; });
  }
  Array<Element> power(const Value& v) && {
    return change(v, [](const auto& x, const auto& y) { return nax::power(x, y); });
  }
  Array<Element> min(const Value& v) && {
    return change(v, [](const auto& x, const auto& y) { return nax::minimum(x, y); });
  }
  Array<Element> max(const Value& v) && {
    return change(v, [](const auto& x, const auto& y) { return nax::maximum(x, y); });
  }
  // f of the selected elements, once for each place.
  template <class F>
  Array<Element> apply(const F& f) && {
    const Array<Element> v = Value(f(get())).get();
    return detail::update(std::move(array_), selection_, v, detail::Update::set);
  }

  Array<Element> set(const Value& v) const& { return AtProxy(*this).set(v); }
  Array<Element> add(const Value& v) const& { return AtProxy(*this).add(v); }
  Array<Element> multiply(const Value& v) const& { return AtProxy(*this).multiply(v); }
  Array<Element> divide(const Value& v) const& { return AtProxy(*this).divide(v); }
  Array<Element> power(const Value& v) const& { return AtProxy(*this).power(v); }
  Array<Element> min(const Value& v) const& { return AtProxy(*this).min(v); }
  Array<Element> max(const Value& v) const& { return AtProxy(*this).max(v); }
  template <class F>
  Array<Element> apply(const F& f) const& {
    return AtProxy(*this).apply(f);
  }

 private:
  Array<Element> write(const Value& v, detail::Update mode) {
    const Array<Element> value = v.beside(array_);
    return detail::update(std::move(array_), selection_, value, mode);
  }
  // op(element, value) for each index in turn. Indices that name one place again go in rounds of their own.
  template <class Op>
  Array<Element> change(const Value& v, const Op& op) {
    const Array<Element> value = v.beside(array_);
    const auto round = [&](const detail::Selection& s) {
      const Array<Element> next = Value(op(detail::get(array_, s), value)).get();
      array_ = detail::update(std::move(array_), s, next, detail::Update::set);
    };
    if (!selection_.gather) {
      round(selection_);
      return std::move(array_);
    }
    const ArrayBase ranks = detail::index_ranks(selection_, false);
    const std::int64_t last = detail::last_rank(selection_, ranks);
    for (std::int64_t r = 0; r <= last; ++r)
      round(last == 0 ? selection_ : detail::with_rank(selection_, ranks, r));
    return std::move(array_);
  }

  Array<Element> array_;
  detail::Selection selection_;
};

template <class Element>
template <class... Index>
AtProxy<Element> Array<Element>::at(const Index&... index) const& {
  detail::check_operand("at", *this);
  return {*this, detail::select(*this, index...)};
}
template <class Element>
template <class... Index>
AtProxy<Element> Array<Element>::at(const Index&... index) && {
  detail::check_operand("at", *this);
  detail::Selection selection = detail::select(*this, index...);
  return {std::move(*this), std::move(selection)};
}

NAX_END
