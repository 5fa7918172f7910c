#include "cuda/ptx/kernels/on_card.hpp"
#include "nax/devices/cuda/attention/attention_kernels.hpp"

// Attention as device code: tiles, barriers, and products of warps, against plain loops.
namespace attention_kernels_test {

using nax::bfloat16, nax::half;
using on_card::Array, on_card::scrambled;
using Numbers = std::vector<double>;

struct Sizes {
  int batch, queries, keys, heads, groups, width;
  bool causal, ruled = false;
};

template <class T>
class AttentionKernels : public on_card::Kernels {
 protected:
  static Numbers numbers(int n, std::uint64_t first) {
    Numbers x;
    for (int i = 0; i < n; ++i) {
      const auto some =
          static_cast<float>(scrambled(first + static_cast<std::uint64_t>(i)) % 2001) / 1000.f - 1.f;
      x.push_back(static_cast<double>(static_cast<float>(static_cast<T>(some))));
    }
    return x;
  }
  std::vector<T> typed(const Numbers& x) const {
    std::vector<T> y;
    for (const double a : x) y.push_back(static_cast<T>(static_cast<float>(a)));
    return y;
  }
  template <class Body>
  void launch(Body body, const nax::loops::Attention& f, std::int64_t rows, std::int64_t count,
              std::int64_t heads) {
    body.f = f;
    body.parts = (count + rows - 1) / rows;
    body.scale = static_cast<float>(f.scale) * Body::unit;
    body.in_pieces = f.width * static_cast<std::int64_t>(sizeof(T)) % 16 == 0;
    const std::int64_t n = f.batch * heads * body.parts;
    nax::cuda::run_blocks<<<static_cast<unsigned>(n), 256, Body::shared_bytes, stream>>>(body, n);
  }
  void expect_near(const Array<T>& actual, const Numbers& expected, double tolerance) const {
    const std::vector<T> x = values(actual);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(static_cast<double>(static_cast<float>(x[i])), expected[i], tolerance) << "element " << i;
  }

