#include "cuda/ptx/kernels/on_card.hpp"
#include "nax/backend/cuda/row_kernels.hpp"
#include "nax/backend/cuda/transpose_tiles.hpp"

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
    launch(nax::cuda::NormGradient<float, true, per>{rows, n, run, on_g.data(), on_x.data(), on_means.data(),
                                                     on_inverse.data(), on_scale.data(), to.data(),
                                                     scales.data(), biases.data()},
           parts, n <= 256 ? nax::cuda::row_threads(n, per) : 256);
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
  }

  // A softmax of three rows, as a whole and in parts.
  template <int per>
  void check_softmax(int n) {
    SCOPED_TRACE(n);
    using nax::loops::RowFunction;
    constexpr int rows = 3;
    const Floats x = numbers(rows * n, 0);
    const Array<float> on_x(x, stream), whole(x.size()), joined(x.size());
    RowOperands<float> r{n, 0, {on_x.data()}, {whole.data()}};
    launch(nax::cuda::RowsBody<float, RowFunction::softmax, per>{r}, rows, nax::cuda::row_threads(n, per));
    r.to[0] = joined.data();
    const std::int64_t run = 64, parts = (n + run - 1) / run;
    const Array<nax::cuda::SoftmaxState<float>> states(static_cast<std::size_t>(rows * parts));
    const nax::cuda::SoftmaxParts<float, per> body{r, parts, run, states.data()};
    launch(body, rows * parts, 256);
    launch(nax::cuda::SoftmaxOfParts<float, RowFunction::softmax, per>{body}, rows * parts, 256);
    std::vector<double> y(x.size());
    for (int row = 0; row < rows; ++row) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += y[row * n + i] = std::exp(static_cast<double>(x[row * n + i]));
      for (int i = 0; i < n; ++i) y[row * n + i] /= sum;
    }
    expect_near(whole, y);
    expect_near(joined, y);
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
  for (const int n : {4, 96, 256, 600, 2048, 2052}) check_norm<4>(n);
  for (const int n : {3, 31, 300, 2100}) check_norm<1>(n);
}
TEST_F(RowKernels, SoftmaxIsThePlainLoops) {
  for (const int n : {4, 100, 1200}) check_softmax<4>(n);
  for (const int n : {5, 101, 1201}) check_softmax<1>(n);
}
TEST_F(RowKernels, TransposesAreThePlainLoops) {
  check_transpose<1, std::uint8_t>(80, 96, true);
  check_transpose<2, std::uint16_t>(72, 136, true);
  check_transpose<4, std::uint32_t>(68, 132, true);
  check_transpose<4, std::uint32_t>(67, 130, false);
  check_transpose<8, std::uint64_t>(34, 66, true);
}

}  // namespace row_kernels_test
