#include "composition/programs.hpp"

namespace composition::jacobian_test {

TEST_F(Composition, jacfwd_jacrev_grad) { expect(jacfwd(jacrev(grad(bowl)))(in(0))); }  // third derivatives

TEST_F(Composition, jacrev_jacfwd_grad) { expect(jacrev(jacfwd(grad(bowl)))(in(0))); }

TEST_F(Composition, vmap_hessian_checkpoint) { expect(vmap(hessian(checkpoint(bowl)))(in(0))); }

TEST_F(Composition, grad_hessian_checkpoint) {
  expect(grad([](const A& x) { return sum(square(hessian(checkpoint(bowl))(x))); })(in(0)));
}

TEST_F(Composition, hessian_vmap_checkpoint) {  // of a 4 by 2 array: (4, 2, 4, 2)
  const A w = in(1);
  auto of_row = checkpoint([&](const A& row) { return energy(w, row); });
  expect(hessian([&](const A& x) { return square(sum(vmap(of_row)(x))); })(in(0)));
}

TEST_F(Composition, grad_vmap_hessian) {
  const A x = in(1);
  auto loss = [&](const A& w) { return sum(vmap(hessian([&](const A& row) { return bowl(w * row); }))(x)); };
  expect(grad(loss)(in(0)));
}

TEST_F(Composition, vmap_jacrev_vmap) {
  const A x = in(1);
  expect(vmap(jacrev([&](const A& row) { return vmap(wave)(row * x); }))(in(0)));
}

TEST_F(Composition, vmap_jacfwd_jacrev_checkpoint) {
  const A w = in(1);
  expect(vmap(jacfwd(jacrev(checkpoint([&](const A& row) { return layer(w, row); }))))(in(0)));
}

TEST_F(Composition, hessian_checkpoint_vmap) {  // softmax regression
  const A x = in(1), y = in(2);
  auto loss = checkpoint([&](const A& w) { return mean(vmap(error, {.in_axes = {none, 0, 0}})(w, x, y)); });
  expect(hessian(loss)(in(0)));
}

TEST_F(Composition, jacrev_argnums_jvp_custom_jvp) {
  auto pushed = [](const A& x, const A& y) {
    return jvp([&](const A& y) { return product(sin(x), y) * x; }, std::tuple(y), std::tuple(x)).second;
  };
  const A x = in(0), y = in(1);
  expect(std::pair(jacrev<0>(pushed)(x, y), jacrev<1>(pushed)(x, y)));
}

TEST_F(Composition, hessian_custom_jvp_vmap) {
  expect(hessian([](const A& x) { return square(sum(vmap([](const A& a) { return bent(a) * a; })(x))); })(
      in(0)));
}

}  // namespace composition::jacobian_test
