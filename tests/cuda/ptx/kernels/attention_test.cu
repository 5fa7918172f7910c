#include "cuda/ptx/kernels/on_card.hpp"
#include "nax/backend/cuda/attention_kernels.hpp"

// Attention as device code: tiles, barriers, and products of warps, against plain loops.
namespace attention_kernels_test {

using nax::bfloat16, nax::half;
using on_card::Array, on_card::scrambled;
using Numbers = std::vector<double>;

struct Sizes {
  int queries, keys, heads, width;  // of one example and one group
  bool causal;
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
  void launch(Body body, const nax::loops::Attention& f, std::int64_t rows, std::int64_t count) {
    body.f = f;
    body.parts = (count + rows - 1) / rows;
    body.scale = static_cast<float>(f.scale) * nax::cuda::log2_e;
    body.in_pieces = f.width * static_cast<std::int64_t>(sizeof(T)) % 16 == 0;
    const std::int64_t n = body.parts * (count == f.keys ? f.groups : f.heads);
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
    const int of_q = s.queries * s.heads * s.width, of_k = s.keys * s.width;
    const Numbers q = numbers(of_q, 0), k = numbers(of_k, 1000000), v = numbers(of_k, 2000000),
                  g = numbers(of_q, 3000000);
    const Array<T> on_q(typed(q), stream), on_k(typed(k), stream), on_v(typed(v), stream),
        on_g(typed(g), stream), out(q.size()), dq(q.size()), dk(k.size()), dv(k.size());
    const Array<float> logarithms(static_cast<std::size_t>(s.queries * s.heads));
    nax::loops::Attention f;
    f.batch = 1, f.heads = s.heads, f.groups = 1, f.queries = s.queries, f.keys = s.keys, f.width = s.width;
    f.scale = 0.3;
    f.causal = s.causal;
    const auto rows = [&](const Array<T>& x, int heads) {
      return nax::loops::AttentionRows{reinterpret_cast<char*>(x.data()), 0, std::int64_t{heads} * s.width,
                                       s.width};
    };
    f.q = rows(on_q, s.heads), f.k = rows(on_k, 1), f.v = rows(on_v, 1), f.out = rows(out, s.heads);
    f.logarithms = logarithms.data();

    Numbers y(q.size()), of_dq(q.size()), of_dk(k.size()), of_dv(k.size());
    std::vector<float> along;
    for (int t = 0; t < s.queries; ++t)
      for (int h = 0; h < s.heads; ++h) {
        const int at = (t * s.heads + h) * s.width, seen = s.causal ? std::min(t + 1, s.keys) : s.keys;
        Numbers p(static_cast<std::size_t>(seen));
        double sum = 0, total = 0;
        for (int j = 0; j < seen; ++j) {
          double x = 0;
          for (int e = 0; e < s.width; ++e) x += q[at + e] * k[j * s.width + e];
          sum += p[j] = std::exp(0.3 * x);
        }
        for (int j = 0; j < seen; ++j) {
          p[j] /= sum;
          for (int e = 0; e < s.width; ++e) y[at + e] += p[j] * v[j * s.width + e];
        }
        for (int e = 0; e < s.width; ++e) total += g[at + e] * y[at + e];
        along.push_back(static_cast<float>(total));
        for (int j = 0; j < seen; ++j) {
          double slope = -total;
          for (int e = 0; e < s.width; ++e) slope += g[at + e] * v[j * s.width + e];
          for (int e = 0; e < s.width; ++e) {
            of_dv[j * s.width + e] += p[j] * g[at + e];
            of_dq[at + e] += 0.3 * p[j] * slope * k[j * s.width + e];
            of_dk[j * s.width + e] += 0.3 * p[j] * slope * q[at + e];
          }
        }
      }

    if constexpr (sizeof(T) == 4) {
      launch(nax::cuda::AttendFloat<width>{}, f, 64, f.queries);
      expect_near(out, y, 1e-5);
    } else {
      const double unit = std::is_same_v<T, half> ? 1e-3 : 8e-3;
      launch(nax::cuda::AttendHalf<T, width>{}, f, 128, f.queries);
      expect_near(out, y, 2 * unit);
      const Array<float> on_along(along, stream);
      nax::cuda::QueryGradients<T, width> of_queries;
      of_queries.g = rows(on_g, s.heads), of_queries.dq = rows(dq, s.heads),
      of_queries.along = on_along.data();
      launch(of_queries, f, 128, f.queries);
      expect_near(dq, of_dq, 10 * unit);
      nax::cuda::KeyGradients<T, width> of_keys;
      of_keys.g = rows(on_g, s.heads), of_keys.dk = rows(dk, 1), of_keys.dv = rows(dv, 1),
      of_keys.along = on_along.data();
      launch(of_keys, f, 128, f.keys);
      expect_near(dk, of_dk, 10 * unit);
      expect_near(dv, of_dv, 10 * unit);
    }
  }
};
using Types = testing::Types<float, half, bfloat16>;
TYPED_TEST_SUITE(AttentionKernels, Types);

TYPED_TEST(AttentionKernels, AreThePlainLoops) {
  this->template check<64>({70, 67, 2, 16, true});
  this->template check<64>({9, 130, 1, 21, false});
  this->template check<128>({33, 66, 1, 72, true});
}

}  // namespace attention_kernels_test
