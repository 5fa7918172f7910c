#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "nax/core/none.hpp"

// How in_axes and out_axes are spelled: a number, `none`, braces with one entry an argument, and axes(...)
// where an argument is a tree whose parts are mapped differently.
NAX_BEGIN

// The axis of a leaf, or of everything below a place in a tree; or a list of these, one for each child.
class Axes {
 public:
  template <std::integral I>
  Axes(I axis) : axis_(static_cast<int>(axis)) {}
  Axes(None) : none_(true) {}

  bool is_list() const { return is_list_; }
  bool is_none() const { return none_; }
  int axis() const { return axis_; }
  const std::vector<Axes>& children() const { return children_; }

 private:
  friend struct AxesMaker;
  Axes() = default;
  int axis_ = 0;
  bool none_ = false, is_list_ = false;
  std::vector<Axes> children_;
};

struct AxesMaker {
  static Axes list(std::vector<Axes> children) {
    Axes axes;
    axes.is_list_ = true;
    axes.children_ = std::move(children);
    return axes;
  }
};

// One entry for each child of a tree: axes(0, none) for a pair whose second part is not mapped.
template <class... A>
requires(std::constructible_from<Axes, A>&&...) Axes axes(const A&... children) {
  return AxesMaker::list({Axes(children)...});
}

// The value of in_axes: one entry for all arguments, or braces with one entry each.
class InAxes {
 public:
  InAxes() : all_{Axes(0)} {}
  template <std::integral I>
  InAxes(I axis) : all_{Axes(axis)} {}
  InAxes(None) : all_{Axes(none)} {}
  InAxes(Axes tree) : all_{std::move(tree)} {}
  InAxes(std::initializer_list<Axes> each) : all_(each), each_(true) {}
  // A tree's axes in braces would be taken for those of all arguments: say axes(0, none).
  InAxes(std::initializer_list<std::initializer_list<Axes>>) = delete;
  InAxes(std::vector<Axes> each) : all_(std::move(each)), each_(true) {}

  bool each() const { return each_; }
  std::size_t count() const { return all_.size(); }
  const Axes& at(std::size_t argument) const { return each_ ? all_[argument] : all_[0]; }

 private:
  std::vector<Axes> all_;
  bool each_ = false;
};

// The value of out_axes: one entry for the whole result, or braces with one for each of its children.
class OutAxes {
 public:
  OutAxes() : axes_(0) {}
  template <std::integral I>
  OutAxes(I axis) : axes_(axis) {}
  OutAxes(None) : axes_(none) {}
  OutAxes(Axes tree) : axes_(std::move(tree)) {}
  OutAxes(std::initializer_list<Axes> children) : axes_(AxesMaker::list(children)) {}
  const Axes& get() const { return axes_; }

 private:
  Axes axes_;
};

// The name of a mapped axis, or several: psum(x, "i"), psum(x, {"i", "j"}). (A string_view parameter would
// read two names in braces as a pair of iterators.)
class AxisName {
 public:
  AxisName() = default;
  AxisName(const char* name) : names_{name} {}
  AxisName(std::string name) : names_{std::move(name)} {}
  AxisName(std::initializer_list<const char*> names) : names_(names.begin(), names.end()) {}
  AxisName(std::vector<std::string> names) : names_(std::move(names)) {}
  const std::vector<std::string>& names() const { return names_; }
  bool empty() const { return names_.empty(); }

 private:
  std::vector<std::string> names_;
};

NAX_END
