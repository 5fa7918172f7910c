#pragma once

#include <optional>
#include <string>

#include "nax/core/at_fork.hpp"
#include "nax/core/devices.hpp"
#include "nax/parallel/axis_environment.hpp"
#include "nax/parallel/pmap_node.hpp"
#include "nax/transform/vmap.hpp"

NAX_BEGIN

// The devices that a pmap may use: those of the default device's platform unless it is given some. (None is
// not the same as not given, or a program that asks for the GPUs of a machine without any would run
// elsewhere.)
class DeviceChoice {
 public:
  DeviceChoice() = default;
  DeviceChoice(std::vector<Device> devices) : devices_(std::move(devices)) {}
  DeviceChoice(std::initializer_list<Device> devices) : devices_(devices) {}

  std::vector<Device> get() const { return devices_ ? *devices_ : nax::devices(); }

 private:
  std::optional<std::vector<Device>> devices_;
};

struct PmapOptions {
  InAxes in_axes = {};
  OutAxes out_axes = {};
  AxisName axis_name = {};
  DeviceChoice devices = {};
};

namespace detail {

// A user's function as a function of flat lists: the leaves of its arguments in, those of its result out. The
// structure of the result is kept by the device that is first along the axis.
template <class F, class Inputs>
class FlatUserFunction final : public FlatFunction {
 public:
  using Out = decltype(array_tree(call_with(std::declval<const F&>(), std::declval<Inputs>())));

  FlatUserFunction(std::shared_ptr<const F> f, Inputs skeleton)
      : f_(std::move(f)), skeleton_(std::move(skeleton)) {}

  Arrays call(Arrays leaves) const override {
    Inputs inputs = skeleton_;
    std::size_t i = 0;
    for_each_array(inputs, [&](ArrayBase& leaf) { leaf = std::move(leaves[i++]); });
    // The arguments are the function's own: one that takes them by value may reuse their memory.
    Out out = array_tree(call_with(*f_, std::move(inputs)));
    Arrays results;
    for_each_array(out, [&](ArrayBase& leaf) { results.push_back(leaf); });
    const auto& axes = device_axes();
    if (axes.empty() || axes.back().leads) {
      const std::lock_guard lock(mutex_);
      if (!out_) {
        for_each_array(out, [](ArrayBase& leaf) { leaf = ArrayBase(); });
        out_ = std::move(out);
      }
    }
    return results;
  }
  Out take_skeleton() const {
    const std::lock_guard lock(mutex_);
    return *out_;
  }

 private:
  std::shared_ptr<const F> f_;  // shared with tapes, so that it need not be copied
  Inputs skeleton_;
  ForkMutex& mutex_ = fork_mutex_of<FlatFunction>();
  mutable std::optional<Out> out_;
};

// For for_each_with_axes: visits the arrays alone, of any dtype.
struct ArraysWithAxes {
  FunctionRef<void(ArrayBase&, const Axes&)> f;
  template <class Leaf>
  void operator()(Leaf& leaf, const Axes& axes) const {
    if constexpr (is_array_v<Leaf>) {
      provide_leaf_operations<typename Leaf::value_type>();
      f(leaf, axes);
    }
  }
};

// This process' devices of those chosen; `everywhere` says whether others have some of them.
NAX_ENGINE std::vector<Device> devices_for(std::int64_t size, const DeviceChoice& chosen, bool& everywhere);

}  // namespace detail

