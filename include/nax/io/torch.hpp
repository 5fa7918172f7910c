#pragma once

#include <functional>
#include <memory>

#include "nax/io/safetensors.hpp"
#include "nax/nn/modules.hpp"
#include "nax/numpy/manipulation/rearrange.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/numpy/views/transpose.hpp"

// Parameters that PyTorch or Hugging Face's transformers saved, into modules of nax.
//
// A module of nax::nn knows the names and layouts of its parameters in torch: Linear's w is `weight`, (out,
// in) there and (in, out) here; Conv's w is `weight`, (out, in / groups, kernel...); MultiHeadAttention's
// projections are packed in `in_proj_weight`, or stand alone as q_proj, k_proj, v_proj. All else is filled by
// its own name, as load_safetensors does.
NAX_BEGIN
namespace io {

// How a file stores the weights of a linear layer: torch.nn.Linear as (out, in), the Conv1D of transformers'
// GPT-2 as (in, out).
enum class TorchLayout { out_in, in_out };
inline constexpr TorchLayout out_in = TorchLayout::out_in, in_out = TorchLayout::in_out;

// Renames the arrays of the file before the tree's names are looked for: pairs of a beginning or an ending
// and what stands in its place, each applied in turn, or a function from name to name.
class TorchNames {
 public:
  TorchNames() = default;
  TorchNames(std::initializer_list<std::pair<std::string, std::string>> pairs)
      : TorchNames(std::vector<std::pair<std::string, std::string>>(pairs)) {}
  TorchNames(std::vector<std::pair<std::string, std::string>> pairs);
  template <class F>
  requires std::is_invocable_r_v<std::string, const F&, const std::string&> TorchNames(F f)
      : rename_(std::move(f)) {}
  // By regular expressions (ECMAScript) and what stands in place of each match, where $1 is the first group.
  // Throws ValueError for what is no expression; load_torch throws IoError for names of the file that are
  // longer than 4096 bytes or that an expression is too complex for.
  NAX_ENGINE static TorchNames matching(const std::vector<std::pair<std::string, std::string>>& pairs);
  std::string operator()(const std::string& name) const { return rename_ ? rename_(name) : name; }

 private:
  std::function<std::string(const std::string&)> rename_;
};

struct LoadTorchOptions {
  bool strict = true;  // throws unless the tree and the file have the same names
  // Without .strict, beginnings of paths in the tree that the file need not have, such as those of a new
  // head.
  std::vector<std::string> without = {};
  TorchNames rename = {};
  // Endings of linear layers' names, and how the file stores their weights. Needed for square weights of
  // files that store others as (in, out).
  std::vector<std::pair<std::string, TorchLayout>> layout = {};
  bool cast = true;  // converts floats of another width to the tree's
  bool map = true;   // as for load_safetensors
};

namespace detail {

using nax::tree::detail::Path;

// The arrays of one file, or of those that an index names.
class TorchFiles {
 public:
  TorchFiles(const std::string& path, const LoadTorchOptions& options);

  // The shape of a tensor by its name after renaming; null where there is none that is left.
  const Shape* shape(const std::string& name) const;
  // The tensor, which is no longer left.
  ArrayBase take(const std::string& name, DType dtype);
  // By the files' names.
  std::vector<std::string> left() const;
  [[noreturn, gnu::cold]] void fail(const std::string& name, const std::string& what) const;
  const Source& source() const;

 private:
  struct File {
    File(const std::string& path, bool map) : source("load_torch", path), reader(source, map) {}
    Source source;
    SafetensorsReader reader;
  };
  struct Tensor {
    const File* file;
    std::string name;
    bool taken;
  };
  void add(const std::string& path, const LoadTorchOptions& options);

  std::vector<std::unique_ptr<File>> files_;
  std::map<std::string, Tensor> tensors_;  // by their names after renaming
  bool cast_;
};

// A path as names have it; empty for the tree itself.
NAX_ENGINE std::string name_at(const Path& path);

class TorchLoader {
 public:
  TorchLoader(const std::string& path, const LoadTorchOptions& options);
  ~TorchLoader();

  // The name of a module's part in torch.
  NAX_ENGINE static std::string joined(const Path& module, const char* part);
  bool has(const std::string& name) const { return files_.shape(name) != nullptr; }

