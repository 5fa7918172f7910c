#include "misuse/misuse.hpp"
#include "nax/nax.hpp"

using namespace nax;

namespace arrays_test {
using A = Array<float>;

NAX_MISUSE(
    ValueError, RaggedBraces,
    "array: the nested braces are ragged: every list of one depth must have the same length: (2,) and (1,)",
    (void)A({{1, 2}, {3}}))
NAX_MISUSE(
    ValueError, MixedDepthBraces,
    "array: the nested braces are ragged: every list of one depth must have the same length: (2,) and ()",
    (void)A({{1, 2}, 3}))
NAX_MISUSE(ShapeError, AddShapes, "add: operands could not be broadcast together with shapes (2, 3) (2, 4)",
           (void)A(ones<float>({2, 3}) + ones<float>({2, 4})))
NAX_MISUSE(ShapeError, SubtractShapes,
           "subtract: operands could not be broadcast together with shapes (3,) (4,)",
           (void)A(ones<float>({3}) - ones<float>({4})))
NAX_MISUSE(ShapeError, MaximumShapes,
           "maximum: operands could not be broadcast together with shapes (3,) (2,)",
           (void)A(maximum(ones<float>({3}), ones<float>({2}))))
NAX_MISUSE(ShapeError, WhereShapes, "where: operands could not be broadcast together with shapes (3,) (2,)",
           (void)A(where(ones<float>({3}) > 0, ones<float>({2}), 0.f)))
NAX_MISUSE(ShapeError, EqualShapes, "equal: operands could not be broadcast together with shapes (3,) (2,)",
           (void)Array<bool>(ones<float>({3}) == ones<float>({2})))
NAX_MISUSE(ShapeError, MatmulInner, "matmul: inner dimensions differ: (128, 784) x (512, 10)",
           (void)matmul(ones<float>({128, 784}), ones<float>({512, 10})))
NAX_MISUSE(ShapeError, MatmulScalar, "matmul: operands must be at least 1-d, shapes () (3,)",
           (void)matmul(A(1.f), ones<float>({3})))
NAX_MISUSE(ShapeError, MatmulBatch,
           "matmul: operands could not be broadcast together with shapes (2, 3, 4) (5, 4, 3)",
           (void)matmul(ones<float>({2, 3, 4}), ones<float>({5, 4, 3})))
NAX_MISUSE(ShapeError, DotShapes, "dot: inner dimensions differ: (3,) x (4,)",
           (void)dot(ones<float>({3}), ones<float>({4})))
NAX_MISUSE(
    ValueError, EinsumRank,
    "einsum: operand 0 has 3 axes, its subscripts name 2, subscripts 'ij,jk->ik', shapes (2, 3, 4) (4, 2)",
    (void)einsum("ij,jk->ik", ones<float>({2, 3, 4}), ones<float>({4, 2})))
NAX_MISUSE(ValueError, EinsumExtents,
           "einsum: operand 1 of shape (4, 2) does not fit the extent 3 of another operand, subscripts "
           "'ij,jk->ik', shapes (2, 3) (4, 2)",
           (void)einsum("ij,jk->ik", ones<float>({2, 3}), ones<float>({4, 2})))
NAX_MISUSE(IndexError, SumAxis, "sum: axis 2 is out of bounds for array of dimension 2",
           (void)sum(ones<float>({2, 3}), {.axis = 2}))
NAX_MISUSE(IndexError, MeanAxis, "mean: axis -3 is out of bounds for array of dimension 2",
           (void)mean(ones<float>({2, 3}), {.axis = -3}))
NAX_MISUSE(ValueError, SumAxisTwice, "sum: duplicate value in 'axis': 0",
           (void)sum(ones<float>({2, 3}), {.axis = {0, 0}}))
NAX_MISUSE(ValueError, MaxOfEmpty, "max: zero-size array to reduction operation max which has no identity",
           (void)max(zeros<float>({0})))
NAX_MISUSE(ValueError, ArgmaxOfEmpty, "argmax: attempt to get argmax of an empty sequence",
           (void)argmax(zeros<float>({0})))
NAX_MISUSE(IndexError, LogsumexpAxis, "logsumexp: axis 1 is out of bounds for array of dimension 1",
           (void)logsumexp(ones<float>({2}), {.axis = 1}))
NAX_MISUSE(ShapeError, ReshapeSize,
           "reshape: cannot reshape array of size 6 into shape (4, 2), its shape is (2, 3)",
           (void)ones<float>({2, 3}).reshape({4, 2}))
NAX_MISUSE(ShapeError, ReshapeUnknown,
           "reshape: cannot reshape array of size 6 into shape (4, -1), its shape is (2, 3)",
           (void)ones<float>({2, 3}).reshape({4, -1}))
NAX_MISUSE(ValueError, ReshapeTwoUnknown, "reshape: can only specify one unknown dimension, shape (-1, -1)",
           (void)ones<float>({2, 3}).reshape({-1, -1}))
NAX_MISUSE(ValueError, TransposeAxes, "transpose: duplicate value in 'axis': 0",
           (void)transpose(ones<float>({2, 3}), {.axes = std::vector<int>{0, 0}}))
NAX_MISUSE(ShapeError, BroadcastTo,
           "broadcast_to: operands could not be broadcast together with remapped shapes "
           "[original->remapped]: (2, 3) and requested shape (2, 4)",
           (void)broadcast_to(ones<float>({2, 3}), {2, 4}))
NAX_MISUSE(ShapeError, ConcatenateShapes,
           "concatenate: all dimensions but that of axis 0 must match: (2, 3) at 0, (2, 4) at 1",
           (void)concatenate({ones<float>({2, 3}), ones<float>({2, 4})}))
NAX_MISUSE(IndexError, ConcatenateAxis, "concatenate: axis 1 is out of bounds for array of dimension 1",
           (void)concatenate({ones<float>({2}), ones<float>({2})}, {.axis = 1}))
NAX_MISUSE(ShapeError, StackShapes, "stack: all input arrays must have the same shape: (2,) at 0, (3,) at 1",
           (void)stack({ones<float>({2}), ones<float>({3})}))
NAX_MISUSE(ValueError, StackNothing, "stack: need at least one array", (void)stack(std::vector<A>{}))
NAX_MISUSE(
    ValueError, SqueezeAxis,
    "squeeze: cannot select an axis to squeeze out which has size not equal to one: axis 0 of shape (2, 3)",
    (void)squeeze(ones<float>({2, 3}), {.axis = 0}))
NAX_MISUSE(ValueError, SplitUneven, "split: array split does not result in an equal division: 5 into 2",
           (void)split(ones<float>({5}), 2))
NAX_MISUSE(IndexError, IndexTooLarge, "index: index 2 is out of bounds for axis 0 with size 2",
           (void)ones<float>({2, 3})(2))
NAX_MISUSE(IndexError, IndexTooSmall, "index: index -4 is out of bounds for axis 1 with size 3",
           (void)ones<float>({2, 3})(0, -4))
NAX_MISUSE(IndexError, TooManyIndices,
           "index: too many indices for array: array is 1-dimensional, but 2 were indexed, shape (2,)",
           (void)ones<float>({2})(0, 0))
NAX_MISUSE(IndexError, ArrayIndex, "index: index 3 is out of bounds for axis 0 with size 3",
           (void)ones<float>({3})(Array<int>{0, 3}))
NAX_MISUSE(IndexError, MaskShape,
           "index: boolean index did not match indexed array along axis 0; size of axis is 3 but size of "
           "corresponding boolean axis is 2",
           (void)ones<float>({3})(Array<bool>{true, false}))
NAX_MISUSE(IndexError, TakeIndex, "take: index -4 is out of bounds for axis 0 with size 3",
           (void)take(ones<float>({3}), Array<int>{-4}))
NAX_MISUSE(ShapeError, AtSetShape,
           "at.set: could not broadcast values of shape (3,) into the selected shape (2,)",
           (void)ones<float>({3}).at(slice(0, 2)).set(ones<float>({3})))
NAX_MISUSE(IndexError, AtIndex, "index: index 5 is out of bounds for axis 0 with size 3",
           (void)ones<float>({3}).at(5).set(1.f))
NAX_MISUSE(ValueError, ItemOfMany, "item: only an array of one element has a value, shape (3,)",
           (void)ones<float>({3}).item())
NAX_MISUSE(ValueError, TruthOfMany,
           "bool: the truth of an array of several elements is ambiguous; use any or all, shape (3,)",
           (void)bool(ones<float>({3})))
NAX_MISUSE(ValueError, SliceStep, "index: slice step cannot be zero", (void)ones<float>({3})(slice(_, _, 0)))
NAX_MISUSE(ValueError, NegativeExtent, "zeros: negative dimensions are not allowed, shape (-1,)",
           (void)zeros<float>({-1}))
NAX_MISUSE(IndexError, ShapeAxis, "shape: axis 1 is out of bounds for array of dimension 1",
           (void)ones<float>({3}).shape(1))
NAX_MISUSE(IndexError, SortAxis, "sort: axis 1 is out of bounds for array of dimension 1",
           (void)sort(ones<float>({3}), {.axis = 1}))

}  // namespace arrays_test
