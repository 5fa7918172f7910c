#include "table/harness.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "nax/numpy/arithmetic.hpp"
#include "nax/numpy/array_methods.hpp"
#include "nax/numpy/copy.hpp"
#include "nax/numpy/sum.hpp"
#include "nax/numpy/trigonometric.hpp"
#include "nax/transform/custom.hpp"
#include "nax/transform/jacobian.hpp"
#include "support/golden.hpp"

namespace table {
namespace {

using nax::Dims;
using Numbers = std::vector<double>;

// --- numbers ---

// Splitmix64: the same points for a row on every machine.
class Random {
 public:
  explicit Random(const std::string& seed) {
    for (const char c : seed) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

Real array_of(const Dims& shape, const Numbers& numbers) {
  Real a(nax::detail::allocate(nax::DType::float64, nax::Frame{shape, {}}));
  std::copy(numbers.begin(), numbers.end(), nax::detail::elements<double>(a));
  return a;
}
Real array_of(const Operand& operand, Random& random) {
  const auto n = static_cast<std::size_t>(nax::Shape(operand.shape).count());
  Numbers numbers(n);
  const double width = operand.high - operand.low;
  for (std::size_t i = 0; i < n; ++i) {
    if (operand.whole) {
      const double k = operand.low + static_cast<double>(random.below(static_cast<std::size_t>(width) + 1));
      numbers[i] = k < 0 ? k - 0.25 : k + 0.25;
    } else {  // one number a cell, near its middle
      numbers[i] = operand.low +
                   width * (static_cast<double>(i) + 0.25 + random.uniform() / 2) / static_cast<double>(n);
    }
  }
  if (!operand.whole)
    for (std::size_t i = n; i > 1; --i) std::swap(numbers[i - 1], numbers[random.below(i)]);
  return array_of(Dims(operand.shape), numbers);
}
Operands point(const std::vector<Operand>& operands, Random& random) {
  Operands x;
  for (const Operand& operand : operands) x.push_back(array_of(operand, random));
  return x;
}
Operands like(const Operands& x, Random& random) {
  Operands y;
  for (const Real& a : x) y.push_back(array_of(Operand{a.shape(), -1, 1}, random));
  return y;
}

void expect_close(const char* what, const Real& got, const Real& want, double tolerance) {
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(want.shape())) << what;
  const Numbers a = got.to_vector(), b = want.to_vector();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i]))) continue;
    ADD_FAILURE() << what << ": element " << i << " is " << a[i] << ", not " << b[i];
    return;
  }
}
void expect_close(const char* what, const Operands& got, const Operands& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE("operand " + std::to_string(i));
    expect_close(what, got[i], want[i], tolerance);
  }
}
constexpr double kExact = 1e-11;

// --- derivatives; every transform is instantiated for one type of function ---

using Scalar = std::function<Real(const Operands&)>;
using Vectors = std::function<Operands(const Operands&)>;

Operands gradient_of(const Scalar& f, const Operands& x) { return nax::grad(f)(x); }
Operands gradient(const Function& f, const Operands& x, const Real& w) {
  return gradient_of([&](const Operands& a) { return Real(nax::sum(f(a) * w)); }, x);
}
Real forward(const Function& f, const Operands& x, const Operands& t) {
  return nax::jvp(f, std::tuple{x}, std::tuple{t}).second;
}
Operands forward(const Vectors& f, const Operands& x, const Operands& t) {
  return nax::jvp(f, std::tuple{x}, std::tuple{t}).second;
}
Real mapped(const Function& f, const Operands& x, const std::vector<nax::Axes>& axes, int out) {
  return nax::vmap(f, {.in_axes = nax::InAxes(nax::AxesMaker::list(axes)), .out_axes = out})(x);
}
Operands mapped(const Vectors& f, const Operands& x, const std::vector<nax::Axes>& axes) {
  return nax::vmap(f, {.in_axes = nax::InAxes(nax::AxesMaker::list(axes))})(x);
}
Real product(const Operands& a, const Operands& b) {
  Real total(0.0);
  for (std::size_t i = 0; i < a.size(); ++i) total = total + nax::sum(a[i] * b[i]);
  return total;
}
// The derivative of <gradient, v>.
Operands second(const Function& f, const Operands& x, const Real& w, const Operands& v) {
  return forward([&](const Operands& a) { return gradient(f, a, w); }, x, v);
}

