#include "misuse/misuse.hpp"
#include "nax/nax.hpp"

using namespace nax;
using A = Array<float>;

namespace transforms_test {
A total(const A& x) { return sum(x * x); }

NAX_MISUSE(ShapeError, GradOfVector, "grad: the function must return a scalar, got shape (3,)",
           (void)grad([](const A& x) { return x * x; })(ones<float>({3})))
NAX_MISUSE(TypeError, GradOfInteger, "grad: the arguments chosen by argnums hold no array of a floating type",
           (void)grad([](const Array<int>& x) { return A(sum(x) * 1.f); })(Array<int>{1, 2}))
NAX_MISUSE(ShapeError, VjpCotangent, "vjp: the cotangent has shape (2,), the result ()",
           (void)vjp(total, ones<float>({3})).second(ones<float>({2})))
NAX_MISUSE(ShapeError, JvpTangent, "jvp: the tangent has shape (2,), the primal (3,)",
           (void)jvp(total, std::tuple{ones<float>({3})}, std::tuple{ones<float>({2})}))
NAX_MISUSE(ValueError, VmapSizes,
           "vmap: the sizes of the mapped axes differ: argument 0 of shape (3,) has 3 along axis 0, argument "
           "1 of shape (4,) has 4 along axis 0",
           (void)vmap([](const A& x, const A& y) { return x + y; })(ones<float>({3}), ones<float>({4})))
NAX_MISUSE(ValueError, VmapScalar,
           "vmap: argument 0 is mapped over axis 0 but has rank 0; give it in_axes none",
           (void)vmap([](const A& x) { return x * 2; })(A(1.f)))
NAX_MISUSE(IndexError, VmapInAxis,
           "vmap: in_axes of argument 0 is 1, out of bounds for an array of dimension 1, shape (3,)",
           (void)vmap([](const A& x) { return x * 2; }, {.in_axes = 1})(ones<float>({3})))
NAX_MISUSE(ValueError, VmapInAxesCount, "vmap: in_axes has 2 entries for 1 arguments",
           (void)vmap([](const A& x) { return x * 2; }, {.in_axes = {0, 0}})(ones<float>({3})))
NAX_MISUSE(ValueError, VmapNothingMapped, "vmap: no argument is mapped: every in_axes is none",
           (void)vmap([](const A& x) { return x * 2; }, {.in_axes = none})(ones<float>({3})))
NAX_MISUSE(IndexError, VmapOutAxis, "vmap: out_axes is 2, out of bounds for a mapped result of dimension 1",
           (void)vmap([](const A& x) { return x * 2; }, {.out_axes = 2})(ones<float>({3})))
NAX_MISUSE(ValueError, VmapOutNone, "vmap: out_axes is none for a result that differs along the mapped axis",
           (void)vmap([](const A& x) { return x * 2; }, {.out_axes = none})(arange(3.f)))
NAX_MISUSE(ValueError, VmapAxisSize, "vmap: axis_size is 4 but argument 0 of shape (3,) has 3 along axis 0",
           (void)vmap([](const A& x) { return x * 2; }, {.axis_size = 4})(ones<float>({3})))
NAX_MISUSE(ValueError, VmapTreeAxes, "vmap: axes(...) names 3 children, the tree has 2",
           (void)vmap([](const std::pair<A, A>& p) { return p.first + p.second; },
                      {.in_axes = {axes(0, none, 0)}})(std::pair{ones<float>({3}), ones<float>({3})}))
NAX_MISUSE(ValueError, BatchedItem,
           "item: the array is batched by vmap and has no single value here; use where, or map over it",
           (void)vmap([](const A& x) { return A(x * x.item()); })(ones<float>({3})))
NAX_MISUSE(ValueError, BatchedIf,
           "bool: the array is batched by vmap and has no single value here; use where instead of if",
           (void)vmap([](const A& x) -> A {
             if (x > 0) return x;
             return A(-x);
           })(ones<float>({3})))
NAX_MISUSE(ValueError, BatchedData,
           "data: the array is batched by vmap and has no single value here; return it from the mapped "
           "function instead",
           (void)vmap([](const A& x) {
             (void)x.data();
             return x;
           })(ones<float>({3, 2})))
NAX_MISUSE(ValueError, BatchedMask,
           "index: the array is batched by vmap and has no single value here; the number of true elements "
           "would differ between examples: use where instead",
           (void)vmap([](const A& x) { return x(x > 0); })(ones<float>({3, 2})))
NAX_MISUSE(ValueError, OutlivedVmap,
           "add: the array belongs to a vmap that has ended; return it from the mapped function instead",
           A kept;
           (void)vmap([&](const A& x) {
             kept = x;
             return x;
           })(ones<float>({3}));
           (void)A(kept + 1.f))
NAX_MISUSE(ValueError, PsumOutside,
           "psum: no mapped axis is named 'i' here; give vmap or pmap around it that axis_name",
           (void)psum(ones<float>({3}), "i"))
NAX_MISUSE(ValueError, PsumOtherName,
           "psum: no mapped axis is named 'j' here; give vmap or pmap around it that axis_name",
           (void)vmap([](const A& x) { return psum(x, "j"); }, {.axis_name = "i"})(ones<float>({3})))
NAX_MISUSE(ValueError, AxisIndexOutside,
           "axis_index: no mapped axis is named 'i' here; give vmap or pmap around it that axis_name",
           (void)axis_index("i"))
NAX_MISUSE(ShapeError, PsumScatterExtent,
           "psum_scatter: axis 0 of shape (2,) must equal the mapped axis' size 3",
           (void)vmap([](const A& x) { return psum_scatter(x, "i"); },
                      {.axis_name = "i"})(ones<float>({3, 2})))
NAX_MISUSE(ShapeError, AllToAllExtent, "all_to_all: axis 0 of shape (2,) must equal the mapped axis' size 3",
           (void)vmap([](const A& x) { return all_to_all(x, "i", 0, 0); },
                      {.axis_name = "i"})(ones<float>({3, 2})))
NAX_MISUSE(ValueError, PpermuteRange, "ppermute: the pair (0, 3) is out of range for an axis of size 3",
           (void)vmap(
               [](const A& x) {
                 return ppermute(x, "i", {{0, 3}});
               },
               {.axis_name = "i"})(ones<float>({3})))
NAX_MISUSE(ValueError, PpermuteTwice, "ppermute: sources and destinations must each be named once",
           (void)vmap(
               [](const A& x) {
                 return ppermute(x, "i", {{0, 1}, {2, 1}});
               },
               {.axis_name = "i"})(ones<float>({3})))
NAX_MISUSE(ValueError, PmapTooMany,
           "pmap: the mapped axis has size 9, but the number of devices is 1; see set_cpu_device_count",
           (void)pmap([](const A& x) { return x * 2; })(ones<float>({9})))
NAX_MISUSE(ValueError, PmapNoDevices,
           "pmap: devices is empty; leave it out for all devices of the default device's platform",
           (void)pmap([](const A& x) { return x * 2; }, {.devices = std::vector<Device>()})(ones<float>({1})))
NAX_MISUSE(ValueError, PmapSizes,
           "pmap: the sizes of the mapped axes differ: argument 0 of shape (2,) has 2 along axis 0, argument "
           "1 of shape (1,) has 1 along axis 0",
           (void)pmap([](const A& x, const A& y) { return x + y; })(ones<float>({2}), ones<float>({1})))
NAX_MISUSE(DeviceError, PmapThrows,
           "pmap: device cpu:0 along axis 'devices': matmul: inner dimensions differ: (3,) x (7,)",
           (void)pmap([](const A& x) { return matmul(x, ones<float>({7})); },
                      {.axis_name = "devices"})(ones<float>({1, 3})))
NAX_MISUSE(DeviceError, PmapInPmap,
           "pmap: device cpu:0: pmap: a pmap inside a pmap has no devices left; use vmap for "
           "the inner axis",
           (void)pmap([](const A& x) {
             return pmap([](const A& y) { return y * 2; })(x);
           })(ones<float>({1, 1})))
NAX_MISUSE(ValueError, UnknownPlatform, "devices: no platform 'tpu' in this program; there is 'cpu'",
           (void)devices("tpu"))
NAX_MISUSE(ValueError, DeviceCountAfterUse,
           "set_cpu_device_count: the devices are already in use; call it before anything asks for them",
           (void)devices();
           set_cpu_device_count(2))
NAX_MISUSE(ValueError, TreesDiffer,
           "tree::map: the trees differ at the root: 2 items against 3 (tree 1 and tree 2)",
           std::vector<A> a(2), b(3);
           (void)tree::map([](const A& x, const A& y) { return x + y; }, a, b))
NAX_MISUSE(ValueError, TreeKeysDiffer,
           "tree::map: the trees differ at the root: no key 'w': {'w'} against {'v'} (tree 1 and tree 2)",
           std::map<std::string, A> a{{"w", A(1.f)}}, b{{"v", A(1.f)}};
           (void)tree::map([](const A& x, const A& y) { return x + y; }, a, b))
NAX_MISUSE(ValueError, RandintRange,
           "choice: cannot take a larger sample (5) than the population (3) without replacement",
           (void)random::choice(random::key(0), 3, {5}, {.replace = false}))

}  // namespace transforms_test
