#include "cuda/ptx/kernels/on_card.hpp"
#include "nax/devices/cuda/draws/draw_kernels.hpp"
#include "nax/devices/cuda/places/transpose_tiles.hpp"
#include "nax/devices/cuda/rows/row_kernels.hpp"
#include "nax/devices/cuda/scan/scan_kernels.hpp"

// Functions of rows and transposes as device code: teams of a part of a warp, a warp and a block.
namespace row_kernels_test {

using nax::cuda::RowOperands;
using on_card::Array, on_card::scrambled;
using Floats = std::vector<float>;

class RowKernels : public on_card::Kernels {
 protected:
  static Floats numbers(int n, std::uint64_t first) {
    Floats x;
    for (int i = 0; i < n; ++i)
      x.push_back(static_cast<float>(scrambled(first + static_cast<std::uint64_t>(i)) % 2001) / 500.f - 2.f);
    return x;
  }
  template <class Body>
  void launch(const Body& body, std::int64_t n, int threads) {
    nax::cuda::run_teams<<<2, 256, 0, stream>>>(body, n, threads);
  }
  void expect_near(const Array<float>& actual, const std::vector<double>& expected) const {
    const Floats x = values(actual);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(static_cast<double>(x[i]), expected[i], 1e-4) << "element " << i;
  }

  // Layer norm's gradients of five rows in three runs of two.
  template <int per>
  void check_norm(int n) {
    SCOPED_TRACE(n);
    constexpr int rows = 5, run = 2, parts = 3;
    const Floats g = numbers(rows * n, 0), x = numbers(rows * n, 1000000), means = numbers(rows, 2),
                 inverse = numbers(rows, 9), scale = numbers(n, 5000);
    const Array<float> on_g(g, stream), on_x(x, stream), on_means(means, stream), on_inverse(inverse, stream),
        on_scale(scale, stream), to(g.size()), scales(static_cast<std::size_t>(parts * n)),
        biases(scales.size());
    nax::cuda::NormGradient<float, true, per> body{rows,
                                                   n,
                                                   run,
                                                   on_g.data(),
                                                   on_x.data(),
                                                   on_means.data(),
                                                   on_inverse.data(),
                                                   on_scale.data(),
                                                   to.data(),
                                                   scales.data(),
                                                   biases.data()};
    const int threads = n <= 256 ? nax::cuda::row_threads(n, per) : 256;
    launch(body, parts, threads);
    std::vector<double> of_x(g.size()), of_scales(scales.size()), of_biases(scales.size());
    for (int r = 0; r < rows; ++r) {
      double sum = 0, along = 0;
      const auto y = [&](int i) { return (static_cast<double>(x[r * n + i]) - means[r]) * inverse[r]; };
      for (int i = 0; i < n; ++i) {
        const double a = g[r * n + i];
        of_scales[r / run * n + i] += a * y(i);
        of_biases[r / run * n + i] += a;
        sum += a * scale[i] / n;
        along += a * scale[i] * y(i) / n;
      }
      for (int i = 0; i < n; ++i)
        of_x[r * n + i] = inverse[r] * (static_cast<double>(g[r * n + i]) * scale[i] - sum - y(i) * along);
    }
    expect_near(to, of_x);
    expect_near(scales, of_scales);
    expect_near(biases, of_biases);
    body.adds_to = true;
    launch(body, parts, threads);
    std::vector<double> twice = of_x;
    for (double& a : twice) a *= 2;
    expect_near(to, twice);
    if (per == 4 && n > 256 && n <= 1024) {  // a warp a row
      body.scales = body.biases = nullptr, body.run = 1;
      body.adds_to = false;
      launch(nax::cuda::NormGradientOfRow<float, true, per>{body}, rows, 32);
      expect_near(to, of_x);
      body.adds_to = true;
      launch(nax::cuda::NormGradientOfRow<float, true, per>{body}, rows, 32);
      expect_near(to, twice);
    }
  }

  // A rule's rows, as a whole and in parts of 64 elements.
  template <class Rule>
  void launch_both(const RowOperands<float>& whole, const RowOperands<float>& joined, int rows, int per) {
    launch(nax::cuda::WholeRows<float, Rule>{whole}, rows, nax::cuda::row_threads(whole.length, per));
    launch_parts<Rule>(joined, rows);
  }
  template <class Rule>
  void launch_parts(const RowOperands<float>& joined, int rows) {
    const nax::cuda::RowCut cut{(joined.length + 63) / 64, 64};
    const Array<typename Rule::State> states(static_cast<std::size_t>(rows * cut.parts));
    launch(nax::cuda::StatesOfParts<float, Rule>{joined, cut, states.data()}, rows * cut.parts, 256);
    launch(nax::cuda::FinishParts<float, Rule>{joined, cut, states.data()},
           Rule::writes_numbers ? rows : rows * cut.parts, 256);
  }