Operands differences(const std::function<double(const Operands&)>& f, const Operands& x) {
  constexpr double h = 1e-5;
  Operands out;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Numbers at = x[k].to_vector();
    Numbers slope(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto moved = [&](double by) {
        Numbers numbers = at;
        numbers[i] += by;
        Operands y = x;
        y[k] = array_of(x[k].shape(), numbers);
        return f(y);
      };
      slope[i] = (moved(h) - moved(-h)) / (2 * h);
    }
    out.push_back(array_of(x[k].shape(), slope));
  }
  return out;
}

void check_derivatives(const Row& row, const Operands& x, Random& random) {
  const Function& f = row.f;
  const Real y = f(x);
  const Real w = array_of(Operand{y.shape(), -1, 1}, random);
  const Operands v = like(x, random);

  const Operands g = gradient(f, x, w);
  const auto value = [&](const Operands& a) { return nax::sum(f(a) * w).item(); };
  expect_close("gradient against differences", g, differences(value, x), row.difference);
  expect_close("jvp against vjp", nax::sum(forward(f, x, v) * w), product(g, v), kExact);
  if (row.smooth != Smooth::twice) return;

  const Operands hv = second(f, x, w, v);
  const auto slope = [&](const Operands& a) { return product(gradient(f, a, w), v).item(); };
  expect_close("second derivative against differences", hv, differences(slope, x), row.difference * 10);
  const Scalar along = [&](const Operands& a) { return product(gradient(f, a, w), v); };
  expect_close("grad of grad against jvp of grad", gradient_of(along, x), hv, kExact * 10);
  const Scalar pushed = [&](const Operands& a) { return Real(nax::sum(forward(f, a, v) * w)); };
  expect_close("grad of jvp against jvp of grad", gradient_of(pushed, x), hv, kExact * 10);

  // The hessian of the first operand: vmap of jvp of vjp.
  if (x[0].size() == 0 || x[0].size() > 12) return;
  const std::function<Real(const Real&)> first = [&](const Real& a) {
    Operands all = x;
    all[0] = a;
    return Real(nax::sum(f(all) * w));
  };
  Operands only = x;
  for (std::size_t i = 0; i < x.size(); ++i) only[i] = i == 0 ? v[0] : Real(v[i] * 0.0);
  const Real h = nax::hessian(first)(x[0]).reshape({x[0].size(), x[0].size()});
  expect_close("hessian", Real(nax::sum(h * v[0].reshape({1, x[0].size()}), {.axis = 1})),
               second(f, x, w, only)[0].reshape({x[0].size()}), kExact * 10);
}

// --- vmap ---

constexpr int kBatch = 3;

// Equal shapes stacked along a new axis, row-major.
Real stacked(const std::vector<Real>& parts, int axis) {
  Dims shape = parts[0].shape();
  std::int64_t inner = 1;
  for (int i = axis; i < parts[0].ndim(); ++i) inner *= parts[0].shape(i);
  const std::int64_t outer = inner == 0 ? 0 : parts[0].size() / inner,
                     n = static_cast<std::int64_t>(parts.size());
  shape.insert(static_cast<std::size_t>(axis), n);
  Real out(nax::detail::allocate(nax::DType::float64, nax::Frame{shape, {}}));
  double* to = nax::detail::elements<double>(out);
  for (std::int64_t b = 0; b < n; ++b) {
    const Numbers from = parts[static_cast<std::size_t>(b)].to_vector();
    for (std::int64_t i = 0; i < outer; ++i)
      for (std::int64_t j = 0; j < inner; ++j)
        to[(i * n + b) * inner + j] = from[static_cast<std::size_t>(i * inner + j)];
  }
  return out;
}
int place(int axis, int ndim) { return axis < 0 ? ndim : axis > ndim ? 0 : axis; }