  // Fills a leaf by what `turn` makes of the tensors of these names, which have one shape of `rank` axes.
  template <class T, class Turn>
  void fill(const Path& module, const char* field, Array<T>& leaf, const std::vector<std::string>& names,
            int rank, const Turn& turn) {
    std::string shown_name = name_at(module);
    shown_name += (shown_name.empty() || *field == '\0' ? "" : ".") + std::string(field);
    std::vector<Array<T>> tensors;
    for (const std::string& name : names) {
      const Shape* const shape = files_.shape(name);
      if (!shape) return report_.missing.push_back(std::move(shown_name));
      if (rank >= 0 && static_cast<int>(shape->size()) != rank)
        files_.fail(name, "has shape " + to_string(*shape) + ", not " + std::to_string(rank) + " axes");
      if (*shape != *files_.shape(names.front()))
        files_.fail(name, "has shape " + to_string(*shape) + ", " + names.front() + " has " +
                              to_string(*files_.shape(names.front())));
      tensors.push_back(nax::detail::typed<T>(files_.take(name, dtype_of<T>)));
    }
    Array<T> made;
    bool turns = true;
    try {
      made = copy(turn(tensors));
    } catch (const ShapeError&) {
      turns = false;
    } catch (const ValueError&) {
      turns = false;
    }
    if (!turns)
      files_.fail(names.front(), "has shape " + to_string(*files_.shape(names.front())) +
                                     ", which does not fit the tree's " + shown_name);
    if (nax::detail::ArrayAccess::buffer(leaf) && made.shape() != leaf.shape())
      files_.fail(names.front(), "becomes an array of shape " + to_string(made.shape()) + ", the tree's " +
                                     shown_name + " has " + to_string(leaf.shape()));
    leaf = nax::detail::typed<T>(nax::detail::beside(leaf, made));
    report_.matched.push_back(std::move(shown_name));
  }
  template <class T>
  void fill(const Path& module, const char* field, Array<T>& leaf, const std::string& name) {
    fill(module, field, leaf, {name}, -1, [](const auto& tensors) { return tensors[0]; });
  }
  // A linear layer's weight; whether the file stores it as (in, out).
  bool is_in_out(const Path& module, const std::string& name, const Shape& tree);
  // Fills a module by load(). Without .strict, one of which the file has nothing is remembered.
  template <class Load>
  void fill_module(const Path& module, const Load& load) {
    const std::size_t matched = report_.matched.size(), missing = report_.missing.size();
    load();
    if (report_.matched.size() == matched) note_empty(module, missing);
  }
  LoadReport finish();

 private:
  // Remembers a module if one of its leaves, those missing from this number on, is not among .without.
  void note_empty(const Path& module, std::size_t missing);