  // Softmax and its kin in registers, with the bits of rows that are read several times.
  template <int per>
  void check_registers(const Floats& x, const Array<float>& on_x, int n) {
    if constexpr (per == 4) {
      const int rows = static_cast<int>(x.size()) / n, threads = nax::cuda::row_threads(n, per);
      const auto check = [&]<nax::loops::RowFunction what>() {
        using Rule = nax::cuda::SoftmaxRule<what, float, per>;
        const Array<float> once(x.size()), thrice(x.size());
        launch(nax::cuda::WholeRows<float, Rule>{{n, 0, {on_x.data()}, {thrice.data()}}}, rows, threads);
        const RowOperands<float> of{n, 0, {on_x.data()}, {once.data()}};
        if (n <= 8 * threads)
          launch(nax::cuda::RowsInRegisters<float, Rule, 1>{of}, rows, threads);
        else
          launch(nax::cuda::RowsInRegisters<float, Rule, 4>{of}, rows, threads);
        const Floats a = values(once), b = values(thrice);
        const int written = Rule::writes_numbers ? rows : rows * n;
        for (int i = 0; i < written; ++i) {
          const auto at = static_cast<std::size_t>(i);
          ASSERT_TRUE(a[at] == b[at] || (std::isnan(a[at]) && std::isnan(b[at]))) << "element " << i;
        }
      };
      using F = nax::loops::RowFunction;
      check.template operator()<F::softmax>();
      check.template operator()<F::log_softmax>();
      check.template operator()<F::logsumexp>();
    }
  }

  // Softmax, cross entropy and layer norm with its gradient, of three rows.
  template <int per>
  void check_rows(int n) {
    SCOPED_TRACE(n);
    using nax::loops::RowFunction;
    constexpr int rows = 3;
    const Floats x = numbers(rows * n, 0), labels = numbers(rows * n, 70000), scale = numbers(n, 5000),
                 bias = numbers(n, 6000);
    const Array<float> on_x(x, stream), on_labels(labels, stream), on_scale(scale, stream),
        on_bias(bias, stream), whole(x.size()), joined(x.size()), first(rows), second(rows), third(rows),
        fourth(rows);
    std::vector<double> y(x.size()), z(x.size()), entropy(rows), of_x(x.size()), of_scales(x.size()),
        of_biases(x.size());
    for (int row = 0; row < rows; ++row) {
      double sum = 0, mean = 0, squares = 0, along = 0, average = 0;
      const auto at = [&](int i) { return static_cast<double>(x[row * n + i]); };
      for (int i = 0; i < n; ++i) sum += y[row * n + i] = std::exp(at(i));
      for (int i = 0; i < n; ++i) entropy[row] += labels[row * n + i] * (std::log(sum) - at(i));
      for (int i = 0; i < n; ++i) y[row * n + i] /= sum, mean += at(i) / n;
      for (int i = 0; i < n; ++i) squares += (at(i) - mean) * (at(i) - mean) / n;
      const double inverse = 1 / std::sqrt(squares + 1e-5);
      for (int i = 0; i < n; ++i) {
        const double normal = (at(i) - mean) * inverse, g = labels[row * n + i];
        z[row * n + i] = normal * scale[i] + bias[i];
        of_scales[row * n + i] = g * normal, of_biases[row * n + i] = g;
        average += g * scale[i] / n, along += g * scale[i] * normal / n;
      }
      for (int i = 0; i < n; ++i)
        of_x[row * n + i] = inverse * (static_cast<double>(labels[row * n + i]) * scale[i] - average -
                                       (at(i) - mean) * inverse * along);
    }
    const auto expect_both = [&](const std::vector<double>& expected) {
      expect_near(whole, expected);
      expect_near(joined, expected);
    };
    launch_both<nax::cuda::SoftmaxRule<RowFunction::softmax, float, per>>(
        {n, 0, {on_x.data()}, {whole.data()}}, {n, 0, {on_x.data()}, {joined.data()}}, rows, per);
    expect_both(y);
    check_registers<per>(x, on_x, n);
    launch_both<nax::cuda::CrossEntropyRule<float, per>>(
        {n, 0, {on_x.data(), on_labels.data()}, {whole.data(), first.data(), second.data()}},
        {n, 0, {on_x.data(), on_labels.data()}, {joined.data(), third.data(), fourth.data()}}, rows, per);
    expect_both(entropy);
    EXPECT_EQ(values(first), values(third));
    launch_both<nax::cuda::MomentsRule<RowFunction::standardize, float, per>>(
        {n,
         1e-5f,
         {on_x.data(), on_scale.data(), on_bias.data()},
         {whole.data(), first.data(), second.data()}},
        {n,
         1e-5f,
         {on_x.data(), on_scale.data(), on_bias.data()},
         {joined.data(), third.data(), fourth.data()}},
        rows, per);
    expect_both(z);
    const Array<float> scales(x.size()), biases(x.size());
    launch_parts<nax::cuda::NormGradientRule<float, true, per>>(
        {n,
         0,
         {on_labels.data(), on_x.data(), third.data(), fourth.data(), on_scale.data()},
         {joined.data(), scales.data(), biases.data()}},
        rows);
    expect_near(joined, of_x);
    expect_near(scales, of_scales);
    expect_near(biases, of_biases);
  }

