#include "misuse/misuse.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/elementwise/cast.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/transform/grad.hpp"
#include "nax/transform/vmap.hpp"

namespace misuse {

// Nothing is being recorded, no vmap is open, and a gradient under vmap comes out right.
void check_still_usable() {
  EXPECT_EQ(nax::detail::recording.tape, nullptr);
  EXPECT_TRUE(nax::detail::vmap_stack().frames.empty());
  EXPECT_EQ(nax::detail::vmap_stack().sweeping, 0);
  const nax::Array<float> xs = {{1, 2}, {3, 4}};
  const auto cube = [](const nax::Array<float>& x) { return nax::sum(x * x * x); };
  EXPECT_EQ(nax::vmap(nax::grad(cube))(xs).to_vector(), (std::vector<float>{3, 12, 27, 48}));
}

}  // namespace misuse

TEST(Misuse, LibraryIsUsableAtFirst) { misuse::check_still_usable(); }
