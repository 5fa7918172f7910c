#pragma once

#include <limits>

#include "nax/devices/cuda/launch/elements.hpp"
#include "nax/devices/cuda/launch/pieces.hpp"
#include "nax/devices/cuda/launch/unroll.hpp"

// The first greatest or least element of a thread's pieces, or the first NaN. Of each piece only the best
// value is compared, and of the best piece only its number is kept; that piece is read once more for the
// place.
NAX_BEGIN
namespace cuda {

// Of elements T that are read as A, float or double.
template <class A, class T, bool greatest>
struct BestPiece {
  static constexpr int per = piece_bytes / static_cast<int>(sizeof(T));
  A value;
  std::int64_t element;  // its number in the pieces; -1 of none

  // Of pieces at `data`, the one whose number is that of the thread, and every `step`th from there.
  constexpr BestPiece(const char* data, std::int64_t pieces, std::int64_t thread, std::int64_t step)
      : value(greatest ? -std::numeric_limits<A>::infinity() : std::numeric_limits<A>::infinity()),
        element(-1) {
    if (thread >= pieces) return;
    constexpr int ahead = 4;  // loads in flight
    std::int32_t best = 0, turn = 0;
    std::int64_t p = thread;
    for (; p + (ahead - 1) * step < pieces; p += ahead * step, turn += ahead) {
      Piece<piece_bytes> in[ahead];
      NAX_GPU_UNROLL
      for (int k = 0; k < ahead; ++k) in[k] = Piece<piece_bytes>::load(data + (p + k * step) * piece_bytes);
      NAX_GPU_UNROLL
      for (int k = 0; k < ahead; ++k) take(in[k], turn + k, best);
    }
    Piece<piece_bytes> in[ahead]{};
    NAX_GPU_UNROLL
    for (int k = 0; k < ahead; ++k)
      if (p + k * step < pieces) in[k] = Piece<piece_bytes>::load(data + (p + k * step) * piece_bytes);
    NAX_GPU_UNROLL
    for (int k = 0; k < ahead; ++k)
      if (p + k * step < pieces) take(in[k], turn + k, best);
    p = thread + best * step;
    const auto piece = Piece<piece_bytes>::load(data + p * piece_bytes);
    for (int j = per; j-- > 0;) {
      const A x = at(piece, j);
      if (x == value || (x != x && value != value)) element = p * per + j;
    }
  }

 private:
  constexpr void take(const Piece<piece_bytes>& piece, std::int32_t turn, std::int32_t& best) {
    A x = at(piece, 0);
    NAX_GPU_UNROLL
    for (int j = 1; j < per; ++j) x = better(x, at(piece, j));
    if (beats(x, value)) value = x, best = turn;
  }
  static constexpr bool beats(A a, A b) { return (greatest ? a > b : a < b) || (a != a && b == b); }
  static constexpr A better(A a, A b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<A, float>) return extreme_or_nan<greatest>(a, b);
#endif
    return beats(b, a) ? b : a;
  }
  static constexpr A at(const Piece<piece_bytes>& piece, int j) {
    const T x = piece.template get<T>(j);
    return LoadAs<A>{reinterpret_cast<const char*>(&x)}(std::type_identity<T>());
  }
};

}  // namespace cuda
NAX_END