struct Batch {
  Operands x;                      // the mapped operands stacked
  std::vector<nax::Axes> axes;     // where
  std::vector<Operands> examples;  // what each call sees
};
Batch batched(const std::vector<Operands>& points, unsigned mask, int axis) {
  Batch batch;
  batch.examples = points;
  for (std::size_t k = 0; k < points[0].size(); ++k) {
    if (mask >> k & 1) {
      std::vector<Real> parts;
      for (const Operands& p : points) parts.push_back(p[k]);
      const int at = place(axis, points[0][k].ndim());
      batch.x.push_back(stacked(parts, at));
      batch.axes.push_back(axis < 0 ? nax::Axes(-1) : nax::Axes(at));
    } else {
      batch.x.push_back(points[0][k]);
      batch.axes.push_back(nax::none);
      for (Operands& example : batch.examples) example[k] = points[0][k];
    }
  }
  return batch;
}
Real looped(const Function& f, const std::vector<Operands>& examples, int axis) {
  std::vector<Real> rows;
  for (const Operands& x : examples) rows.push_back(f(x));
  return stacked(rows, place(axis, rows[0].ndim()));
}
std::vector<Operands> transposed(const std::vector<Operands>& rows) {
  std::vector<Operands> columns(rows[0].size());
  for (const Operands& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) columns[k].push_back(row[k]);
  return columns;
}

void check_batch(const Row& row, const Batch& batch, int axis, Random& random) {
  const Function& f = row.f;
  const Real want = looped(f, batch.examples, 0);
  expect_close("vmap against a loop", mapped(f, batch.x, batch.axes, 0), want, kExact);
  if (axis < 0)
    expect_close("out_axes -1", mapped(f, batch.x, batch.axes, -1), looped(f, batch.examples, -1), kExact);
  if (row.smooth == Smooth::no) return;

  std::vector<Real> w;
  const nax::Shape shape = f(batch.examples[0]).shape();
  for (int b = 0; b < kBatch; ++b) w.push_back(array_of(Operand{shape, -1, 1}, random));
  const Real ws = stacked(w, 0);
  std::vector<Operands> gradients;
  for (int b = 0; b < kBatch; ++b)
    gradients.push_back(
        gradient(f, batch.examples[static_cast<std::size_t>(b)], w[static_cast<std::size_t>(b)]));
  const std::vector<Operands> columns = transposed(gradients);

  Operands of_vmap;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const nax::Axes& at = batch.axes[k];
    const int ndim = columns[k][0].ndim();
    of_vmap.push_back(at.is_none() ? Real(nax::sum(stacked(columns[k], 0), {.axis = 0}))
                                   : stacked(columns[k], at.axis() < 0 ? ndim : at.axis()));
  }
  const Function all = [&](const Operands& x) { return mapped(f, x, batch.axes, 0); };
  expect_close("grad of vmap", gradient(all, batch.x, ws), of_vmap, kExact);

  // The cotangent is mapped, too, as one more operand; so is a tangent.
  Operands x = batch.x;
  std::vector<nax::Axes> axes = batch.axes;
  x.push_back(ws);
  axes.push_back(0);
  const auto own = [](const Operands& a, std::size_t n) {
    return Operands(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n));
  };
  const std::size_t n = batch.x.size();
  Operands rows;
  for (const Operands& column : columns) rows.push_back(stacked(column, 0));
  expect_close("vmap of grad",
               mapped([&](const Operands& a) { return gradient(f, own(a, n), a[n]); }, x, axes), rows,
               kExact);
  if (row.smooth != Smooth::twice || axis != 0) return;

  const Operands v = like(batch.examples[0], random);
  rows.clear();
  std::vector<Operands> seconds;
  for (int b = 0; b < kBatch; ++b)
    seconds.push_back(
        second(f, batch.examples[static_cast<std::size_t>(b)], w[static_cast<std::size_t>(b)], v));
  for (const Operands& column : transposed(seconds)) rows.push_back(stacked(column, 0));
  expect_close("vmap of the second derivative",
               mapped([&](const Operands& a) { return second(f, own(a, n), a[n], v); }, x, axes), rows,
               kExact * 10);
}

