#include "lax/programs.hpp"

#include <gtest/gtest.h>

#include "nax/numpy/indexing/indexing.hpp"
#include "nax/numpy/reductions/sum.hpp"
#include "nax/transform.hpp"
#include "support/compare.hpp"
#include "support/four_devices.hpp"

namespace lax_programs {
using namespace nax;

void check(const char* name, const Program& f, bool forward_only) {
  const auto record = [&](const char* what) -> const golden::Golden& {
    return golden::get("lax", std::string(name) + "/" + what);
  };
  const auto expect = [&](const char* what, const A& got) {
    EXPECT_TRUE(compare::close(got, record(what), 1e-10)) << name << "/" << what;
  };
  const A x = compare::array_of<double>(record("in")), batch = compare::array_of<double>(record("batch")),
          t = compare::array_of<double>(record("tangent"));
  const auto along = [&](const A& a, const A& b) { return jvp(f, std::tuple{a}, std::tuple{b}).second; };
  expect("value", f(x));
  expect("jvp", along(x, t));
  expect("vmap", vmap(f)(batch));
  expect("vmap_jvp", vmap(along)(batch, batch(slice(_, _, -1))));
  expect("jacfwd", jacfwd(f)(x));
  expect(forward_only ? "jacfwd" : "grad", grad(f)(x));
  expect(forward_only ? "jacfwd" : "grad", grad(checkpoint(f))(x));
  if (forward_only) return;
  expect("vmap_grad", vmap(grad(f))(batch));
  expect("grad_vmap", grad([&](const A& all) { return A(sum(vmap(f)(all))); })(batch));
  expect("hessian", hessian(f)(x));
  expect("hessian", jacrev([&](const A& a) { return grad(checkpoint(f))(a); })(x));
  expect("vmap_grad", pmap(grad(f))(batch));
}

}  // namespace lax_programs