// f on several devices at once, one example of the mapped axis on each: pmap(f, {.in_axes = {none, 0},
// .axis_name = "devices"})(params, xs). Results are sharded arrays, whose leading axis is the device axis;
// given to the next pmap they move nothing. An argument given as an rvalue is donated: its memory may be
// reused. The mapped size may be at most the number of devices. What a device throws reaches the caller as
// DeviceError, the original nested in it. Where devices of other processes are among them (all are, by
// default: distributed/), the mapped axis of the arguments and results is that of this process' devices, and
// collectives along axis_name span all processes, which make the same calls in the same order. A result whose
// out_axes is none must be the same on all devices, or ValueError says so. Several threads may call at the
// same time, those of a device's function among them.
template <class F>
[[nodiscard]] auto pmap(F f, PmapOptions options = {}) {
  return detail::transformed<detail::CheckMapped, F>([f = std::make_shared<const F>(std::move(f)),
                                                      options = std::move(options)](auto&&... args) {
    using namespace detail;
    constexpr std::size_t count = sizeof...(args);
    using Inputs = lifted_t<F, std::remove_cvref_t<decltype(args)>...>;
    check_in_axes("pmap", options.in_axes, count);
    const bool donated[] = {!std::is_lvalue_reference_v<decltype(args)>..., false};
    // Leaves travel in one flat list, each with its axis (-1: the same for all).
    Arrays leaves;
    std::vector<MappedLeaf> places;
    MappedSize mapped("pmap");
    Inputs skeleton = [&] {
      if constexpr (((Scalar<std::remove_cvref_t<decltype(args)>> ||
                      Expression<std::remove_cvref_t<decltype(args)>>) ||
                     ...))
        return lift_for<F>(args...);
      else
        return Inputs(std::forward<decltype(args)>(args)...);
    }();
    for_each_argument(skeleton, [&](std::size_t i, auto& argument) {
      const auto take = [&](ArrayBase& leaf, const Axes& axes) {
        mapped.add(leaf, axes, i);
        places.push_back(
            {axes.is_none() ? -1 : normalize_axis("pmap", axes.axis(), leaf.ndim()), donated[i]});
        leaves.push_back(std::exchange(leaf, ArrayBase()));
      };
      ArraysWithAxes visit{take};
      for_each_with_axes("pmap", argument, options.in_axes.at(i), visit);
    });
    bool everywhere = false;
    const std::vector<Device> devices = devices_for(mapped.get(std::nullopt), options.devices, everywhere);
    if (options.axis_name.names().size() > 1) throw ValueError("pmap: axis_name must be one name");
    const std::string name = options.axis_name.empty() ? "" : options.axis_name.names()[0];

    using Function = FlatUserFunction<F, Inputs>;
    const auto function = std::make_shared<const Function>(f, std::move(skeleton));
    FlatPmap flat{function, devices, name, std::move(places), everywhere};
    Arrays results = flat(std::move(leaves));

    auto out = function->take_skeleton();
    std::size_t i = 0;
    auto place = [&](auto& leaf, const Axes& axes) {
      if constexpr (is_array_v<decltype(leaf)>) {
        using Leaf = std::remove_cvref_t<decltype(leaf)>;
        const Leaf all = typed<typename Leaf::value_type>(std::move(results[i++]));
        if (axes.is_none()) {
          if (!same_along(all, layout_of(all).hidden()))
            throw ValueError("pmap: out_axes is none for a result that differs between devices");
          leaf = first_row(all);
        } else {
          leaf = move_axis_recorded(all, 0, result_axis("pmap", axes.axis(), all.ndim()));
        }
      }
    };
    for_each_with_axes("pmap", out, options.out_axes.get(), place);
    return out;
  });
}

NAX_END

#if !defined(NAX_CALLS_LIBRARY)
NAX_BEGIN
namespace detail {

NAX_ENGINE std::vector<Device> devices_for(std::int64_t size, const DeviceChoice& chosen, bool& everywhere) {
  check_recordable("pmap");
  std::vector<Device> all = chosen.get();
  const std::size_t count = all.size();
  std::erase_if(all, [](Device device) { return device.remote != 0; });
  everywhere = all.size() < count;
  if (all.empty())
    throw ValueError("pmap: devices is empty; leave it out for all devices of the default device's platform");
  if (size == 0) throw ValueError("pmap: the mapped axis has size 0: there is nothing to run on any device");
  if (size > static_cast<std::int64_t>(all.size()))
    raise<ValueError>({"pmap: the mapped axis has size ", size, ", but the number of ",
                       (everywhere ? "this process' devices is " : "devices is "), all.size(), "; see ",
                       on_accelerator(all[0]) ? "NAX_CUDA_DEVICES" : "set_cpu_device_count"});
  check_devices("pmap", all);
  all.resize(static_cast<std::size_t>(size));
  return all;
}

}  // namespace detail
NAX_END
#endif
