// Functions that read elements by address, under grad, jvp and vmap: right, or an error that names the
// function. elements(), through which they read, refuses recorded and batched arrays.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "nax/io/save.hpp"
#include "nax/linalg/solve.hpp"
#include "nax/numpy/conversion/from_data.hpp"
#include "nax/numpy/conversion/print.hpp"
#include "nax/numpy/elementwise/trigonometric.hpp"
#include "nax/numpy/manipulation/edit.hpp"
#include "nax/numpy/manipulation/tiling.hpp"
#include "nax/numpy/reductions/any_all.hpp"
#include "nax/numpy/reductions/cumulative.hpp"
#include "nax/numpy/sequences/convolve.hpp"
#include "nax/numpy/sequences/interpolate.hpp"
#include "nax/numpy/sorting/nonzero.hpp"
#include "nax/numpy/sorting/quantile.hpp"
#include "nax/numpy/sorting/search.hpp"
#include "nax/numpy/sorting/unique.hpp"
#include "nax/random.hpp"
#include "nax/transform/checkpoint.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/jvp.hpp"
#include "nax/transform/vmap.hpp"

namespace elements_test {

using A = nax::Array<double>;
using I = nax::Array<std::int32_t>;
using nax::detail::transforms_handled;

const A x = {0.7, -1.2, 2.5, 0.1, 1.9}, direction = {1, -0.5, 0.25, 2, -1};
const A rows = {{0.7, -1.2, 2.5, 0.1, 1.9}, {1.5, 0.3, -0.4, 2.2, 0.9}, {-2.1, 0.2, 0.8, 1.1, -0.6}};
const I places = {0, 3, 3, 1, 0};
const I place_rows = {{0, 3, 3, 1, 0}, {2, 2, 2, 2, 2}, {5, 0, 1, 9, 1}};

void expect_near(const A& got, const A& want, double tolerance = 1e-9) {
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(want.shape()));
  const auto g = got.to_vector(), w = want.to_vector();
  for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], w[i], tolerance) << i;
}

template <class Kind, class F>
void expect_error(const std::string& begins, const F& f) {
  try {
    f();
    ADD_FAILURE() << "no error; expected: " << begins;
  } catch (const Kind& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, begins.size()), begins);
  }
}

using Function = std::function<A(const A&)>;
// f of a line of five: its gradient and its derivative along a direction against quotients of differences,
// its vmap against a loop, and both together.
void right(const Function& f) {
  const auto loss = [&](const A& a) -> A {
    const A y = f(a);
    return nax::sum(y * y) + nax::sum(nax::sin(y));
  };
  const A gradient = nax::grad(loss)(x);
  const double h = 1e-6;
  for (int i = 0; i < 5; ++i) {
    const A up = x.at(i).add(h), down = x.at(i).add(-h);
    EXPECT_NEAR(gradient(i).item(), (loss(up).item() - loss(down).item()) / (2 * h), 1e-6) << i;
  }
  const auto [value, slope] = nax::jvp(loss, std::tuple{x}, std::tuple{direction});
  EXPECT_NEAR(slope.item(), nax::sum(gradient * direction).item(), 1e-9);
  const A mapped = nax::vmap(f)(rows), gradients = nax::vmap(nax::grad(loss))(rows);
  const A total = nax::grad([&](const A& all) { return nax::sum(nax::vmap(loss)(all)); })(rows);
  for (int i = 0; i < 3; ++i) {
    expect_near(mapped(i), f(rows(i)));
    expect_near(gradients(i), nax::grad(loss)(rows(i)));
    expect_near(total(i), nax::grad(loss)(rows(i)));
  }
}
// Expects f to refuse batched arrays with an error that names it.
template <class F>
void refused_under_vmap(const std::string& name, const F& f) {
  SCOPED_TRACE(name);
  expect_error<nax::ValueError>(name + ":", [&] { nax::vmap(f)(rows); });
}
template <class F>
void no_gradient(const F& f) {  // of indices and comparisons
  const A g =
      nax::grad([&](const A& a) -> A { return nax::sum(f(a).template astype<double>() * 3.0) + a(0); })(x);
  expect_near(g, A{1, 0, 0, 0, 0});
  const auto mapped = nax::vmap(f)(rows);
  for (int i = 0; i < 3; ++i)
    expect_near(mapped(i).template astype<double>(), f(rows(i)).template astype<double>());
}

