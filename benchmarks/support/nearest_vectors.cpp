// nearest_vectors [n [ef_construction]]: exact and approximate search among n clustered vectors of 384
// numbers. Prints a row for each `ef`: recall of the ten nearest, milliseconds a query, and how much longer
// the exact search takes.
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "nax/neighbours.hpp"
#include "nax/numpy.hpp"
#include "nax/random.hpp"

using namespace nax;

namespace {

constexpr std::int64_t d = 384, m = 1000, k = 10;

template <class F>
double seconds(const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  static_cast<void>(f());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
template <class F>
double least_seconds(const F& f) {
  double least = seconds(f);
  for (int turn = 0; turn < 2; ++turn) least = std::min(least, seconds(f));
  return least;
}
// Around 1000 centres, about as far apart in a cluster as half the distance of two clusters.
Array<float> clustered(int seed, const Array<float>& centres, std::int64_t n) {
  const random::Key keys = random::split(random::key(seed), Shape{2});
  const Array<int> labels = random::randint(keys[0], {n}, 0, static_cast<int>(centres.shape(0)));
  return take(centres, labels, {.axis = 0}) + 0.7f * random::normal<float>(keys[1], {n, d});
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 100000,
                     ef_construction = argc > 2 ? std::atoll(argv[2]) : 100;
  const Array<float> centres = random::normal<float>(random::key(0), {1000, d}), x = clustered(1, centres, n),
                     q = clustered(2, centres, m);
  neighbours::Neighbours<float> exact, found;
  const double whole =
      least_seconds([&] { exact = neighbours::nearest(x, q, {.k = k, .metric = "cosine"}); });
  const double alone = least_seconds([&] {
    for (int i = 0; i < 10; ++i)
      neighbours::nearest(x, Array<float>(q(slice(i, i + 1))), {.k = k, .metric = "cosine"});
  });
  std::cout << n << " vectors, " << num_threads() << " threads\nexact: " << whole / m * 1e3 << " ms of " << m
            << " queries, " << alone / 10 * 1e3 << " ms alone\n";
  neighbours::Hnsw index(d, {.metric = "cosine", .ef_construction = ef_construction});
  std::cout << "built in " << seconds([&] { index.add(x); }) << " s\n";
  for (const std::int64_t ef : {10, 16, 24, 32, 48, 64, 128, 256}) {
    const double took = least_seconds([&] { found = index.query(q, {.k = k, .ef = ef}); });
    const Array<bool> same = expand_dims(found.indices, 2) == expand_dims(exact.indices, 1);
    std::cout << "ef " << ef << ": recall " << mean(any(same, {.axis = 2}).astype<double>()).item() << ", "
              << took / m * 1e3 << " ms, " << whole / took << " times\n";
  }
}
