#include "table/harness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>

#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/views/copy.hpp"
#include "support/golden.hpp"
#include "support/platform.hpp"
#include "table/checks.hpp"

namespace table {

Real array_of(const Dims& shape, const Numbers& numbers) {
  const ArrayBase a = nax::detail::allocate_on_host(nax::DType::float64, nax::Frame{shape, {}});
  std::copy(numbers.begin(), numbers.end(), nax::detail::elements<double>(a));
  return nax::detail::typed<double>(nax::detail::placed(a));
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

namespace {

std::string function_of(const Row& row) { return row.name.substr(0, row.name.find('.')); }

class RowsTest : public testing::Test {
 public:
  RowsTest(std::vector<std::shared_ptr<const Row>> rows, Where where)
      : rows_(std::move(rows)), where_(where) {}
  void TestBody() override {
    report();
    for (const auto& row : rows_) {
      SCOPED_TRACE(std::string(where_.file) + ':' + std::to_string(where_.line) + ": row " + row->name +
                   "; to run it again: ctest --preset tests -R 'table_test.Table." + function_of(*row) +
                   "$'");
      if (platform::is_cuda())
        check_on_device(*row);
      else
        EXPECT_NO_THROW(check(*row)) << row->name;
    }
  }

 private:
  // Properties for scripts/coverage.py: the checks that were made.
  void report() const {
    Smooth smooth = Smooth::no;
    std::vector<std::string> types = {"f64"};
    for (const auto& row : rows_) {
      smooth = std::max(smooth, row->smooth);
      for (const Typed& typed : row->typed)
        if (std::find(types.begin(), types.end(), typed.code) == types.end()) types.push_back(typed.code);
    }
    std::string text;
    for (const std::string& type : types) text += (text.empty() ? "" : " ") + type;
    RecordProperty("derivatives", static_cast<int>(smooth));
    RecordProperty("types", text);
  }
  // Rows without a form for the GPU throw a DeviceError, and host_only.txt lists them.
  static void check_on_device(const Row& row) {
    try {
      check(row);
      EXPECT_FALSE(is_host_only(row.name)) << row.name << " runs on the GPU: host_only.txt must not list it";
    } catch (const nax::DeviceError& error) {
      if (is_host_only(row.name)) GTEST_SKIP() << row.name << ": " << error.what();
      ADD_FAILURE() << row.name
                    << " has no form for the GPU, and host_only.txt does not list it: " << error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << row.name << ": " << error.what();
    }
  }
  std::vector<std::shared_ptr<const Row>> rows_;
  Where where_;
};

}  // namespace

void check(const Row& row) {
  check_records(row);
  Random random(row.name);
  for (std::size_t i = 0; i < row.cases.size(); ++i) {
    const Operands x = point(row.cases[i], random);
    std::string trace = "case " + std::to_string(i) + ":";
    Operands before;
    for (const Real& a : x) {
      before.push_back(array_of(a.shape(), a.to_vector()));
      trace.append(" ").append(nax::to_string(a.shape()));
    }
    SCOPED_TRACE(trace);
    if (row.smooth != Smooth::no) check_derivatives(row, x, random);
    check_vmap(row, row.cases[i], random);
    check_layouts(row, x, random);
    check_jit(row, x, point(row.cases[i], random), random);
    expect_close("operands as they were", x, before, 0);
  }
}

bool is_host_only(const std::string& row) {
  static const std::set<std::string> rows = [] {
    std::ifstream file(golden::folder() + "/../table/host_only.txt");
    EXPECT_TRUE(file.is_open()) << "tests/table/host_only.txt is missing";
    std::set<std::string> names;
    for (std::string line; std::getline(file, line);)
      if (!line.empty() && line[0] != '#') names.insert(line);
    return names;
  }();
  return rows.count(row) > 0;
}

bool add(std::vector<Row> rows, Where where) {
  std::vector<std::pair<std::string, std::vector<std::shared_ptr<const Row>>>> functions;
  for (Row& row : rows) {
    const std::string function = function_of(row);
    if (functions.empty() || functions.back().first != function) functions.push_back({function, {}});
    functions.back().second.push_back(std::make_shared<const Row>(std::move(row)));
  }
  for (const auto& [function, own] : functions) {
    const auto shared = own;
    testing::RegisterTest("Table", function.c_str(), nullptr, nullptr, where.file,
                          static_cast<int>(where.line),
                          [shared, where]() -> testing::Test* { return new RowsTest(shared, where); });
  }
  return true;
}

}  // namespace table