  // Rows of bfloat16, pieces of eight, computed in float: softmax, layer norm and its gradient.
  void check_bfloat16(int n) {
    SCOPED_TRACE(n);
    using B = nax::bfloat16;
    using nax::loops::RowFunction;
    constexpr int rows = 3, per = 8;
    const auto narrow = [](const Floats& wide) {
      std::vector<B> x;
      for (const float a : wide) x.push_back(static_cast<B>(a));
      return x;
    };
    const std::vector<B> x = narrow(numbers(rows * n, 0)), g = narrow(numbers(rows * n, 70000)),
                         scale = narrow(numbers(n, 5000));
    const Array<B> on_x(x, stream), on_g(g, stream), on_scale(scale, stream), shares(x.size()), y(x.size()),
        of_x(x.size());
    const Array<float> means(rows), inverse(rows), scales(static_cast<std::size_t>(n)),
        biases(static_cast<std::size_t>(n));
    const int threads = nax::cuda::row_threads(n, per);
    const RowOperands<B> softmax{n, 0, {on_x.data()}, {shares.data()}};
    using Softmax = nax::cuda::SoftmaxRule<RowFunction::softmax, B, per>;
    if (n <= 32 * threads)
      launch(nax::cuda::RowsInRegisters<B, Softmax, 4>{softmax}, rows, threads);
    else
      launch(nax::cuda::WholeRows<B, Softmax>{softmax}, rows, threads);
    using Moments = nax::cuda::MomentsRule<RowFunction::standardize, B, per>;
    launch(nax::cuda::WholeRows<B, Moments>{{n,
                                             1e-5f,
                                             {on_x.data(), on_scale.data(), on_scale.data()},
                                             {y.data(), reinterpret_cast<B*>(means.data()),
                                              reinterpret_cast<B*>(inverse.data())}}},
           rows, threads);
    launch(nax::cuda::NormGradient<B, true, per>{rows, n, rows, on_g.data(), on_x.data(), means.data(),
                                                 inverse.data(), on_scale.data(), of_x.data(), scales.data(),
                                                 biases.data()},
           1, n <= 256 ? threads : 256);
    std::vector<double> of_scales(scales.size()), of_biases(scales.size());
    const auto expect_rounded = [&](const Array<B>& actual, std::size_t at, double expected) {
      ASSERT_NEAR(static_cast<double>(static_cast<float>(values(actual)[at])), expected,
                  std::abs(expected) / 256 + 1e-6);
    };
    for (int row = 0; row < rows; ++row) {
      const auto of = [&](const std::vector<B>& v, int i) {
        return static_cast<double>(static_cast<float>(v[static_cast<std::size_t>(i)]));
      };
      double total = 0, mean = 0, squares = 0, along = 0, average = 0;
      for (int i = 0; i < n; ++i) total += std::exp(of(x, row * n + i)), mean += of(x, row * n + i) / n;
      for (int i = 0; i < n; ++i) squares += std::pow(of(x, row * n + i) - mean, 2) / n;
      const double factor = 1 / std::sqrt(squares + 1e-5);
      for (int i = 0; i < n; ++i) {
        const double normal = (of(x, row * n + i) - mean) * factor, a = of(g, row * n + i);
        of_scales[static_cast<std::size_t>(i)] += a * normal, of_biases[static_cast<std::size_t>(i)] += a;
        average += a * of(scale, i) / n, along += a * of(scale, i) * normal / n;
      }
      for (const int i : {0, 1, n / 2, n - 1}) {
        const auto at = static_cast<std::size_t>(row * n + i);
        const double normal = (of(x, row * n + i) - mean) * factor;
        expect_rounded(shares, at, std::exp(of(x, row * n + i)) / total);
        expect_rounded(y, at, normal * of(scale, i) + of(scale, i));
        expect_rounded(of_x, at, factor * (of(g, row * n + i) * of(scale, i) - average - normal * along));
      }
    }
    expect_near(scales, of_scales);
    expect_near(biases, of_biases);
  }

