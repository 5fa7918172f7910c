#include <gtest/gtest.h>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/views/copy.hpp"
#include "support/golden.hpp"
#include "support/platform.hpp"
#include "table/checks.hpp"

namespace table {
namespace {

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
  const ArrayBase a =
      nax::detail::allocate_on_host(nax::dtype_of<T>, nax::Frame{Dims(g.shape.begin(), g.shape.end()), {}});
  T* to = nax::detail::elements<T>(a);
  for (std::int64_t i = 0, n = nax::detail::layout_of(a).size(); i < n; ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    if constexpr (nax::is_complex_v<T>)
      to[i] =
          T(static_cast<nax::real_t<T>>(g.values[2 * k]), static_cast<nax::real_t<T>>(g.values[2 * k + 1]));
    else
      to[i] = static_cast<T>(g.values[k]);
  }
  return nax::detail::placed(a);
}
template <class T>
Numbers numbers(const ArrayBase& x) {
  Numbers out;
  for (const T value : nax::detail::typed<T>(x).to_vector()) {
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
  const golden::Golden& want = golden::get(row.suite, record + "/out");
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

}  // namespace

void check_records(const Row& row) {
  const auto& all = golden::goldens(row.suite);
  const auto inputs = [&](const std::string& record) {
    Handles in;
    for (int i = 0; all.count(record + "/in" + std::to_string(i)); ++i) {
      const golden::Golden& g = golden::get(row.suite, record + "/in" + std::to_string(i));
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

Real doubles(const ArrayBase& x) {
  if (x.dtype() == nax::DType::float64) return nax::detail::typed<double>(x);
  switch (x.dtype()) {
    case nax::DType::boolean:
      return nax::detail::typed<bool>(x).astype<double>();
    case nax::DType::int32:
      return nax::detail::typed<std::int32_t>(x).astype<double>();
    case nax::DType::int64:
      return nax::detail::typed<std::int64_t>(x).astype<double>();
    case nax::DType::uint8:
      return nax::detail::typed<std::uint8_t>(x).astype<double>();
    case nax::DType::float32:
      return nax::detail::typed<float>(x).astype<double>();
    default:
      throw nax::TypeError("table: results of this type have no double");
  }
}

}  // namespace table