  template <int width>
  void check(const Sizes& s) {
    SCOPED_TRACE(s.width);
    const int of_q = s.batch * s.queries * s.heads * s.width, of_k = s.batch * s.keys * s.groups * s.width;
    const Numbers q = numbers(of_q, 0), k = numbers(of_k, 1000000), v = numbers(of_k, 2000000),
                  g = numbers(of_q, 3000000);
    const Array<T> on_q(typed(q), stream), on_k(typed(k), stream), on_v(typed(v), stream),
        on_g(typed(g), stream), out(q.size()), dq(q.size()), dk(k.size()), dv(k.size());
    const Array<float> logarithms(static_cast<std::size_t>(2 * s.batch * s.queries * s.heads));
    nax::loops::Attention f;
    f.batch = s.batch, f.heads = s.heads, f.groups = s.groups;
    f.queries = s.queries, f.keys = s.keys, f.width = s.width;
    f.scale = 0.3;
    f.causal = s.causal;
    const auto rows = [&](const Array<T>& x, int count, int heads) {
      const std::int64_t row = std::int64_t{heads} * s.width;
      return nax::loops::AttentionRows{reinterpret_cast<char*>(x.data()), count * row, row, s.width};
    };
    f.q = rows(on_q, s.queries, s.heads), f.k = rows(on_k, s.keys, s.groups);
    f.v = rows(on_v, s.keys, s.groups), f.out = rows(out, s.queries, s.heads);
    f.logarithms = logarithms.data();
    // A mask of keys for each head, a window, and lengths of each example.
    std::vector<unsigned char> mask;
    for (int i = 0; i < s.heads * s.keys; ++i)
      mask.push_back(scrambled(4000000 + static_cast<std::uint64_t>(i)) % 4 != 0);
    const std::vector<std::int32_t> of_queries = {s.queries, s.queries / 2}, of_keys = {s.keys - 5, s.keys};
    const Array<unsigned char> on_mask(mask, stream);
    const Array<std::int32_t> on_queries(of_queries, stream), on_keys(of_keys, stream);
    if (s.ruled) {
      f.mask = {reinterpret_cast<const char*>(on_mask.data()), 0, s.keys, 0, 1};
      f.query_lengths = {on_queries.data(), 1}, f.key_lengths = {on_keys.data(), 1};
      f.window = true, f.left = 20, f.right = 7;
    }
    const auto is_seen = [&](int b, int t, int h, int j) {
      const auto example = static_cast<std::size_t>(b);
      if (s.causal && j > t) return false;
      return !s.ruled || (mask[static_cast<std::size_t>(h * s.keys + j)] && t < of_queries[example] &&
                          j < of_keys[example] && j >= t - 20 && j <= t + 7);
    };

    Numbers y(q.size()), of_dq(q.size()), of_dk(k.size()), of_dv(k.size());
    std::vector<float> along;
    for (int i = 0; i < s.batch * s.queries * s.heads; ++i) {
      const int b = i / (s.queries * s.heads), t = i / s.heads % s.queries, h = i % s.heads,
                group = h / (s.heads / s.groups), at = i * s.width;
      const auto key = [&](int j) { return ((b * s.keys + j) * s.groups + group) * s.width; };
      Numbers p(static_cast<std::size_t>(s.keys));
      double sum = 0, total = 0;
      for (int j = 0; j < s.keys; ++j) {
        double x = 0;
        for (int e = 0; e < s.width; ++e) x += q[at + e] * k[key(j) + e];
        sum += p[j] = is_seen(b, t, h, j) ? std::exp(0.3 * x) : 0;
      }
      const bool is_blind = sum == 0, is_padding = s.ruled && t >= of_queries[static_cast<std::size_t>(b)];
      for (int j = 0; j < s.keys; ++j) {
        p[j] = is_padding ? 0 : is_blind ? 1. / s.keys : p[j] / sum;
        for (int e = 0; e < s.width; ++e) y[at + e] += p[j] * v[key(j) + e];
      }
      for (int e = 0; e < s.width; ++e) total += g[at + e] * y[at + e];
      along.push_back(static_cast<float>(total));
      for (int j = 0; j < s.keys; ++j) {
        double slope = -total;
        for (int e = 0; e < s.width; ++e) slope += g[at + e] * v[key(j) + e];
        if (is_blind) slope = 0;
        for (int e = 0; e < s.width; ++e) {
          of_dv[key(j) + e] += p[j] * g[at + e];
          of_dq[at + e] += 0.3 * p[j] * slope * k[key(j) + e];
          of_dk[key(j) + e] += 0.3 * p[j] * slope * q[at + e];
        }
      }
    }

    constexpr bool is_float = sizeof(T) == 4;
    constexpr int of_block = is_float ? 64 : 128;
    const double unit = is_float ? 5e-6 : std::is_same_v<T, half> ? 1e-3 : 8e-3;
    const auto run = [&](auto value, auto by_queries, auto by_keys) {
      launch(value, f, of_block, f.queries, f.heads);
      expect_near(out, y, 2 * unit);
      const Array<float> on_along(along.size());
      by_queries.g = rows(on_g, s.queries, s.heads), by_queries.dq = rows(dq, s.queries, s.heads);
      by_queries.along = on_along.data();
      launch(by_queries, f, of_block, f.queries, f.heads);
      expect_near(dq, of_dq, 10 * unit);
      const std::vector<float> sums = values(on_along);
      for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_NEAR(sums[i], along[i], 10 * unit) << i;
      by_keys.g = rows(on_g, s.queries, s.heads);
      by_keys.dk = rows(dk, s.keys, s.groups), by_keys.dv = rows(dv, s.keys, s.groups);
      by_keys.along = on_along.data();
      launch(by_keys, f, of_block, f.keys, f.groups);
      expect_near(dk, of_dk, 10 * unit);
      expect_near(dv, of_dv, 10 * unit);
    };
    if constexpr (is_float)
      run(nax::cuda::AttendFloat<width>{}, nax::cuda::FloatQueryGradients<width>{},
          nax::cuda::FloatKeyGradients<width>{});
    else
      run(nax::cuda::AttendHalf<T, width>{}, nax::cuda::QueryGradients<T, width>{},
          nax::cuda::KeyGradients<T, width>{});
  }
};
using Types = testing::Types<float, half, bfloat16>;
TYPED_TEST_SUITE(AttentionKernels, Types);

TYPED_TEST(AttentionKernels, AreThePlainLoops) {
  this->template check<64>({1, 70, 67, 2, 1, 16, true});
  this->template check<64>({1, 9, 130, 1, 1, 21, false});
  this->template check<64>({2, 40, 40, 4, 2, 16, false, true});
  this->template check<128>({1, 33, 66, 1, 1, 72, true});
}

}  // namespace attention_kernels_test