TEST(RawElements, BincountSumsWeightsUnderEveryTransform) {
  right([](const A& w) { return nax::bincount(places, w); });
  right([](const A& w) { return nax::bincount(places, w, {.length = 2}); });
  right([](const A& w) { return nax::bincount(places, w, {.minlength = 7}); });
  // Over x, over both, and over one while the other stays.
  const A weights = {1, 2, 4, 8, 16};
  const auto both = [](const I& p, const A& w) { return nax::bincount(p, w, {.length = 4}); };
  const auto square = [&](const I& p, const A& w) {
    const A y = both(p, w);
    return nax::sum(y * y);
  };
  const A of_x = nax::vmap(both, {.in_axes = {0, nax::none}})(place_rows, weights),
          of_both = nax::vmap(both)(place_rows, rows);
  const I counts = nax::vmap([](const I& p) { return nax::bincount(p, {.length = 4}); })(place_rows);
  const A gradients = nax::vmap(nax::grad<1>(square), {.in_axes = {0, nax::none}})(place_rows, weights);
  for (int i = 0; i < 3; ++i) {
    expect_near(of_x(i), both(place_rows(i), weights));
    expect_near(of_both(i), both(place_rows(i), rows(i)));
    expect_near(gradients(i), nax::grad<1>(square)(place_rows(i), weights));
    EXPECT_TRUE(nax::all(counts(i) == nax::bincount(place_rows(i), {.length = 4})).item());
  }
  expect_near(of_x(2), A{2, 20, 0, 0});
  // The second derivative: of sum(bincount^2) by the weights, 2 where two share a bin.
  const A h = nax::jvp(nax::grad([&](const A& w) { return square(places, w); }), std::tuple{weights},
                       std::tuple{A{1, 0, 0, 0, 0}})
                  .second;
  expect_near(h, A{2, 0, 0, 0, 2});
  EXPECT_EQ(nax::to_string(nax::bincount(I{1, 1, 7}, {.length = 3})), "[0 2 0]");
  expect_error<nax::ValueError>("bincount:", [&] { nax::bincount(I{1, -1}, {.length = 3}); });
  expect_error<nax::ValueError>("bincount:",
                                [&] { nax::vmap([](const I& p) { return nax::bincount(p); })(place_rows); });
}

TEST(RawElements, FunctionsThatMoveElementsMoveDerivatives) {
  right([](const A& a) { return nax::sort(a); });
  right([](const A& a) { return nax::top_k(a, 3).values; });
  right([](const A& a) { return nax::quantile(a, 0.3); });
  right([](const A& a) { return nax::quantile(a, A{0.3, 0.8}); });
  right([](const A& a) { return nax::median(a); });
  right([](const A& a) { return nax::interp(A{-0.5, 0.4, 1.7}, A{-1, 0, 1, 2, 3}, a); });
  right([](const A& a) { return nax::interp(a, A{-3, 0, 1, 4}, A{2, 5, -1, 0}); });
  right([](const A& a) { return nax::take(a, places); });
  right([](const A& a) { return nax::delete_(a, 1); });
  right([](const A& a) { return nax::insert(a, 2, 5.0); });
  right([](const A& a) { return nax::insert(A{1, 2, 3}, std::vector<int>{0, 1, 1, 2, 3}, a); });
  right([](const A& a) { return nax::repeat(a, std::vector<int>{0, 1, 2, 0, 3}); });
  right([](const A& a) { return nax::resize(a, {2, 4}); });
  right([](const A& a) { return nax::compress(nax::Array<bool>{true, false, true, true, false}, a); });
  right([](const A& a) { return nax::extract(nax::Array<bool>{true, false, true, true, false}, a); });
  right([](const A& a) { return nax::choose(I{1, 0, 1, 1, 0}, std::vector<A>{a, a * 2.0}); });
  right([](const A& a) { return nax::cumprod(a); });
  right([](const A& a) { return nax::convolve(a, A{1, -2, 3}); });
  right([](const A& a) { return nax::linalg::solve(A{{3, 1}, {1, 2}}, a(nax::slice(0, 2))); });
  right([](const A& a) { return nax::random::choice(nax::random::key(1), a, {4}); });
  right([](const A& a) { return nax::random::permutation(nax::random::key(1), a); });
}

TEST(RawElements, UniqueValuesHaveDerivatives) {
  const A twice = {3, 1, 3, 2, 1};
  expect_near(nax::grad([](const A& a) {
                return nax::sum(nax::unique(a) * A{1, 10, 100});
              })(twice),
              A{100, 1, 0, 10, 0});
  const auto [value, slope] = nax::jvp([](const A& a) { return nax::unique_all(a).values; },
                                       std::tuple{twice}, std::tuple{direction});
  expect_near(slope, A{-0.5, 2, 1});
}