void check_vmap(const Row& row, const std::vector<Operand>& operands, Random& random) {
  std::vector<Operands> points;
  for (int b = 0; b < 2 * kBatch; ++b) points.push_back(point(operands, random));
  const std::vector<Operands> some(points.begin(), points.begin() + kBatch);
  for (unsigned mask = 1; mask < 1u << operands.size(); ++mask) {
    for (int axis : {0, 1, -1}) {
      SCOPED_TRACE("operands mapped (bits) " + std::to_string(mask) + ", axis " + std::to_string(axis));
      check_batch(row, batched(some, mask, axis), axis, random);
      if (testing::Test::HasFailure()) return;
    }
  }
  // Two levels: the outer one over the last axis.
  const unsigned every = (1u << operands.size()) - 1;
  const std::vector<Operands> others(points.begin() + kBatch, points.end());
  const Batch a = batched(some, every, 0), b = batched(others, every, 0);
  const Batch both = batched({a.x, b.x}, every, -1);
  const Function inner = [&](const Operands& x) { return mapped(row.f, x, a.axes, 0); };
  expect_close("vmap of vmap", mapped(inner, both.x, both.axes, 0),
               stacked({looped(row.f, some, 0), looped(row.f, others, 0)}, 0), kExact);
}

// --- layouts ---

enum class Lie { permuted, strided, reversed, repeated };

// The same values elsewhere; `repeated`: the first row for all, by a stride of 0.
Real relaid(const Real& x, Lie lie) {
  const nax::Layout own = nax::Layout::contiguous(nax::Frame{x.shape(), {}});
  const std::size_t n = own.shape.size();
  const Numbers numbers = x.to_vector();
  nax::Layout layout = own;
  std::int64_t offset = 0, size = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t axis = lie == Lie::permuted ? i : n - 1 - i;
    const std::int64_t extent = own.shape[axis];
    if (lie == Lie::permuted || lie == Lie::reversed) layout.strides[axis] = size;
    if (lie == Lie::strided) layout.strides[axis] = 2 * size;
    if (lie == Lie::reversed) {
      layout.strides[axis] = -size;
      offset += (extent - 1) * size;
    }
    size *= extent * (lie == Lie::strided ? 2 : 1);
  }
  if (x.size() == 0) return x;
  if (lie == Lie::repeated) {
    if (n > 0) layout.strides[0] = 0;
    return Real(nax::detail::view(array_of(own.shape, numbers), layout));
  }
  if (lie == Lie::strided) offset = n == 0 ? 0 : 1;
  Real buffer = array_of(Dims(1, size + 1), Numbers(static_cast<std::size_t>(size + 1), std::nan("")));
  double* to = nax::detail::elements<double>(buffer);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), at = offset;
    for (std::size_t axis = n; axis-- > 0; rest /= own.shape[axis])
      at += rest % own.shape[axis] * layout.strides[axis];
    to[at] = numbers[i];
  }
  return Real(nax::detail::view(buffer, layout, offset));
}

void check_layouts(const Row& row, const Operands& x, Random& random) {
  for (const Lie lie : {Lie::permuted, Lie::strided, Lie::reversed, Lie::repeated}) {
    SCOPED_TRACE("layout " + std::to_string(static_cast<int>(lie)));
    Operands views, rows;
    for (const Real& a : x) {
      views.push_back(relaid(a, lie));
      rows.push_back(array_of(a.shape(), views.back().to_vector()));
      if (lie == Lie::repeated) continue;
      ASSERT_EQ(rows.back().to_vector(), a.to_vector());
    }
    const Real y = row.f(rows);
    expect_close("value", row.f(views), y, kExact);
    if (row.smooth == Smooth::no || lie == Lie::repeated) continue;  // repeated elements may tie
    const Real w = relaid(array_of(Operand{y.shape(), -1, 1}, random), lie);
    expect_close("gradient", gradient(row.f, views, w), gradient(row.f, rows, w), kExact);
  }
}

// --- golden records ---

// The distance from 1 to the next number of a type; 0 for integers.
double unit_of(const std::string& code) {
  return code == "f64" || code == "c128"  ? 2.3e-16
         : code == "f32" || code == "c64" ? 1.2e-7
         : code == "f16"                  ? 9.8e-4
         : code == "bf16"                 ? 7.9e-3
                                          : 0;
}

