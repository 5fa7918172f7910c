#include <gtest/gtest.h>

#include <cmath>
#include <nax/nax.hpp>

// Losses with the values of optax 0.2.8, in double.
namespace more_losses_test {
using namespace nax;
using A = Array<double>;

const A x = {{.5, -1, 2}, {0, .3, -.7}}, y = {{.2, .3, .5}, {0, 1, 0}};
const A truth = {{0, 1, 1}, {0, 1, 0}}, turned = {{0, .3, -.7}, {.5, -1, 2}};

void expect(const A& got, const A& want) {
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_LT(max(abs(got - want)).item(), 1e-9) << got;
}

TEST(Losses, OfClasses) {
  const A log_p = nn::log_softmax(x);
  expect(nn::smooth_labels(y, .1), A{{.21333333333333335, .30333333333333334, .48333333333333334},
                                     {.03333333333333333, .9333333333333333, .03333333333333333}});
  expect(nn::kl_divergence(log_p, y), A{.4116582825925835, .7460705350576003});
  expect(nn::kl_divergence_with_log_targets(log_p, A(nn::log_softmax(turned))),
         A{1.1650403195656869, .9626700826096128});
  expect(nn::sigmoid_focal_loss(x, truth), A{{.3774116008594097, .701868303411385, .0018035628352403748},
                                             {.17328679513998632, .10039327548859708, .04439052374130767}});
  expect(nn::sigmoid_focal_loss(x, truth, {.alpha = .3, .gamma = 1.5}),
         A{{.33485577592884375, .24626392431161653, .001567144639673723},
           {.17154517510699577, .046168606111748965, .053943871963032436}});
  EXPECT_THROW(nn::smooth_labels(A(1.), .1), ValueError);
}

TEST(Losses, OfUnsignedLabels) {
  const A logits = {-2, 0, 3};
  expect(nn::sigmoid_binary_cross_entropy(logits, Array<std::uint8_t>{1, 0, 1}),
         nn::sigmoid_binary_cross_entropy(logits, A{1, 0, 1}));
}

TEST(Losses, OfClassesThatAreSure) {
  // The probability of being wrong is exp(-40), to a power below 1.
  const auto loss = [](const A& v) { return A(sum(nn::sigmoid_focal_loss(v, A{1, 0}, {.gamma = .5}))); };
  const A sure = {40, -40};
  EXPECT_NEAR(loss(sure).item() * std::exp(60.), 2, 1e-9);
  expect(A(grad(loss)(sure) * std::exp(60.)), A{-1.5, 1.5});
}

TEST(Losses, OfErrorsAndCounts) {
  expect(nn::hinge_loss(x, A{{-1, 1, 1}, {-1, 1, -1}}), A{{1.5, 2, 0}, {1, .7, .3}});
  expect(nn::log_cosh(x, y), A{{.04434076992594038, .6784975114077246, .8554401710137968},
                               {0, .2272702293585056, .2272702293585056}});
  EXPECT_NEAR(A(nn::log_cosh(A(800.), A(0.))).item(), 800 - std::log(2.), 1e-12);
  expect(nn::poisson_loss(x, A(2.)), A(exp(x) - 2 * x));
}

TEST(Losses, HaveGradientsWhereTheyBend) {
  const A g = grad([](const A& t) { return A(sum(nn::kl_divergence(A(nn::log_softmax(x)), t))); })(y);
  for (const double v : g.reshape({-1}).to_vector()) EXPECT_TRUE(std::isfinite(v));
  const A zero = grad([](const A& v) { return A(sum(nn::cosine_similarity(v, y))); })(zeros<double>({2, 3}));
  for (const double v : zero.reshape({-1}).to_vector()) EXPECT_TRUE(std::isfinite(v));
}

TEST(Losses, OfClassesByPolynomials) {
  expect(nn::poly_loss_cross_entropy(x, y), A{2.562130561249454, 1.7976178307271153});
}

TEST(Losses, OfEmbeddings) {
  expect(nn::cosine_similarity(x, y), A{.566393860323831, .3939192985791677});
  expect(nn::cosine_distance(x, y, {.epsilon = .1}), A{.433606139676169, .6060807014208323});
  expect(nn::triplet_margin_loss(x, y, turned), A{0, 0});
  // (optax takes odd powers of signed differences.)
  expect(nn::triplet_margin_loss(x, y, turned, {.norm_degree = 1, .margin = 4}), A{2.6, .9});
  const A e = {{1, 2}, {1.5, 1}, {-1, .5}, {-.5, 1}, {2, -1}};
  expect(nn::ntxent(e, Array<int>{0, 0, 1, 1, 2}, {.temperature = .5}), A(.5433522938065135));
  EXPECT_THROW(nn::ntxent(e, Array<int>{0, 0}), ShapeError);
  // At low temperatures a pair's loss is how far the greatest other score is above its own.
  const auto low = [](const A& v) { return nn::ntxent(v, Array<int>{0, 0, 1}, {.temperature = 1e-4}); };
  const A apart = {{1, 0}, {0, 1}, {0, 1}};
  expect(low(apart), A(.5 * (1e4 + std::log(2.))));
  for (const double v : A(grad(low)(apart)).reshape({-1}).to_vector()) EXPECT_TRUE(std::isfinite(v));
}

TEST(Losses, OfAlignments) {
  const A logits = sin(arange<double>(40).reshape({2, 5, 4}) * 1.3);
  const A ended = {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 1}}, absent = {{0, 0, 0}, {0, 0, 1}};
  const Array<int> labels = {{1, 2, 2}, {3, 1, 0}};
  expect(nn::ctc_loss(logits, ended, labels, absent), A{5.33303251772469, 5.149572212558234});
  expect(nn::ctc_loss(logits, ended, A(labels.astype<double>()).astype<int>()(ellipsis, slice(0, 1)),
                      A(absent(ellipsis, slice(0, 1))), {.blank_id = 2}),
         A{5.352692165553717, 3.4337060411372216});
  const A g = grad([&](const A& l) { return A(sum(nn::ctc_loss(l, ended, labels, absent))); })(logits);
  expect(A(g(1, 1)), A{-.15545752239216293, .22461624199869482, .34204087418593787, -.4111995937924696});
  // By all alignments of one label with two steps.
  const A two = {{{.3, -.2, .5}, {1, 0, -1}}};
  const A p = nn::softmax(two);
  const double all = (p(0, 0, 1) * p(0, 1, 1) + p(0, 0, 0) * p(0, 1, 1) + p(0, 0, 1) * p(0, 1, 0)).item();
  expect(nn::ctc_loss(two, zeros<double>({1, 2}), Array<int>{{1}}, zeros<double>({1, 1})), A{-std::log(all)});
  EXPECT_THROW(nn::ctc_loss(logits, ended, labels, ended), ShapeError);
  EXPECT_THROW(nn::ctc_loss(logits, ended, labels, absent, {.blank_id = 4}), ValueError);
}