TEST(RawElements, IndicesAndComparisonsHaveNone) {
  no_gradient([](const A& a) { return nax::argsort(a); });
  no_gradient([](const A& a) { return nax::argmax(a); });
  no_gradient([](const A& a) { return nax::searchsorted(A{-1, 0, 1, 2}, a); });
  no_gradient([](const A& a) { return nax::searchsorted(nax::sort(a), A{0.5, 1}); });
  no_gradient([](const A& a) { return nax::digitize(a, A{-1, 0, 1, 2}); });
  no_gradient([](const A& a) { return nax::digitize(A{0.5, 1}, nax::sort(a)); });
  no_gradient([](const A& a) { return nax::digitize(A{0.5, 1}, nax::sort(a, {.descending = true})); });
  no_gradient([](const A& a) { return nax::isin(a, A{0.7, 2.2}); });
  no_gradient([](const A& a) { return nax::isin(A{0.7, 2.2, 5}, a); });
  no_gradient([](const A& a) { return nax::random::categorical(nax::random::key(3), a); });
  // Bins that ascend in one example and descend in the other.
  const A bins = {{0, 1, 2}, {2, 1, 0}};
  const I at = nax::vmap([](const A& b) { return nax::digitize(A{0.5, 1, 3}, b); })(bins);
  EXPECT_TRUE(nax::all(at(0) == nax::digitize(A{0.5, 1, 3}, bins(0))).item());
  EXPECT_TRUE(nax::all(at(1) == nax::digitize(A{0.5, 1, 3}, bins(1))).item());
}

TEST(RawElements, FunctionsOfValuesAreRefusedUnderVmap) {
  refused_under_vmap("unique", [](const A& a) { return nax::unique(a); });
  refused_under_vmap("unique_all", [](const A& a) { return nax::unique_all(a).values; });
  refused_under_vmap("unique_counts", [](const A& a) { return nax::unique_counts(a).counts; });
  refused_under_vmap("nonzero", [](const A& a) { return nax::nonzero(a)[0]; });
  refused_under_vmap("argwhere", [](const A& a) { return nax::argwhere(a); });
  refused_under_vmap("flatnonzero", [](const A& a) { return nax::flatnonzero(a); });
  refused_under_vmap("extract", [](const A& a) { return nax::extract(a > 0, a); });
  refused_under_vmap("compress", [](const A& a) { return nax::compress(a > 0, a); });
  refused_under_vmap("index", [](const A& a) { return a(a > 0); });
  refused_under_vmap("quantile", [](const A& a) { return nax::quantile(A{1, 2, 3}, nax::abs(a) / 5.0); });
  refused_under_vmap("item", [](const A& a) { return A(a(0).item()); });
  refused_under_vmap("to_vector", [](const A& a) { return nax::array(a.to_vector()); });
  refused_under_vmap("data", [](const A& a) { return A(*a.data()); });
  refused_under_vmap("save", [](const A& a) {
    nax::io::save("never.npy", a);
    return a;
  });
  const auto refuse = [](const std::string& name, const auto& f) {
    expect_error<nax::ValueError>(name + ":", [&] { nax::vmap(f)(place_rows); });
  };
  refuse("repeat", [](const I& i) { return nax::repeat(x, i); });
  refuse("delete", [](const I& i) { return nax::delete_(nax::arange<double>(20), i); });
  refuse("insert", [](const I& i) { return nax::insert(nax::arange<double>(20), i, 1.0); });
}

TEST(RawElements, AnOperandReadAsNumbersIsRefusedUnderGrad) {
  const auto f = [](const A& q) { return nax::sum(nax::quantile(A{1, 2, 3}, q)); };
  expect_error<nax::ValueError>("quantile: not differentiable with regard to q", [&] {
    nax::grad(f)(A{0.1, 0.2});
  });
  expect_error<nax::ValueError>("quantile: not differentiable with regard to q",
                                [&] { nax::jvp(f, std::tuple{A{0.1}}, std::tuple{A{1}}); });
  const auto percent = [](const A& q) { return nax::sum(nax::percentile(A{1, 2, 3}, q)); };
  expect_error<nax::ValueError>("percentile: ", [&] { nax::grad(percent)(A{10, 20}); });
  expect_near(
      nax::grad([](const A& q) { return nax::sum(nax::quantile(q * 4.0, nax::stop_gradient(q))); })(A{0, 1}),
      A{4, 4});
}

TEST(RawElements, ElementsRefusesUnlessTheCallerHandlesTransforms) {
  const auto read = [](const A& a) { return A(*nax::detail::elements<const double>(a)); };
  const auto flatten = [](const A& a) { return nax::detail::typed<double>(nax::detail::contiguous(a)); };
  const auto write = [](const A& a) { return *nax::detail::elements<double>(a) = 1, a; };
  const auto handled = [](const A& a) {
    return A(*nax::detail::elements<const double>(a, transforms_handled));
  };
  expect_error<nax::ValueError>("elements:", [&] { nax::grad(read)(x); });
  expect_error<nax::ValueError>("elements:", [&] { nax::grad(flatten)(A(2.0)); });
  expect_error<nax::ValueError>("elements:", [&] { nax::grad(write)(A(2.0)); });
  expect_error<nax::ValueError>("elements:", [&] { nax::vmap(read)(rows); });
  expect_error<nax::ValueError>("elements:", [&] { nax::vmap(write)(rows); });
  EXPECT_NO_THROW(nax::vmap(handled)(rows));
  EXPECT_EQ(read(x).item(), 0.7);
  A outlived;
  nax::grad([&](const A& a) { return outlived = a * 2.0, nax::sum(a); })(x);
  EXPECT_EQ(read(outlived).item(), 1.4);  // a constant again
}