template <class T>
ArrayBase filled(const golden::Golden& g) {
  ArrayBase a = nax::detail::allocate(nax::dtype_of<T>, nax::Frame{Dims(g.shape.begin(), g.shape.end()), {}});
  T* to = nax::detail::elements<T>(a);
  for (std::int64_t i = 0, n = nax::detail::layout_of(a).size(); i < n; ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    if constexpr (nax::is_complex_v<T>)
      to[i] =
          T(static_cast<nax::real_t<T>>(g.values[2 * k]), static_cast<nax::real_t<T>>(g.values[2 * k + 1]));
    else
      to[i] = static_cast<T>(g.values[k]);
  }
  return a;
}
template <class T>
Numbers numbers(const ArrayBase& x) {
  Numbers out;
  for (const T value : Array<T>(x).to_vector()) {
    if constexpr (nax::is_complex_v<T>) {
      out.push_back(static_cast<double>(value.real()));
      out.push_back(static_cast<double>(value.imag()));
    } else {
      out.push_back(static_cast<double>(value));
    }
  }
  return out;
}
// One entry an element type, in the order of DType.
struct Element {
  const char* code;
  ArrayBase (*filled)(const golden::Golden&);
  Numbers (*numbers)(const ArrayBase&);
};
template <class... T>
const std::vector<Element>& elements(Types<T...>) {
  static const std::vector<Element> all{{code<T>(), filled<T>, numbers<T>}...};
  return all;
}
const std::vector<Element>& elements() {
  return elements(Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                        std::uint16_t, std::uint32_t, std::uint64_t, nax::half, nax::bfloat16, float, double,
                        std::complex<float>, std::complex<double>>{});
}
const Element& element_of(nax::DType dtype) { return elements()[static_cast<std::size_t>(dtype)]; }

bool close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= tolerance * (std::abs(b) + 0.25);
}
void check_record(const Row& row, const std::string& record, const ArrayBase& got, bool same_type) {
  const golden::Golden& want = golden::get("ops", record + "/out");
  ASSERT_EQ(nax::to_string(got.shape()), nax::to_string(Dims(want.shape.begin(), want.shape.end())))
      << record;
  if (same_type) {
    EXPECT_STREQ(element_of(got.dtype()).code, want.dtype.c_str()) << record;
  }
  const Numbers values = element_of(got.dtype()).numbers(got);
  ASSERT_EQ(values.size(), want.values.size()) << record;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!close(values[i], want.values[i], row.ulps * unit_of(want.dtype))) {
      ADD_FAILURE() << record << ": element " << i << " is " << values[i] << ", not " << want.values[i];
      return;
    }
}
void check_records(const Row& row) {
  const auto& all = golden::goldens("ops");
  const auto inputs = [&](const std::string& record) {
    Handles in;
    for (int i = 0; all.count(record + "/in" + std::to_string(i)); ++i) {
      const golden::Golden& g = golden::get("ops", record + "/in" + std::to_string(i));
      for (const Element& element : elements())
        if (g.dtype == element.code) in.push_back(element.filled(g));
    }
    return in;
  };
  std::vector<bool> met(row.typed.size(), false);
  bool any = row.records.empty();
  for (const std::string& name : row.records) {
    if (const std::string record = name + "/f64"; row.f && all.count(record + "/out")) {
      any = true;
      Operands in;
      for (const ArrayBase& x : inputs(record)) in.push_back(doubles(x));
      check_record(row, record, row.f(in), false);
    }
    for (std::size_t i = 0; i < row.typed.size(); ++i) {
      const std::string record = name + "/" + row.typed[i].code;
      if (!all.count(record + "/out")) continue;
      any = met[i] = true;
      check_record(row, record, row.typed[i].f(inputs(record)), true);
    }
  }
  EXPECT_TRUE(any) << "no record of " << row.records[0];
  for (std::size_t i = 0; i < met.size(); ++i) EXPECT_TRUE(met[i]) << "no record in " << row.typed[i].code;
}

