#include "both_devices.hpp"
#include "operations/launches.hpp"

// linear() with an activation on a GPU: one launch, and one for the gradients of weights and bias.
namespace linear_test {

using namespace nax;
using namespace both_devices;
using nn::Activation;
using A = Array<float>;

constexpr Activation activations[] = {Activation::identity, Activation::relu, Activation::gelu};

template <class T>
Array<T> numbers(const Shape& shape, int seed) {
  const int n = static_cast<int>(detail::count_elements("numbers", shape));
  return Array<T>(sin(waves(n) * 5 + static_cast<float>(seed)).template astype<T>()).reshape(shape);
}
// x w + b by the functions that it is made of.
template <class T>
Array<T> plain(const Array<T>& x, const Array<T>& w, const Array<T>& b, Activation activation) {
  const Array<T> z = matmul(x, w) + b;
  return activation == Activation::relu   ? Array<T>(nn::relu(z))
         : activation == Activation::gelu ? Array<T>(nn::gelu(z))
                                          : z;
}

template <class T>
void expect_like_plain(const Shape& x_shape, std::int64_t n, double tolerance) {
  const Array<T> x = numbers<T>(x_shape, 1), w = numbers<T>({x_shape[x_shape.size() - 1], n}, 2),
                 b = numbers<T>({n}, 3);
  for (const Activation activation : activations) {
    SCOPED_TRACE(static_cast<int>(activation));
    const auto of = [&](const auto& f) {
      return [=](const Array<T>& x, const Array<T>& w, const Array<T>& b) {
        const Array<T> y = f(x, w, b, activation);
        return Array<T>(sum(y * y + y));
      };
    };
    const auto linear = of([](auto&&... a) { return nn::linear(a...); });
    const auto separate = of([](auto&&... a) { return plain<T>(a...); });
    const auto put = [](const auto& a) { return device_put(eval(a), gpu()); };
    expect_near(nn::linear(put(x), put(w), put(b), activation), plain(x, w, b, activation), tolerance);
    const auto actual = grad<0, 1, 2>(linear)(put(x), put(w), put(b)),
               expected = grad<0, 1, 2>(separate)(x, w, b);
    expect_near(std::get<0>(actual), std::get<0>(expected), tolerance);
    expect_near(std::get<1>(actual), std::get<1>(expected), tolerance);
    expect_near(std::get<2>(actual), std::get<2>(expected), tolerance);
    expect_near(grad<2>(linear)(put(x), put(w), put(b)), std::get<2>(expected), tolerance);
    expect_near(grad<1>(linear)(put(x), put(w), put(b)), std::get<1>(expected), tolerance);
  }
}

TEST(LinearOnGpu, ValuesAndGradientsAreThoseOfItsParts) {
  expect_like_plain<float>({5, 7}, 8, 1e-5);
  expect_like_plain<float>({2, 3, 7}, 5, 1e-5);
  expect_like_plain<float>({0, 7}, 5, 1e-5);
  expect_like_plain<float>({1, 1}, 1, 1e-5);
  expect_like_plain<double>({5, 7}, 8, 1e-12);
  expect_like_plain<nax::half>({4, 8}, 8, 2e-2);
  expect_like_plain<bfloat16>({4, 8}, 16, 1e-1);
}

TEST(LinearOnGpu, IsOneLaunchAndItsParametersGradientsAreOne) {
  const auto put = [](const A& a) { return device_put(eval(a), gpu()); };
  const A x = put(numbers<float>({6, 8}, 1)), w = put(numbers<float>({8, 16}, 2)),
          b = put(numbers<float>({16}, 3)), g = put(numbers<float>({6, 16}, 4));
  for (const Activation activation : activations) {
    const auto f = [=](const A& w, const A& b) { return nn::linear(x, w, b, activation); };
    expect_launches(1, [&] { f(w, b); });
    const auto [y, pullback] = vjp(f, w, b);
    expect_launches(activation == Activation::identity ? 1 : 2, [&, &pull = pullback] { pull(g); });
  }
}

TEST(LinearOnGpu, UnderTransforms) {
  for (const Activation activation : activations) {
    SCOPED_TRACE(static_cast<int>(activation));
    const auto f = [=](const A& x, const A& w, const A& b) { return nn::linear(x, w, b, activation); };
    const auto x = [] { return numbers<float>({3, 4, 5}, 1); };
    const auto w = [] { return numbers<float>({5, 6}, 2); };
    const auto b = [] { return numbers<float>({6}, 3); };
    expect_same(
        [&](auto put) {
          return vmap(f, {.in_axes = {0, none, none}})(put(x()), put(w()), put(b()));
        },
        1e-5);
    const auto loss = [=](const A& x, const A& w, const A& b) { return A(sum(square(f(x, w, b)))); };
    expect_same(
        [&](auto put) {
          return vmap(grad<1>(loss), {.in_axes = {0, none, none}})(put(x()), put(w()), put(b()));
        },
        1e-5);
    expect_same(
        [&](auto put) {
          return grad<2>([&](const A& x, const A& w, const A& b) {
            return A(sum(vmap(loss, {.in_axes = {0, none, none}})(x, w, b)));
          })(put(x()), put(w()), put(b()));
        },
        1e-5);
    expect_same(
        [&](auto put) {
          return hessian([&, x = put(x())(0), w = put(w())](const A& b) { return loss(x, w, b); })(put(b()));
        },
        1e-4);
    expect_same(
        [&](auto put) {
          return grad([&, x = put(x())(0), b = put(b())](const A& w) {
            return A(sum(square(grad([&](const A& v) { return loss(x, v, b); })(w))));
          })(put(w()));
        },
        1e-3);
    expect_same(
        [&](auto put) {
          return jacfwd([&, x = put(x())(0), w = put(w())](const A& b) { return f(x, w, b); })(put(b()));
        },
        1e-5);
    expect_same(
        [&](auto put) {
          const A one = put(x())(0);
          return jvp(f, std::tuple{one, put(w()), put(b())}, std::tuple{one, put(w()), put(b())}).second;
        },
        1e-5);
  }
}

// y + x w + b, where y and x come from one array.
template <class T>
void expect_added_like_plain(const Shape& shape, double tolerance) {
  using B = Array<T>;
  const std::int64_t n = shape[shape.size() - 1];
  const B x = numbers<T>(shape, 1), w = numbers<T>({n, n}, 2), b = numbers<T>({n}, 3);
  const auto put = [](const B& a) { return device_put(eval(a), gpu()); };
  const auto joined = [](const B& x, const B& w, const B& b) { return nn::add_linear(x, B(tanh(x)), w, b); };
  const auto plain = [](const B& x, const B& w, const B& b) { return B(x + matmul(B(tanh(x)), w) + b); };
  const auto of = [](const auto& f) {
    return [=](const B& x, const B& w, const B& b) {
      const B y = f(x, w, b);
      return B(sum(y * y + y));
    };
  };
  expect_near(joined(put(x), put(w), put(b)), plain(x, w, b), tolerance);
  const auto actual = grad<0, 1, 2>(of(joined))(put(x), put(w), put(b)),
             expected = grad<0, 1, 2>(of(plain))(x, w, b);
  expect_near(std::get<0>(actual), std::get<0>(expected), tolerance);
  expect_near(std::get<1>(actual), std::get<1>(expected), tolerance);
  expect_near(std::get<2>(actual), std::get<2>(expected), tolerance);
}
TEST(LinearOnGpu, AddsAnArray) {
  expect_added_like_plain<float>({5, 8}, 1e-5);
  expect_added_like_plain<float>({2, 3, 7}, 1e-5);
  expect_added_like_plain<float>({0, 7}, 1e-5);
  expect_added_like_plain<float>({1, 1}, 1e-5);
  expect_added_like_plain<double>({5, 7}, 1e-12);
  expect_added_like_plain<nax::half>({4, 8}, 5e-2);
  expect_added_like_plain<bfloat16>({4, 16}, 5e-1);
}

TEST(LinearOnGpu, AddsAnArrayInItsLaunch) {
  const auto put = [](const A& a) { return device_put(eval(a), gpu()); };
  const A x = put(numbers<float>({2, 6, 8}, 1)), w = put(numbers<float>({8, 8}, 2)),
          b = put(numbers<float>({8}, 3)), y = put(numbers<float>({2, 6, 8}, 4));
  expect_launches(1, [&] { nn::add_linear(y, x, w, b); });
  const auto [z, pullback] = vjp([](auto&&... a) { return nn::add_linear(a...); }, y, x, w, b);
  // The gradients of w and b, and that of x; y's is the cotangent.
  expect_launches(2, [&, &pull = pullback] { pull(y); });
}

TEST(LinearOnGpu, AddsAnArrayUnderTransforms) {
  const auto f = [](const A& y, const A& w, const A& b) { return nn::add_linear(y, A(sin(y)), w, b); };
  const auto y = [] { return numbers<float>({3, 4, 5}, 1); };
  const auto w = [] { return numbers<float>({5, 5}, 2); };
  const auto b = [] { return numbers<float>({5}, 3); };
  const auto loss = [=](const A& y, const A& w, const A& b) { return A(sum(square(f(y, w, b)))); };
  expect_same(
      [&](auto put) {
        return vmap(f, {.in_axes = {0, none, none}})(put(y()), put(w()), put(b()));
      },
      1e-5);
  expect_same(
      [&](auto put) {
        return vmap(grad(loss), {.in_axes = {0, none, none}})(put(y()), put(w()), put(b()));
      },
      1e-4);
  expect_same(
      [&](auto put) {
        return jacrev([&, w = put(w()), b = put(b())](const A& y) { return f(y, w, b); })(put(y())(0));
      },
      1e-5);
  expect_same(
      [&](auto put) {
        return hessian([&, w = put(w()), b = put(b())](const A& y) { return loss(y, w, b); })(put(y())(0));
      },
      1e-3);
  expect_same(
      [&](auto put) {
        const A one = put(y())(0);
        return jvp(f, std::tuple{one, put(w()), put(b())}, std::tuple{one, put(w()), put(b())}).second;
      },
      1e-5);
  // Arrays that are broadcast or do not lie row by row.
  expect_same(
      [&](auto put) {
        return nn::add_linear(A(put(numbers<float>({5}, 4))), A(put(y())(0)), put(w()), put(b()));
      },
      1e-5);
  expect_same(
      [&](auto put) {
        return nn::add_linear(A(put(numbers<float>({5, 4}, 4)).T()), A(put(y())(0)), put(w()), put(b()));
      },
      1e-5);
  expect_same_error<ShapeError>([&](auto put) {
    return nn::add_linear(put(zeros<float>({3, 5})), put(zeros<float>({2, 5})), put(w()), put(b()));
  });
}

TEST(LinearOnGpu, OfViewsAndErrors) {
  for (const Activation activation : activations) {
    expect_same(
        [&](auto put) {
          return nn::linear(put(numbers<float>({7, 4}, 1)).T(), put(numbers<float>({6, 7}, 2)).T(),
                            put(numbers<float>({12}, 3))(slice(0, 12, 2)), activation);
        },
        1e-5);
    expect_same(
        [&](auto put) {
          return nn::linear(broadcast_to(put(numbers<float>({7}, 1)), {4, 7}), put(numbers<float>({7, 6}, 2)),
                            put(numbers<float>({6}, 3)), activation);
        },
        1e-5);
    expect_same_error<ShapeError>([&](auto put) {
      return nn::linear(put(zeros<float>({2, 3})), put(zeros<float>({4, 5})), put(zeros<float>({5})),
                        activation);
    });
    expect_same_error<ShapeError>([&](auto put) {
      return nn::linear(put(zeros<float>({2, 3})), put(zeros<float>({3, 5})), put(zeros<float>({4})),
                        activation);
    });
  }
}

TEST(LinearOnGpu, OfIntegersIsFloating) {
  const Array<int> x = {{1, 2}, {3, 4}}, b = {-20, 1};
  const A y = nn::linear(x, x, b, Activation::relu);
  expect_near(y, A{{0, 11}, {0, 23}}, 0);
}

}  // namespace linear_test