TEST(Losses, OfClassesWithoutProbability) {
  const double inf = INFINITY;
  const A log_p = {-inf, std::log(.5), std::log(.5)}, t = {0, .25, .75},
          log_t = {-inf, std::log(.25), std::log(.75)};
  const double want = .25 * std::log(.5) + .75 * std::log(1.5);
  const auto check = [&](const auto& f, const A& targets) {
    EXPECT_NEAR(f(log_p, targets).item(), want, 1e-15);
    EXPECT_NEAR(jit(f)(log_p, targets).item(), want, 1e-15);
    const auto [of_p, of_t] = grad<0, 1>(f)(log_p, targets);
    expect(of_p, A{0, -.25, -.75});
    for (const double v : of_t.to_vector()) EXPECT_TRUE(std::isfinite(v)) << v;
  };
  check([](const A& p, const A& t) { return nn::kl_divergence(p, t); }, t);
  check([](const A& p, const A& t) { return nn::kl_divergence_with_log_targets(p, t); }, log_t);
  // The derivative at a target of 0 is that of optax, and a class that cannot be has an infinite loss.
  const A p = {std::log(.2), std::log(.3), std::log(.5)};
  EXPECT_NEAR(grad([&](const A& t) { return nn::kl_divergence(p, t); })(t)(0).item(), -std::log(.2), 1e-15);
  EXPECT_EQ(nn::kl_divergence(log_p, A{.5, .25, .25}).item(), inf);
  const auto narrow = log_p.astype<bfloat16>();
  EXPECT_NEAR(static_cast<float>(nn::kl_divergence(narrow, t.astype<bfloat16>()).item()), want, 1e-2);
}

TEST(Losses, OfAlignmentsWithAnyPadding) {
  const A logits = sin(arange<double>(40).reshape({2, 5, 4}) * 1.3), ended = zeros<double>({2, 5});
  const A absent = {{0, 0, 1}, {0, 1, 1}};
  const auto loss = [&](const Array<int>& labels) {
    return [&, labels](const A& l) { return A(sum(nn::ctc_loss(l, ended, labels, absent))); };
  };
  const auto plain = loss({{1, 2, 0}, {3, 0, 0}});
  for (const auto& padded : {loss({{1, 2, -1}, {3, -100, 77}}), loss({{1, 2, 2}, {3, 3, 1}})}) {
    EXPECT_EQ(padded(logits).item(), plain(logits).item());
    EXPECT_EQ(jit(padded)(logits).item(), jit(plain)(logits).item());
    expect(grad(padded)(logits), grad(plain)(logits));
  }
  // bfloat16 counts to 256.
  const Array<bfloat16> many = zeros<bfloat16>({1, 400, 2});
  const auto aligned =
      nn::ctc_loss(many, zeros<bfloat16>({1, 400}), full<int>({1, 300}, 1),
                   concatenate(std::vector{zeros<bfloat16>({1, 1}), ones<bfloat16>({1, 299})}, {.axis = 1}));
  EXPECT_TRUE(static_cast<float>(aligned.item()) > 200 && static_cast<float>(aligned.item()) < 300);
}

}  // namespace more_losses_test