  // Running sums of two lines, in chunks of 4096.
  template <class T>
  void check_scan(int n, bool reverse) {
    SCOPED_TRACE(n);
    using Items = nax::cuda::RunningRow<T>;
    using State = typename Items::State;
    constexpr int lines = 2, chunk = 4096;
    const int chunks = (n + chunk - 1) / chunk;
    std::vector<T> x;
    for (const float a : numbers(lines * n, 0)) x.push_back(static_cast<T>(a));
    const Array<T> on_x(x, stream), to(x.size());
    nax::loops::Lines of;
    of.outer = lines, of.n = n, of.inner = 1;
    const Items items(of, reverse, reinterpret_cast<const char*>(on_x.data()),
                      reinterpret_cast<char*>(to.data()));
    const Array<State> sums(static_cast<std::size_t>(lines * chunks));
    const auto run = [&](State* parts, bool joins) {
      const nax::cuda::PiecesOfRows<Items> chunks_of{items, n, chunk, nax::cuda::AnyDivisor(chunks), parts};
      if (joins)
        launch(nax::cuda::SumsOfPieces<Items>{chunks_of}, lines * chunks, 256);
      else
        launch(nax::cuda::ScanPieces<Items>{chunks_of}, lines * chunks, 256);
    };
    run(sums.data(), true);
    std::vector<State> ends = values(sums);
    for (int i = 0; i < lines * chunks; ++i)
      if (i % chunks > 0) ends[static_cast<std::size_t>(i)] += ends[static_cast<std::size_t>(i - 1)];
    const Array<State> on_ends(ends, stream);
    run(on_ends.data(), false);
    const std::vector<T> y = values(to);
    for (int line = 0; line < lines; ++line) {
      double sum = 0;
      for (int i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(line * n + (reverse ? n - 1 - i : i));
        sum += static_cast<double>(static_cast<float>(x[at]));
        ASSERT_NEAR(static_cast<double>(static_cast<float>(y[at])), sum,
                    (sizeof(T) == 2 ? 1e-2 : 1e-5) * (1 + std::abs(sum)))
            << at;
      }
    }
  }
  // Running sums of columns of (2, n, 37), in chunks of 20, with the bits of a loop over each.
  template <class T>
  void check_columns(int n, bool reverse) {
    SCOPED_TRACE(n);
    using Columns = nax::cuda::ScanColumns<T>;
    using State = typename Columns::State;
    constexpr int inner = 37, lines = 2 * inner, chunk = 20;
    const int chunks = (n + chunk - 1) / chunk;
    std::vector<T> x, y(static_cast<std::size_t>(lines * n));
    for (const float a : numbers(lines * n, 0)) x.push_back(static_cast<T>(a));
    std::vector<State> ends(static_cast<std::size_t>(lines * chunks));
    for (int line = 0; line < lines; ++line) {
      State before = 0;
      for (int c = 0; c < chunks; ++c) {
        State sum = 0, running = before;
        for (int i = c * chunk; i < n && i < (c + 1) * chunk; ++i) {
          const auto at =
              static_cast<std::size_t>((line / inner * n + (reverse ? n - 1 - i : i)) * inner + line % inner);
          const State now = static_cast<State>(static_cast<nax::cuda::wide_t<T>>(x[at]));
          sum += now, running += now;
          y[at] = static_cast<T>(static_cast<nax::cuda::wide_t<T>>(running));
        }
        ends[static_cast<std::size_t>(line * chunks + c)] = before += sum;
      }
    }
    const Array<T> on_x(x, stream), to(x.size());
    const Array<State> parts(ends.size()), on_ends(ends, stream);
    Columns body{on_x.data(),
                 to.data(),
                 nax::cuda::AnyDivisor(lines),
                 nax::cuda::AnyDivisor(inner),
                 n,
                 chunk,
                 chunks,
                 parts.data(),
                 reverse,
                 true};
    nax::cuda::run<<<2, 256, 0, stream>>>(body, lines * chunks);
    std::vector<State> sums = values(parts);
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (i % static_cast<std::size_t>(chunks) > 0) sums[i] += sums[i - 1];
    EXPECT_EQ(sums, ends);
    body.parts = on_ends.data(), body.joins = false;
    nax::cuda::run<<<2, 256, 0, stream>>>(body, lines * chunks);
    EXPECT_EQ(values(to), y);
  }
  // Draws of one key, bit for bit.
  template <class T, class Function>
  void check_draw(int size, const Function& function) {
    using Body = nax::cuda::DrawElements<T, Function>;
    std::vector<T> expected(static_cast<std::size_t>(size));
    Body body{{nullptr, 77}, nax::cuda::AnyDivisor(size), size, function, expected.data()};
    const std::int64_t n = (size + Body::per - 1) / Body::per;
    for (std::int64_t i = 0; i < n; ++i) body(i);
    const Array<T> to(expected.size());
    body.out = to.data();
    nax::cuda::run<<<2, 256, 0, stream>>>(body, n);
    EXPECT_EQ(values(to), expected);
  }

