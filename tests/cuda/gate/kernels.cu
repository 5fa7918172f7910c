// Kernels that gate.py looks at: the device's own, and those of some expressions.
#include "nax/devices/cuda/draws/draw_kernels.hpp"
#include "nax/devices/cuda/expressions/device_kernels.hpp"
#include "nax/devices/cuda/operations_kernels.hpp"
#include "nax/numpy/elementwise/arithmetic.hpp"
#include "nax/numpy/elementwise/hyperbolic.hpp"
#include "nax/rules/special.hpp"

namespace gate {

using namespace nax;
using namespace nax::cuda;
template <class T>
const Array<T>& a();
template <class T>
using Sum = decltype(a<T>() + a<T>());
template <class T>
using Layer = decltype(tanh(a<T>() * a<T>() + a<T>()));
template <class T>
using Erfinv = nax::detail::Expr<rules::erfinv, Array<T>>;

}  // namespace gate

#define NAX_ELEMENTS(...) template __global__ void run(const __VA_ARGS__, std::int64_t);
#define NAX_TEAMS(...) template __global__ void run_teams(const __VA_ARGS__, std::int64_t, int);
#define NAX_TILES(...) template __global__ void run_tiles(const __VA_ARGS__, std::int64_t);
#define NAX_BLOCKS(...) template __global__ void run_blocks(const __VA_ARGS__, std::int64_t);

NAX_BEGIN
namespace cuda {

NAX_ELEMENTS(detail::DeviceForwardInPieces<gate::Sum<float>>)
NAX_ELEMENTS(detail::DeviceForwardInPieces<gate::Sum<half>>)
NAX_ELEMENTS(detail::DeviceForwardInPieces<gate::Sum<double>>)
NAX_ELEMENTS(detail::DeviceForwardInPieces<gate::Layer<float>>)
NAX_ELEMENTS(detail::DeviceForwardInPieces<gate::Layer<bfloat16>>)
NAX_ELEMENTS(detail::DeviceForwardInPieces<gate::Erfinv<float>>)
NAX_ELEMENTS(detail::DeviceForwardInPieces<gate::Erfinv<double>>)
NAX_ELEMENTS(detail::DeviceForward<gate::Layer<float>>)
NAX_ELEMENTS(detail::DevicePullInPieces<gate::Layer<float>>)
NAX_ELEMENTS(detail::DevicePullInPieces<gate::Layer<bfloat16>>)
NAX_ELEMENTS(detail::DevicePull<gate::Layer<float>>)
NAX_ELEMENTS(CopyPieces<4>)
NAX_ELEMENTS(CopyElement<Piece<4>>)
NAX_ELEMENTS(ConvertPieces<float, bfloat16>)
NAX_ELEMENTS(AddPieces<float, float>)
NAX_ELEMENTS(GatherPieces<4>)
NAX_ELEMENTS(DrawElements<float, DrawUniform<float>>)
NAX_ELEMENTS(DrawElements<float, DrawQuantile<float, rules::NormalQuantile>>)
NAX_TEAMS(ReduceRows<SumReducer<float>, float, float>)
NAX_TEAMS(ReduceRows<SumReducer<float>, float, bfloat16>)
NAX_TEAMS(ReduceRows<ArgReducer<float>, float, float>)
NAX_TEAMS(JoinParts<SumReducer<float>>)
NAX_TEAMS(StepLeaves<float, true>)
NAX_TEAMS(StepLeaves<float, false>)
NAX_TEAMS(WholeRows<float, SoftmaxRule<loops::RowFunction::softmax, float, 4>>)
NAX_TEAMS(RowsInRegisters<float, SoftmaxRule<loops::RowFunction::softmax, float, 4>, 4>)
NAX_TEAMS(WholeRows<float, MomentsRule<loops::RowFunction::standardize, float, 4>>)
NAX_TEAMS(FinishParts<float, MomentsRule<loops::RowFunction::standardize, float, 4>>)
NAX_TEAMS(NormGradient<float, true, 4>)
NAX_TEAMS(NormGradientOfRow<float, true, 4>)
NAX_TEAMS(ScanRow<RunningElements<float, false>>)
NAX_TEAMS(SumsOfPieces<RunningRow<float>>)
NAX_TEAMS(ScanPieces<RunningRow<float>>)
NAX_BLOCKS(AttendFloat<64>)
NAX_BLOCKS(AttendHalf<bfloat16, 64>)
NAX_BLOCKS(FloatQueryGradients<64>)
NAX_BLOCKS(FloatKeyGradients<64>)
NAX_BLOCKS(QueryGradients<bfloat16, 64>)
NAX_BLOCKS(KeyGradients<bfloat16, 64>)
NAX_BLOCKS(TransposeTiles<4>)
NAX_TILES(JoinShares<float>)
NAX_TILES(ReduceColumns<SumReducer<float>, float, float>)

}  // namespace cuda
NAX_END
