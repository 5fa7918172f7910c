#include <cstdio>

#include "faults/every_allocation.hpp"

namespace arrays_test {

using namespace faults;
using F = Array<float>;

const F x = {{3, 1, 2}, {9, 7, 8}, {4, 6, 5}};
const Array<int> at = {2, 0};

TEST(Faults, Sorting) {
  fail_each_allocation([] {
    const auto u = unique_all(x);
    return found(sort(x), argsort(x, {.axis = 0}), u.values, u.counts, nonzero(x > 4.f)[1], quantile(x, .3));
  });
}
TEST(Faults, Indexing) {
  fail_each_allocation([] {
    return found(x(slice(1, _), at), take(x, at, {.axis = 1}), x.at(at).set(0.f), x.at(1, _).add(2.f),
                 F(where(x > 2.f, x, -x)), x(x > 4.f));
  });
}
TEST(Faults, Joining) {
  fail_each_allocation([] {
    return found(concatenate({x, x}, {.axis = 1}), stack({x, x}), split(x, 3)[1], tile(x, {2, 2}), pad(x, 1),
                 repeat(x, 2), roll(x, 1));
  });
}
TEST(Faults, Linalg) {
  fail_each_allocation([] {
    const Array<double> a = {{4, 1, 0}, {1, 3, 1}, {0, 1, 2}}, b = {1, 2, 3};
    return found(linalg::solve(a, b), linalg::cholesky(a), linalg::inv(a), linalg::det(a),
                 einsum("ij,jk,k->i", a, a, b), matmul(a, b), linalg::norm(a));
  });
}
TEST(Faults, Scans) {
  fail_each_allocation(
      [] { return found(cumsum(x, {.axis = 0}), diff(x), var(x), argmax(x), logsumexp(x), nn::softmax(x)); });
}
TEST(Faults, Random) {
  fail_each_allocation([] {
    const auto [a, b] = random::split(random::key(0));
    return found(random::normal<float>(a, {3, 2}), random::permutation(b, 5), random::choice(b, x, {2}));
  });
}
TEST(Faults, Printing) {
  fail_each_allocation([] {
    return found(x, at, Array<bool>(x > 2.f), arange(3000.f), Array<std::complex<float>>{{1, 2}, {3, 4}});
  });
}
TEST(Faults, Files) {
  const std::string path = testing::TempDir() + "nax_faults.npz";
  const std::map<std::string, F> tree = {{"a", x}, {"b", F(x * 2.f)}};
  fail_each_allocation([&] {
    io::save(path, tree);
    auto back = tree;
    io::load(path, back);
    return found(back.at("a"), back.at("b"));
  });
  std::remove(path.c_str());
}
TEST(Faults, ManyThreads) {
  const F large = broadcast_to(F{1, 2, 3, 4}, {100000, 4});
  fail_each_allocation(
      [&] { return found(F(sum(exp(large * .25f), {.axis = 0})), F(sum(matmul(transpose(large), large)))); });
}
TEST(Faults, MemoryOfArrays) {
  fail_each_step_of_memory([] {
    const F y = broadcast_to(x, {200, 3, 3});
    return found(F(sum(sort(y, {.axis = 0}))), F(sum(concatenate({y, y}))), F(sum(y.at(3).set(1.f))),
                 F(sum(cumsum(y))), F(sum(matmul(y, y))));
  });
}

}  // namespace arrays_test
