#pragma once

#include "nax/devices/cuda/attention/attention_part.hpp"

// Tiles of float rows in shared memory, and products of them. Of a product a thread has four rows, with
// columns that are `across` apart or with four of every 64.
NAX_BEGIN
namespace cuda {

// Rows of up to `width` elements, a multiple of 64; a block has 64 of them.
template <int width>
struct FloatTiles : AttentionBody<float, 64> {
  using Base = AttentionBody<float, 64>;
  using Base::f;
  static constexpr int rows = 64, across = 16, parts_of_row = width / 64;

  struct alignas(16) Four {
    float x[4];
  };
  // The first of a thread's rows.
  static constexpr int row_of(int thread) { return thread / across * 4; }
  // Four elements of a tile, whose rows have `columns`. Neighbours in a column lie in different banks.
  template <int columns>
  static constexpr float* at(float* tile, int row, int four) {
    return tile + row * columns + ((four ^ (row & 7)) * 4);
  }
  template <int columns>
  static constexpr Four load(float* tile, int row, int four) {
    return *reinterpret_cast<const Four*>(at<columns>(tile, row, four));
  }

  // Rows [first, first + count) of x, zero from `end` on.
  template <int count>
  constexpr void load_tile(int thread, float* tile, const float* x, std::int64_t step, int first,
                           int end) const {
    const auto put = [=](int row, int column, const Piece<16>& piece) {
      Four to{};
      NAX_GPU_UNROLL
      for (int j = 0; j < 4; ++j) to.x[j] = piece.template get<float>(j);
      *reinterpret_cast<Four*>(at<width>(tile, row, column / 4)) = to;
    };
    Base::template load_tile<count, width>(thread, x, step, first, end, put);
  }

  // product = a b^T, of rows of two tiles: 64, and `count` times 16.
  template <int count>
  static constexpr void multiply_rows(int thread, float (&product)[4][count], float* a, float* b) {
    const int row = row_of(thread), column = thread % across;
    NAX_GPU_UNROLL
    for (int r = 0; r < 4; ++r) {
      NAX_GPU_UNROLL
      for (int c = 0; c < count; ++c) product[r][c] = 0;
    }
    NAX_GPU_ROLLED
    for (int four = 0; four < width / 4; ++four) {
      Four x[4], y[count];
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) x[r] = load<width>(a, row + r, four);
      NAX_GPU_UNROLL
      for (int c = 0; c < count; ++c) y[c] = load<width>(b, column + across * c, four);
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) {
        NAX_GPU_UNROLL
        for (int c = 0; c < count; ++c) {
          NAX_GPU_UNROLL
          for (int e = 0; e < 4; ++e) product[r][c] += x[r].x[e] * y[c].x[e];
        }
      }
    }
  }
  // Stores such a product as a tile.
  template <int count>
  static constexpr void store_tile(int thread, float* tile, const float (&product)[4][count]) {
    NAX_GPU_UNROLL
    for (int r = 0; r < 4; ++r) {
      NAX_GPU_UNROLL
      for (int c = 0; c < count; ++c) {
        const int column = thread % across + across * c;
        at<across * count>(tile, row_of(thread) + r, column / 4)[column % 4] = product[r][c];
      }
    }
  }
  // sums += a b: a is a tile of rows of `depth` elements, b one of `depth` rows.
  template <int depth>
  static constexpr void add_products(int thread, float (&sums)[4][4 * parts_of_row], float* a, float* b) {
    const int row = row_of(thread), column = thread % across;
    NAX_GPU_ROLLED
    for (int four = 0; four < depth / 4; ++four) {
      Four x[4];
      NAX_GPU_UNROLL
      for (int r = 0; r < 4; ++r) x[r] = load<depth>(a, row + r, four);
      NAX_GPU_UNROLL
      for (int e = 0; e < 4; ++e) {
        NAX_GPU_UNROLL
        for (int part = 0; part < parts_of_row; ++part) {
          const Four y = load<width>(b, four * 4 + e, part * across + column);
          NAX_GPU_UNROLL
          for (int r = 0; r < 4; ++r) {
            NAX_GPU_UNROLL
            for (int c = 0; c < 4; ++c) sums[r][part * 4 + c] += x[r].x[e] * y.x[c];
          }
        }
      }
    }
  }

  // Makes logits of products of rows: by logit(r, c, x[r][c]) where not all are seen, one after the other,
  // and round: code for all of them would want too many registers.
  template <int count, class Logit>
  constexpr void finish_logits(float (&x)[4][count], bool sees_all, const Logit& logit) const {
    if (!sees_all) {
      NAX_GPU_ROLLED
      for (int e = 0; e < 4 * count; ++e) {
        const float now = logit(e / count, e % count, x[0][0]);
        NAX_GPU_UNROLL
        for (int d = 0; d + 1 < 4 * count; ++d) x[d / count][d % count] = x[(d + 1) / count][(d + 1) % count];
        x[3][count - 1] = now;
      }
      return;
    }
    NAX_GPU_UNROLL
    for (int r = 0; r < 4; ++r) {
      NAX_GPU_UNROLL
      for (int c = 0; c < count; ++c) x[r][c] *= this->scale;
    }
  }

  // A thread's part of a row of sums.
  static constexpr void write_row(int thread, float* to, std::int64_t length,
                                  const float (&x)[4 * parts_of_row], float factor) {
    NAX_GPU_UNROLL
    for (int part = 0; part < parts_of_row; ++part) {
      NAX_GPU_UNROLL
      for (int c = 0; c < 4; ++c) {
        const int column = (part * across + thread % across) * 4 + c;
        if (column < length) to[column] = x[part * 4 + c] * factor;
      }
    }
  }
};

}  // namespace cuda
NAX_END
