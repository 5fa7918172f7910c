#pragma once

#include "nax/modules/arrow/from_arrow.hpp"
#include "nax/numpy/views/copy.hpp"

// Trees of arrays as tables for other libraries, by Arrow's C interfaces.
NAX_BEGIN
namespace data {
namespace detail {

// A column to hand out: what its schema and its array are made of, as often as they are asked for.
struct ArrowOut {
  std::string name, format;
  std::int64_t length = 0, nulls = 0;
  std::vector<const void*> buffers = {};
  std::vector<ArrayBase> kept = {};  // the buffers' memory
  std::vector<ArrowOut> children = {};
};

// The array's rows; lists of fixed size where it has further axes. Throws ValueError for one without axes.
NAX_ENGINE ArrowOut arrow_numbers(const std::string& name, const ArrayBase& values, const ArrayBase* valid);
NAX_ENGINE ArrowOut arrow_text(const std::string& name, const std::vector<std::string>& texts);
// A table of these columns. Throws ValueError where their lengths differ.
NAX_ENGINE ArrowOut arrow_table(std::vector<ArrowOut> columns);
NAX_ENGINE void export_arrow(const ArrowOut& out, ArrowSchema* schema);
NAX_ENGINE void export_arrow(const ArrowOut& out, ArrowArray* array);
NAX_ENGINE ArrowStream arrow_stream(ArrowOut table);

template <class M>
ArrowOut arrow_column(const std::string& name, const M& member) {
  if constexpr (std::is_same_v<M, std::vector<std::string>>) {
    return arrow_text(name, member);
  } else if constexpr (is_array_v<M>) {
    using T = typename M::value_type;
    static_assert(!is_complex_v<T> && !std::is_same_v<T, bfloat16>,
                  "to_arrow: Arrow has no complex numbers and no bfloat16");
    return arrow_numbers(name, member, nullptr);
  } else {
    static_assert(
        requires { ArrowMember<M>::at({}, 0).valid; },
        "to_arrow: the fields of a table must be arrays, data::Nullable or vectors of std::string");
    return arrow_numbers(name, member.values, &member.valid);
  }
}
template <class Tree>
ArrowOut arrow_table_of(const Tree& tree) {
  static_assert(tree::detail::node_kind<Tree>() == tree::NodeKind::product,
                "to_arrow: a table must be a struct or a tuple whose fields are columns");
  std::vector<ArrowOut> columns;
  const auto& children = tree::detail::children(tree);
  const tree::detail::Path root;
  const auto add = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
    const std::string_view name = tree::detail::child_path<Tree, i>(root).name;
    columns.push_back(
        arrow_column(name.empty() ? std::to_string(i) : std::string(name), std::get<i>(children)));
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) { (add(std::integral_constant<std::size_t, I>{}), ...); }
  (std::make_index_sequence<tree::detail::child_count_v<Tree>>{});
  return arrow_table(std::move(columns));
}

}  // namespace detail

// An Arrow stream of one batch: the fields of a struct (of a tuple, by number) as columns with equal first
// extents. Arrays share their memory, further axes are lists of fixed size; bools become bits, and
// std::vector<std::string> text. Throws ValueError where the numbers of rows differ, for an array without
// axes, and under grad and vmap.
template <class Tree>
ArrowStream to_arrow(const Tree& tree) {
  return detail::arrow_stream(detail::arrow_table_of(detail::settled(tree)));
}
// As one batch and its schema, written to `array` and `schema`, which the caller releases or hands on.
template <class Tree>
void to_arrow(const Tree& tree, ArrowArray* array, ArrowSchema* schema) {
  const detail::ArrowOut table = detail::arrow_table_of(detail::settled(tree));
  detail::ArrowOwned<ArrowSchema> made;
  detail::export_arrow(table, made.get());
  detail::export_arrow(table, array);
  *schema = std::exchange(*made.get(), ArrowSchema{});
}

}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/arrow/to_arrow-inl.hpp"
#endif
