#include "misuse/misuse.hpp"
#include "nax/lax.hpp"
#include "nax/linalg.hpp"
#include "nax/numpy.hpp"

// Errors that name the operands as the caller has them.
namespace callers_words_test {

using namespace nax;
using F = Array<float>;

NAX_MISUSE(ShapeError, LuSolveOfOtherRows,
           "lu_solve: b has not as many rows as the matrix: shapes (3, 3) and (4,)",
           (void)linalg::lu_solve(linalg::lu_factor(eye<float>(3)), ones<float>({4})))
NAX_MISUSE(ShapeError, LuSolveOfOtherMatrices,
           "lu_solve: b has not as many rows as the matrix: shapes (3, 3) and (5, 2, 2)",
           (void)linalg::lu_solve(linalg::lu_factor(eye<float>(3)), ones<float>({5, 2, 2})))
NAX_MISUSE(ShapeError, ConvChannelsFirst,
           "conv_general_dilated: the input has 3 channels, the kernel takes 2 in each of 1 groups: shapes "
           "(1, 3, 8, 8) and (4, 2, 3, 3)",
           (void)lax::conv_general_dilated(ones<float>({1, 3, 8, 8}), ones<float>({4, 2, 3, 3}), {1, 1},
                                           "SAME"))
NAX_MISUSE(
    ValueError, ProductTooBig,
    "matmul: array is too big: shape (2147483648, 2147483648) has more than 576460752303423487 elements",
    (void)matmul(broadcast_to(F(1.f), {std::int64_t{1} << 31, 1}),
                 broadcast_to(F(1.f), {1, std::int64_t{1} << 31})))

}  // namespace callers_words_test
