#include "cuda/ptx/barriers.hpp"
#include "cuda/ptx/grid.hpp"
#include "cuda/ptx/handlers.hpp"
#include "nax/core/half.hpp"

// Products of matrices by warps: mma.m16n8k16 of 16-bit elements, and ldmatrix, which loads their factors.
// Registers of each are one list: results, then operands.
namespace ptx {
namespace {

void wait(Thread& t, const Instruction& i) { wait_for_warp(t, i, ~std::uint32_t{0}); }

const std::vector<std::uint32_t>& registers(const Thread& t) {
  return t.function->registers[t.waits->target];
}
constexpr std::uint32_t lanes_of_warp = 32;

// Element (row, column) of a lane's register pair k: PTX ISA, "Matrix Fragments for mma.m16n8k16".
template <class T>
void multiply(Warp& warp, const Instruction&, std::uint32_t) {
  float a[16][16], b[16][8], d[16][8];
  for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) {
    const Thread& t = warp.thread(lane);
    const auto& list = registers(t);
    const std::uint32_t group = lane >> 2, pair = (lane & 3) * 2;
    const auto part = [&](std::uint32_t slot, std::uint32_t half) {
      return static_cast<float>(
          T::from_bits(static_cast<std::uint16_t>(t.get<std::uint32_t>(slot) >> 16 * half)));
    };
    for (std::uint32_t half = 0; half < 2; ++half) {
      a[group][pair + half] = part(list[4], half);
      a[group + 8][pair + half] = part(list[5], half);
      a[group][pair + 8 + half] = part(list[6], half);
      a[group + 8][pair + 8 + half] = part(list[7], half);
      b[pair + half][group] = part(list[8], half);
      b[pair + 8 + half][group] = part(list[9], half);
      d[group][pair + half] = t.get<float>(list[10 + half]);
      d[group + 8][pair + half] = t.get<float>(list[12 + half]);
    }
  }
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column)
      for (int k = 0; k < 16; ++k) d[row][column] += a[row][k] * b[k][column];
  for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) {
    Thread& t = warp.thread(lane);
    const auto& list = registers(t);
    const std::uint32_t group = lane >> 2, pair = (lane & 3) * 2;
    for (std::uint32_t half = 0; half < 2; ++half) {
      t.put(list[half], d[group][pair + half]);
      t.put(list[2 + half], d[group + 8][pair + half]);
    }
  }
}

// Lane 8 m + r names row r of matrix m.
template <bool transposed>
void load_matrices(Warp& warp, const Instruction&, std::uint32_t) {
  std::uint16_t x[4][8][8];
  for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) {
    Thread& t = warp.thread(lane);
    const Instruction& i = *t.waits;
    const auto address = static_cast<std::uint32_t>(t.r[i.at[8]] + static_cast<std::uint64_t>(i.offset));
    std::memcpy(x[lane / 8][lane % 8], reach(t, i, address, 16, Access::read), 16);
  }
  for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) {
    Thread& t = warp.thread(lane);
    const std::uint32_t group = lane >> 2, pair = (lane & 3) * 2;
    for (std::uint32_t m = 0; m < 4; ++m) {
      const std::uint32_t first = transposed ? x[m][pair][group] : x[m][group][pair],
                          second = transposed ? x[m][pair + 1][group] : x[m][group][pair + 1];
      t.put<std::uint32_t>(registers(t)[m], first | second << 16);
    }
  }
}

}  // namespace

bool decode_matrix(const Words& w, Instruction& i) {
  if (w.root != "mma" && w.root != "ldmatrix") return false;
  i.run = wait;
  if (w.root == "ldmatrix") {
    if (!w.has("m8n8") || !w.has("x4") || !w.has("shared") || w.type() != "b16") return false;
    i.space = Space::shared;
    i.group = w.has("trans") ? load_matrices<true> : load_matrices<false>;
    return true;
  }
  if (!w.has("m16n8k16") || !w.has("row") || !w.has("col") || w.type() != "f32") return false;
  if (w.has("f16")) return i.group = multiply<nax::half>, true;
  if (w.has("bf16")) return i.group = multiply<nax::bfloat16>, true;
  return false;
}

}  // namespace ptx
