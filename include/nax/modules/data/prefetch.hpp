#pragma once

#include "nax/core/devices.hpp"
#include "nax/modules/data/cursors.hpp"
#include "nax/modules/data/trees.hpp"
#include "nax/transform/sharded.hpp"

// Elements made ahead of the loop, and where they go.
NAX_BEGIN
namespace data {

struct PrefetchToOptions {
  std::int64_t buffer = 2;  // elements kept ready on the devices
};

namespace detail {

template <class Element>
class PrefetchStage final : public Stage<Element> {
 public:
  PrefetchStage(StageRef<Element> input, std::int64_t n) : input_(std::move(input)), n_(n) {
    check_not_negative("prefetch", "the number of elements", n);
  }
  void describe(Fingerprint& print) const override { input_->describe(print); }
  std::int64_t size() const override { return input_->size(); }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    if (n_ == 0) return input_->open(context);
    const auto as_it_is = [](Element&& element, const Origin&) { return std::move(element); };
    return open_parallel<Element, Element>(context, "prefetch", {1}, n_,
                                           PullOne<Element>{input_->open(context)}, as_it_is);
  }
  std::int64_t elastic_position(std::int64_t start, std::int64_t n) const override {
    return input_->elastic_position(start, n);
  }

 private:
  StageRef<Element> input_;
  std::int64_t n_;
};

// On one device whole; on several row i of the leading axis on device i, as pmap takes it.
NAX_ENGINE ArrayBase place_array(const ArrayBase& a, const std::vector<Device>& devices, bool sharded);

template <class Element>
Element place_tree(const Element& element, const std::vector<Device>& devices, bool sharded) {
  return tree::detail::map(
      "prefetch_to",
      [&](const auto& leaf) {
        using L = std::remove_cvref_t<decltype(leaf)>;
        if constexpr (is_array_v<L>) {
          return nax::detail::typed<typename L::value_type>(place_array(leaf, devices, sharded));
        } else {
          return leaf;
        }
      },
      element);
}

template <class Element>
class PlaceStage final : public Stage<Element> {
 public:
  PlaceStage(StageRef<Element> input, std::vector<Device> devices, bool sharded, PrefetchToOptions options)
      : input_(std::move(input)), devices_(std::move(devices)), sharded_(sharded), options_(options) {
    if (devices_.empty()) throw ValueError("prefetch_to: devices is empty");
    check_devices("prefetch_to", devices_);
    if (options.buffer < 1)
      raise<ValueError>({"prefetch_to: buffer must be at least 1, not ", options.buffer});
  }
  void describe(Fingerprint& print) const override { input_->describe(print); }
  std::int64_t size() const override { return input_->size(); }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    const auto place = [devices = devices_, sharded = sharded_](Element&& element, const Origin& origin) {
      const profile::Span span(profile::Kind::copy, "prefetch_to");
      try {
        return place_tree(element, devices, sharded);
      } catch (...) {
        rethrow_from("prefetch_to", origin.text());
      }
    };
    return open_parallel<Element, Element>(context, "prefetch_to", {1}, options_.buffer,
                                           PullOne<Element>{input_->open(context)}, place);
  }
  std::int64_t elastic_position(std::int64_t start, std::int64_t n) const override {
    return input_->elastic_position(start, n);
  }

 private:
  StageRef<Element> input_;
  std::vector<Device> devices_;
  bool sharded_;
  PrefetchToOptions options_;
};

}  // namespace detail
}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace data::detail {

// Who computes with an array waits for its own upload, and not for those that come after it.
inline ArrayBase noted(ArrayBase a) {
  nax::detail::note_moment(a);
  return a;
}

NAX_ENGINE ArrayBase place_array(const ArrayBase& a, const std::vector<Device>& devices, bool sharded) {
  need_plain("prefetch_to", "an element", a);
  check_operand("prefetch_to", a);
  if (!sharded)
    return share_memory(a.device(), devices[0]) ? a
                                                : noted(moved(contiguous(a, transforms_handled), devices[0]));
  const auto n = static_cast<std::int64_t>(devices.size());
  if (a.ndim() == 0 || a.shape(0) != n)
    raise<ShapeError>({"prefetch_to: the leading axis must count the ", n, " devices, shape ", a.shape()});
  std::vector<ArrayBase> shards;
  for (std::int64_t i = 0; i < n; ++i)
    shards.push_back(noted(brought(row_of(a, i), devices[static_cast<std::size_t>(i)])));
  return assemble(shards, 0);
}

}  // namespace data::detail
NAX_END
#endif