// raw_data and device_data check nothing. Code that takes addresses calls numpy/views/elements.hpp, or is
// listed here, once recorded and batched operands were considered.
TEST(RawElements, UncheckedAccessIsAllowListed) {
  // (Elements of data pipelines are constants: no derivative passes through one.)
  const std::set<std::string> known = {"modules/arrow/from_arrow.hpp",
                                       "modules/arrow/reader.hpp",
                                       "modules/arrow/to_arrow.hpp",
                                       "modules/data/csv_reader.hpp",
                                       "modules/data/example.hpp",
                                       "modules/data/groups.hpp",
                                       "modules/data/npy.hpp",
                                       "modules/data/pack.hpp",
                                       "modules/data/sequence_example.hpp",
                                       "modules/data/sources.hpp",
                                       "modules/data/stored.hpp",
                                       "modules/data/trees.hpp",
                                       "io/checkpoint_folder.hpp",
                                       "io/checkpoints.hpp",
                                       "modules/exporting/operands.hpp",
                                       "io/idx.hpp",
                                       "io/npy.hpp",
                                       "io/numpy_files.hpp",
                                       "modules/exporting/onnx.hpp",
                                       "io/safetensors.hpp",
                                       "io/save.hpp",
                                       "fft/lines.hpp",
                                       "lax/conv_product.hpp",
                                       "lax/cumulative.hpp",
                                       "lax/loop_draft.hpp",
                                       "lax/parts.hpp",
                                       "lax/recorded_branches.hpp",
                                       "lax/recorded_loops.hpp",
                                       "lax/recorded_products.hpp",
                                       "lax/recorded_while.hpp",
                                       "lax/windows.hpp",
                                       "linalg/lu.hpp",
                                       "linalg/matrices.hpp",
                                       "linalg/solve.hpp",
                                       "numpy/reductions/argmax.hpp",
                                       "numpy/views/copy.hpp",
                                       "numpy/reductions/cumulative.hpp",
                                       "nn/attention_call.hpp",
                                       "nn/int8_linear.hpp",
                                       "nn/linear_product.hpp",
                                       "nn/one_hot.hpp",
                                       "numpy/indexing/index_arrays.hpp",
                                       "numpy/indexing/index_items.hpp",
                                       "numpy/views/elements.hpp",
                                       "numpy/polynomials/roots.hpp",
                                       "numpy/sequences/convolve.hpp",
                                       "numpy/products/contract.hpp",
                                       "numpy/indexing/placement.hpp",
                                       "numpy/conversion/dlpack.hpp",
                                       "numpy/conversion/foreign.hpp",
                                       "numpy/conversion/print.hpp",
                                       "numpy/reductions/reduce.hpp",
                                       "numpy/reductions/rows.hpp",
                                       "numpy/indexing/select.hpp",
                                       "numpy/indexing/selection.hpp",
                                       "numpy/sorting/order.hpp",
                                       "numpy/sorting/quantile_lines.hpp",
                                       "numpy/sorting/search.hpp",
                                       "numpy/sorting/sort.hpp",
                                       "random/key.hpp",
                                       "random/parameters.hpp",
                                       "random/shuffle.hpp"};
  const auto include = std::filesystem::path(__FILE__).parent_path() / "../../include/nax";
  if (!std::filesystem::exists(include)) GTEST_SKIP() << "the headers lie elsewhere";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(include)) {
    std::string name = std::filesystem::relative(entry.path(), include).generic_string();
    if (name.ends_with("-inl.hpp")) name.erase(name.size() - 8, 4);  // the bodies of a header
    const std::string folder = name.substr(0, name.find('/'));
    if (entry.path().extension() != ".hpp" || known.count(name)) continue;
    // The layers below functions, and transforms themselves.
    if (std::set<std::string>{"core", "tape", "expr", "backend", "devices", "parallel", "program",
                              "transform"}
            .count(folder))
      continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    for (const char* call : {"raw_data(", "device_data("})
      EXPECT_EQ(text.str().find(call), std::string::npos) << name << " calls " << call << ")";
  }
}

}  // namespace elements_test