class RowsTest : public testing::Test {
 public:
  explicit RowsTest(std::vector<std::shared_ptr<const Row>> rows) : rows_(std::move(rows)) {}
  void TestBody() override {
    for (const auto& row : rows_) {
      SCOPED_TRACE(row->name);
      EXPECT_NO_THROW(check(*row)) << row->name;
    }
  }

 private:
  std::vector<std::shared_ptr<const Row>> rows_;
};

}  // namespace

Real doubles(const ArrayBase& x) {
  if (x.dtype() == nax::DType::float64) return Real(x);
  switch (x.dtype()) {
    case nax::DType::boolean:
      return Array<bool>(x).astype<double>();
    case nax::DType::int32:
      return Array<std::int32_t>(x).astype<double>();
    case nax::DType::int64:
      return Array<std::int64_t>(x).astype<double>();
    case nax::DType::uint8:
      return Array<std::uint8_t>(x).astype<double>();
    case nax::DType::float32:
      return Array<float>(x).astype<double>();
    default:
      throw nax::TypeError("table: results of this type have no double");
  }
}

void check(const Row& row) {
  check_records(row);
  Random random(row.name);
  for (std::size_t i = 0; i < row.cases.size(); ++i) {
    const Operands x = point(row.cases[i], random);
    std::string trace = "case " + std::to_string(i) + ":";
    Operands before;
    for (const Real& a : x) {
      before.push_back(array_of(a.shape(), a.to_vector()));
      trace += " " + nax::to_string(a.shape());
    }
    SCOPED_TRACE(trace);
    if (row.smooth != Smooth::no) check_derivatives(row, x, random);
    check_vmap(row, row.cases[i], random);
    check_layouts(row, x, random);
    expect_close("operands as they were", x, before, 0);
  }
}

bool add(std::vector<Row> rows) {
  std::vector<std::pair<std::string, std::vector<std::shared_ptr<const Row>>>> functions;
  for (Row& row : rows) {
    const std::string function = row.name.substr(0, row.name.find('.'));
    if (functions.empty() || functions.back().first != function) functions.push_back({function, {}});
    functions.back().second.push_back(std::make_shared<const Row>(std::move(row)));
  }
  for (const auto& [function, own] : functions) {
    const auto shared = own;
    testing::RegisterTest("Table", function.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [shared]() -> testing::Test* { return new RowsTest(shared); });
  }
  return true;
}

}  // namespace table

// The checks find what is wrong.
namespace {

std::string failures_of(const table::Row& row) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    table::check(row);
  }
  std::string text;
  for (int i = 0; i < results.size(); ++i) text += results.GetTestPartResult(i).message();
  return text;
}

TEST(Harness, FindsWrongDerivatives) {
  const auto slope = [](double factor) {
    return nax::custom_vjp([](const table::Real& x) { return table::Real(x * x); },
                           [](const table::Real& x) {
                             return std::pair{table::Real(x * x), x};
                           },
                           [factor](const table::Real& x, const table::Real& g) {
                             return std::tuple{table::Real(factor * x * g)};
                           });
  };
  const auto row = [&](double factor) {
    return table::unrecorded(table::row(
        "square", [f = slope(factor)](const table::Operands& x) { return f(x[0]); }, {{{{2, 3}}}}));
  };
  EXPECT_NE(failures_of(row(1.9)).find("gradient against differences"), std::string::npos);
}

TEST(Harness, FindsFunctionsThatOverlookStrides) {
  const auto f = [](const table::Operands& x) {
    const nax::Layout own = nax::Layout::contiguous(nax::detail::layout_of(x[0]));
    return table::Real(nax::detail::view(x[0], own)) * 1.0;
  };
  const table::Row row = table::unrecorded(table::row("overlooks", f, {{{{2, 3}}}}, table::Smooth::no));
  const std::string found = failures_of(row);
  EXPECT_NE(found.find("vmap against a loop"), std::string::npos) << found;
}

TEST(Harness, FindsNamesOfRecordsThatAreNot) {
  const table::Row row = table::row("sine", [](const table::Operands& x) { return nax::sin(x[0]); }, {});
  EXPECT_NE(failures_of(row).find("no record of sine"), std::string::npos);
}

}  // namespace