  const LoadTorchOptions& options_;
  TorchFiles files_;
  LoadReport report_;
  std::string empty_;  // the first module of which the file has nothing
  std::string in_out_,
      square_;  // names of weights: one that can only be in_out, one of which nothing is known
};

template <class T>
void load_module(TorchLoader& from, const Path& at, nn::Linear<T>& m) {
  const std::string name = from.joined(at, "weight");
  const Shape tree = nax::detail::ArrayAccess::buffer(m.w) ? m.w.shape() : Shape{};
  const bool as_it_is = from.has(name) && from.is_in_out(at, name, tree);
  from.fill(at, "w", m.w, {name}, 2,
            [&](const auto& tensors) { return as_it_is ? tensors[0] : Array<T>(transpose(tensors[0])); });
  if (m.b) from.fill(at, "b", *m.b, from.joined(at, "bias"));
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::Conv<T>& m) {
  from.fill(at, "w", m.w, {from.joined(at, "weight")}, m.w.ndim(), [](const auto& tensors) {
    Dims axes;
    for (int axis = 2; axis < tensors[0].ndim(); ++axis) axes.push_back(axis);
    axes.push_back(1), axes.push_back(0);
    return Array<T>(nax::detail::transpose_by("load_torch", tensors[0], axes, true));
  });
  if (m.b) from.fill(at, "b", *m.b, from.joined(at, "bias"));
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::Embedding<T>& m) {
  from.fill(at, "table", m.table, from.joined(at, "weight"));
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::RMSNorm<T>& m) {
  from.fill(at, "scale", m.scale, from.joined(at, "weight"));
}
template <class M>
void load_norm(TorchLoader& from, const Path& at, M& m) {
  from.fill(at, "scale", m.scale, from.joined(at, "weight"));
  from.fill(at, "bias", m.bias, from.joined(at, "bias"));
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::LayerNorm<T>& m) {
  load_norm(from, at, m);
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::GroupNorm<T>& m) {
  load_norm(from, at, m);
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::BatchNorm<T>& m) {
  load_norm(from, at, m);
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::BatchStats<T>& m) {
  from.fill(at, "mean", m.mean, from.joined(at, "running_mean"));
  from.fill(at, "var", m.var, from.joined(at, "running_var"));
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::InstanceNorm<T>& m) {
  load_norm(from, at, m);
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::ConvTranspose<T>& m) {
  from.fill(at, "w", m.w, {from.joined(at, "weight")}, m.w.ndim(), [&](const auto& tensors) {
    const bool transposed = m.options->transpose_kernel;  // (kernel..., out, in), not flipped
    Dims axes;
    std::vector<int> spatial;
    for (int axis = 2; axis < tensors[0].ndim(); ++axis) spatial.push_back(axis - 2), axes.push_back(axis);
    axes.push_back(transposed ? 1 : 0), axes.push_back(transposed ? 0 : 1);
    const Array<T> w(nax::detail::transpose_by("load_torch", tensors[0], axes, true));
    return transposed ? w : Array<T>(flip(w, {.axis = spatial}));
  });
  if (m.b) from.fill(at, "b", *m.b, from.joined(at, "bias"));
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::PReLU<T>& m) {
  from.fill(at, "slope", m.slope, from.joined(at, "weight"));
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::EmbeddingBag<T>& m) {
  from.fill(at, "table", m.table, from.joined(at, "weight"));
}

// A recurrent layer of a stack: `field` is its place in the module, `ending` torch's, such as `_l1_reverse`.
template <class Layer>
void load_recurrent(TorchLoader& from, const Path& at, Layer& m, const std::string& field,
                    const std::string& ending) {
  auto& cell = m.cell;
  using A = std::remove_cvref_t<decltype(cell.input)>;
  const auto part = [&](const char* name) { return field + "cell." + name; };
  const auto named = [&](const char* name) { return from.joined(at, (name + ending).c_str()); };
  const auto turned = [](const auto& tensors) { return A(transpose(tensors[0])); };
  from.fill(at, part("input").c_str(), cell.input, {named("weight_ih")}, 2, turned);
  from.fill(at, part("recurrent").c_str(), cell.recurrent, {named("weight_hh")}, 2, turned);
  if constexpr (requires { cell.recurrent_bias; }) {
    if (cell.bias) from.fill(at, part("bias").c_str(), *cell.bias, named("bias_ih"));
    if (cell.recurrent_bias)
      from.fill(at, part("recurrent_bias").c_str(), *cell.recurrent_bias, named("bias_hh"));
  } else if (cell.bias) {
    from.fill(at, part("bias").c_str(), *cell.bias, {named("bias_ih"), named("bias_hh")}, 1,
              [](const auto& tensors) { return A(tensors[0] + tensors[1]); });
  }
}
template <class Layer>
void load_recurrent(TorchLoader& from, const Path& at, nn::Bidirectional<Layer>& m, const std::string& field,
                    const std::string& ending) {
  load_recurrent(from, at, m.forward, field + "forward.", ending);
  load_recurrent(from, at, m.backward, field + "backward.", ending + "_reverse");
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::RNN<T>& m) {
  load_recurrent(from, at, m, "", "_l0");
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::LSTM<T>& m) {
  load_recurrent(from, at, m, "", "_l0");
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::GRU<T>& m) {
  load_recurrent(from, at, m, "", "_l0");
}
template <class Layer>
void load_module(TorchLoader& from, const Path& at, nn::Bidirectional<Layer>& m) {
  load_recurrent(from, at, m, "", "_l0");
}
template <class Layer>
void load_module(TorchLoader& from, const Path& at, nn::Stacked<Layer>& m) {
  for (std::size_t i = 0; i < m.layers.size(); ++i)
    load_recurrent(from, at, m.layers[i], "layers[" + std::to_string(i) + "].", "_l" + std::to_string(i));
}
template <class T>
void load_module(TorchLoader& from, const Path& at, nn::MultiHeadAttention<T>& m) {
  nn::MultiHeadParams<T>& p = m.params;
  const bool packed = from.has(from.joined(at, "in_proj_weight"));
  const std::int64_t e = p.query.shape(0), h = p.query.shape(2),
                     heads[] = {p.query.shape(1), p.key.shape(1), p.value.shape(1)},
                     all = heads[0] + heads[1] + heads[2];
  struct Part {
    Array<T>* w;
    std::optional<Array<T>>* b;
    const char *field, *bias_field;
    const char* names[2];
  };
  const Part parts[] = {{&p.query, &p.query_bias, "params.query", "params.query_bias", {"q_proj", "query"}},
                        {&p.key, &p.key_bias, "params.key", "params.key_bias", {"k_proj", "key"}},
                        {&p.value, &p.value_bias, "params.value", "params.value_bias", {"v_proj", "value"}}};
  const auto name_among = [&](std::initializer_list<const char*> names) {
    for (const char* const name : names)
      if (from.has(from.joined(at, name) + ".weight")) return from.joined(at, name);
    return from.joined(at, *names.begin());
  };
  std::int64_t row = 0;
  for (int i = 0; i < 3; ++i) {
    const Part& part = parts[i];
    const std::int64_t n = heads[i], begin = row;
    row += n * h;
    const auto own = [&](const Array<T>& tensor) {
      if (packed && tensor.shape(0) != all * h) raise<ShapeError>({"load_torch: rows ", tensor.shape(0)});
      return packed ? Array<T>(tensor(slice(begin, begin + n * h))) : tensor;
    };
    const std::string name = packed ? from.joined(at, "in_proj") : name_among({part.names[0], part.names[1]});
    const char* const ending = packed ? "_weight" : ".weight";
    from.fill(at, part.field, *part.w, {name + ending}, 2, [&](const auto& tensors) {
      return Array<T>(Array<T>(transpose(own(tensors[0]))).reshape({e, n, h}));
    });
    if (*part.b)
      from.fill(at, part.bias_field, **part.b, {name + (packed ? "_bias" : ".bias")}, 1,
                [&](const auto& tensors) {
                  return Array<T>(own(tensors[0]).reshape({n, h}));
                });
  }
  const std::string out = name_among({"out_proj", "o_proj", "out"});
  from.fill(at, "params.out", p.out, {out + ".weight"}, 2, [&](const auto& tensors) {
    return Array<T>(Array<T>(transpose(tensors[0])).reshape({heads[0], h, e}));
  });
  if (p.out_bias) from.fill(at, "params.out_bias", *p.out_bias, out + ".bias");
}

template <class T>
concept TorchModule = requires(TorchLoader& from, const Path& at, T& m) {
  load_module(from, at, m);
};

template <class T>
void load_node(TorchLoader& from, const Path& at, T& node);
template <class T, std::size_t... i>
void load_children(TorchLoader& from, const Path& at, T& node, std::index_sequence<i...>) {
  using namespace nax::tree::detail;
  auto all = children(node);
  (load_node(from, child_path<T, i>(at), std::get<i>(all)), ...);
}
template <class T>
void load_node(TorchLoader& from, const Path& at, T& node) {
  using nax::tree::NodeKind;
  constexpr NodeKind kind = nax::tree::detail::kind_of<T>;
  if constexpr (TorchModule<T>) {
    from.fill_module(at, [&] { load_module(from, at, node); });
  } else if constexpr (kind == NodeKind::leaf) {
    if constexpr (is_array_v<T>) from.fill(at, "", node, dotted_name(name_of(at.text())));
  } else if constexpr (kind == NodeKind::sequence) {
    for (std::size_t i = 0; i < node.size(); ++i) load_node(from, Path{.up = &at, .index = i}, node[i]);
  } else if constexpr (kind == NodeKind::map) {
    for (auto& [key, value] : node) load_node(from, nax::tree::detail::key_path(at, key), value);
  } else if constexpr (kind == NodeKind::optional) {
    if (node.has_value()) load_node(from, at, *node);
  } else if constexpr (kind == NodeKind::product) {
    from.fill_module(at, [&] {
      load_children(from, at, node, std::make_index_sequence<nax::tree::detail::child_count_v<T>>{});
    });
  }
}

}  // namespace detail

// Fills a tree of modules from a .safetensors file that PyTorch or transformers wrote, or from the files that
// a `.safetensors.index.json` names, and says what matched. Leaves and modules are found by their paths in
// the tree, `layers.0.attn`; parameters have torch's names behind these. `num_batches_tracked` is passed
// over. A file holds parameters alone: set what its model was made with, such as `nn::Activation::gelu_exact`
// for PyTorch's "gelu" and epsilons. Throws IoError that names the array where shapes do not fit, a square
// weight has two possible layouts and none is stated, the file is damaged or, with .strict, names differ;
// without, where a module or another struct of the tree has nothing in the file and leaves that are not among
// .without. The tree is then as it was.
template <class T>
LoadReport load_torch(const std::string& path, T& tree, const LoadTorchOptions& options = {}) {
  return detail::within_memory("load_torch", path, [&] {
    detail::TorchLoader from(path, options);
    T result = tree;
    detail::load_node(from, detail::Path{.name = "load_torch"}, result);
    LoadReport report = from.finish();
    tree = std::move(result);
    return report;
  });
}

}  // namespace io
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/io/torch-inl.hpp"
#endif