  template <int bytes, class T>
  void check_transpose(int rows, int columns, bool in_pieces) {
    using Body = nax::cuda::TransposeTiles<bytes>;
    std::vector<T> x, y;
    for (int i = 0; i < rows * columns; ++i)
      x.push_back(static_cast<T>(scrambled(static_cast<std::uint64_t>(i))));
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r) y.push_back(x[static_cast<std::size_t>(r * columns + c)]);
    const Array<T> from(x, stream), to(x.size());
    Body body;
    body.others.rank = 0;
    body.others.data[0] = reinterpret_cast<char*>(from.data());
    body.others.data[1] = reinterpret_cast<char*>(to.data());
    const std::int64_t down = (columns + Body::side - 1) / Body::side,
                       right = (rows + Body::side - 1) / Body::side;
    body.down = {columns, std::int64_t{rows} * bytes, nax::cuda::AnyDivisor(down), in_pieces};
    body.right = {rows, std::int64_t{columns} * bytes, nax::cuda::AnyDivisor(right), in_pieces};
    nax::cuda::run_blocks<<<2, 256, Body::shared_bytes, stream>>>(body, down * right);
    EXPECT_EQ(values(to), y);
  }
};

TEST_F(RowKernels, NormGradientsAreThePlainLoops) {
  for (const int n : {4, 96, 256, 260, 600, 1024, 2048, 2052}) check_norm<4>(n);
  for (const int n : {3, 31, 300, 2100}) check_norm<1>(n);
}
TEST_F(RowKernels, WholeAndInPartsAreThePlainLoops) {
  for (const int n : {4, 100, 1200}) check_rows<4>(n);
  for (const int n : {5, 101, 1201}) check_rows<1>(n);
}
TEST_F(RowKernels, Bfloat16IsComputedInFloat) {
  for (const int n : {8, 64, 264, 1024, 2056}) check_bfloat16(n);
}
TEST_F(RowKernels, InRegistersHaveTheBitsOfThoseThatAreReadAgain) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const int n : {8, 36, 260, 1000, 1024, 1028, 2052, 8192}) {
    SCOPED_TRACE(n);
    Floats x = numbers(6 * n, 0);
    x[0] = nan, x[static_cast<std::size_t>(2 * n - 1)] = inf;
    for (int i = 2 * n; i < 3 * n; ++i) x[static_cast<std::size_t>(i)] = -inf;
    for (int i = 3 * n; i < 4 * n - 3; ++i) x[static_cast<std::size_t>(i)] = -inf;
    for (int i = 4 * n; i < 5 * n; ++i) x[static_cast<std::size_t>(i)] *= 17;
    check_registers<4>(x, Array<float>(x, stream), n);
  }
}
TEST_F(RowKernels, RunningSumsAreThePlainLoops) {
  for (const bool reverse : {false, true}) {
    for (const int n : {12, 1400, 1403, 5120, 10000, 9999}) check_scan<float>(n, reverse);
    check_scan<double>(4196, reverse);
    check_scan<nax::half>(4104, reverse);
    for (const int n : {1, 7, 8, 50}) check_columns<float>(n, reverse);
    check_columns<std::int64_t>(50, reverse);
  }
}
TEST_F(RowKernels, DrawsAreTheHosts) {
  check_draw<float>(1002, nax::cuda::DrawUniform<float>{0.f, 1.f});
  check_draw<std::uint8_t>(1001, nax::cuda::DrawBits<std::uint8_t>());
  check_draw<std::uint64_t>(501, nax::cuda::DrawBits<std::uint64_t>());
}
TEST_F(RowKernels, TransposesAreThePlainLoops) {
  check_transpose<1, std::uint8_t>(80, 96, true);
  check_transpose<2, std::uint16_t>(72, 136, true);
  check_transpose<4, std::uint32_t>(68, 132, true);
  check_transpose<4, std::uint32_t>(67, 130, false);
  check_transpose<8, std::uint64_t>(34, 66, true);
}

}  // namespace row_kernels_test
