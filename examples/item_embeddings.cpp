// Embeddings of items by negative sampling (Mikolov and others, 2013) from a log of baskets. Items bought
// together get vectors of one direction. Nearest neighbours are then found exactly, by a product and top_k.
//
//   item_embeddings --baskets log.txt --neighbours tea      # a basket a line: names with spaces between
//   item_embeddings --items 1000000 --steps 0               # only how long the search takes
//
// Without --baskets they are drawn, from groups of 20 items each; after 2000 steps, 4 s, all ten neighbours
// of the items asked are of their own groups. The ten nearest among a million are found in 4 ms an item, 64
// at a time, on two cores; peers/item_embeddings.py, the same in JAX, takes 11 ms there.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "support/training.hpp"

using nax::Array, nax::_, nax::slice;
using nax::random::fold_in;
namespace nn = nax::nn;

struct Tables {
  Array<float> items, contexts;  // (items, features): an item's vector, and that for being beside another
};

// Minus the mean log-probability that each pair (N, 2) is told from the item with `others` (N, K), drawn
// ones.
Array<float> loss(const Tables& tables, const Array<int>& pairs, const Array<int>& others) {
  const Array<float> item = nn::embedding(tables.items, pairs(_, 0));
  const Array<float> together = nax::sum(item * nn::embedding(tables.contexts, pairs(_, 1)), {.axis = -1});
  const Array<float> apart = nax::einsum("nf,nkf->nk", item, nn::embedding(tables.contexts, others));
  return nax::mean(nn::softplus(-together) + nax::sum(nn::softplus(apart), {.axis = -1}));
}

struct Baskets {
  std::vector<std::string> names;
  Array<int> pairs;  // (N, 2): items that were in one basket, all items of it with all others
  std::vector<int> groups;
};

struct Names {
  std::vector<std::string> all;
  std::unordered_map<std::string, int> numbers;
  int number(const std::string& name) {
    const auto [place, fresh] = numbers.try_emplace(name, static_cast<int>(all.size()));
    if (fresh) all.push_back(name);
    return place->second;
  }
};

void add_pairs(std::vector<int>& pairs, const std::vector<int>& basket) {
  for (const int a : basket)
    for (const int b : basket)
      if (a != b) pairs.push_back(a), pairs.push_back(b);
}

Baskets read_baskets(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw nax::IoError("--baskets: cannot read " + path);
  Names names;
  std::vector<int> pairs;
  for (std::string line; std::getline(in, line);) {
    std::vector<int> basket;
    std::istringstream words(line);
    for (std::string word; words >> word;) basket.push_back(names.number(word));
    add_pairs(pairs, basket);
  }
  if (pairs.empty()) throw nax::ValueError("--baskets: no line has two items");
  return {names.all, nax::array(pairs).reshape({-1, 2}), {}};
}

// Baskets of six items: five from one of the groups, of 20 items each, and one from anywhere.
Baskets draw_baskets(const nax::random::Key& key, std::int64_t items, std::int64_t baskets) {
  const auto keys = nax::random::split(key, 4);
  const int groups = static_cast<int>(items / 20);
  const Array<int> order = nax::random::permutation(keys[0], items).astype<int>();
  const Array<int> group = nax::random::randint<int>(keys[1], {baskets, 1}, 0, groups);
  const Array<int> own = order(group * 20 + nax::random::randint<int>(keys[2], {baskets, 5}, 0, 20));
  const Array<int> any = nax::random::randint<int>(keys[3], {baskets, 1}, 0, static_cast<int>(items));
  const std::vector<int> all = Array<int>(nax::concatenate({own, any}, {.axis = 1})).to_vector();
  Baskets made;
  std::vector<int> pairs;
  for (auto at = all.begin(); at != all.end(); at += 6) add_pairs(pairs, std::vector<int>(at, at + 6));
  made.pairs = nax::array(pairs).reshape({-1, 2});
  made.groups.resize(static_cast<std::size_t>(items), groups);  // what is left over is in no group
  const std::vector<int> places = order.to_vector();
  for (int i = 0; i < 20 * groups; ++i) made.groups[places[i]] = i / 20;
  for (std::int64_t i = 0; i < items; ++i) made.names.push_back("item" + std::to_string(i));
  return made;
}

// The k nearest of all rows by cosine, to the rows of these numbers, themselves left out: (N, k). `unit` has
// rows of length 1.
Array<int> nearest(const Array<float>& unit, const Array<int>& numbers, std::int64_t k) {
  const Array<int> found = nax::top_k(nax::matmul(unit(numbers), unit.T()), k + 1).indices;
  // The item itself goes behind all others, which stay in their order.
  const auto self = (found == nax::expand_dims(numbers, 1)).astype<int>();
  const Array<int> order = nax::argsort(self, {.axis = -1});
  return Array<int>(nax::take_along_axis(found, order, -1))(_, slice(0, k));
}

int main(int argc, char** argv) {
  examples::Training options{.steps = 2000, .batch_size = 1024, .lr = 0.02};
  std::int64_t items = 2000, features = 64, baskets = 50000, negatives = 5;
  std::string file, of;
  CLI::App app("embeddings of items that are bought together");
  options.add_to(app);
  app.add_option("--baskets", file, "log: names of items, a basket a line; without, baskets are drawn");
  app.add_option("--items", items, "of drawn baskets")->check(CLI::Range(20, 10000000));
  app.add_option("--count", baskets, "of drawn baskets")->check(CLI::Range(1, 10000000));
  app.add_option("--features", features, "of a vector")->check(CLI::PositiveNumber);
  app.add_option("--negatives", negatives, "drawn items for each pair")->check(CLI::PositiveNumber);
  app.add_option("--neighbours", of, "print the nearest of this item");
  CLI11_PARSE(app, argc, argv);
  try {
    const auto devices = options.open();
    examples::Log log(options.log);
    const auto keys = nax::random::split(nax::random::key(options.seed), 4);
    const Baskets data = file.empty() ? draw_baskets(keys[0], items, baskets) : read_baskets(file);
    items = static_cast<std::int64_t>(data.names.size());

    const auto optimizer = nax::optim::adam(nax::optim::cosine_decay_schedule(options.lr, options.steps + 1));
    const auto step = nax::optim::value_and_step(optimizer, loss, {.axis_name = "devices"});
    const Tables first{nax::random::normal<float>(keys[1], {items, features}) * 0.1f,
                       nax::zeros<float>({items, features})};
    examples::OnDevices train(devices, std::pair{first, optimizer.init(first)},
                              [=](auto state, const Array<int>& pairs, const Array<int>& others) {
                                auto [value, tables, memory] =
                                    step(std::move(state.first), std::move(state.second), pairs, others);
                                return std::pair{std::pair{tables, memory}, value};
                              });
    const int count = static_cast<int>(data.pairs.shape(0));
    double mean = 0;
    for (std::int64_t k = 0; k < options.steps; ++k) {
      // Negatives as often as they are in baskets.
      const auto draw = nax::random::split(fold_in(keys[2], k));
      const Array<int> rows = nax::random::randint<int>(draw[0], {options.batch_size}, 0, count);
      const Array<int> others =
          data.pairs(nax::random::randint<int>(draw[1], {options.batch_size, negatives}, 0, count), 0);
      const double value = train(data.pairs(rows), others);
      log.write({{"step", k + 1}, {"loss", value}});
      mean = k == 0 ? value : 0.98 * mean + 0.02 * value;
      if ((k + 1) % 500 == 0) std::printf("step %ld  loss %.4f\n", static_cast<long>(k + 1), mean);
    }

    const Array<float> vectors = train.state().first.items;
    const Array<float> unit = vectors / nax::linalg::norm(vectors, {.axis = 1, .keepdims = true});
    const std::int64_t some = std::min<std::int64_t>(items, 64), k = std::min<std::int64_t>(items - 1, 10);
    const Array<int> asked = nax::random::permutation(keys[3], items).astype<int>()(slice(0, some));
    const auto start = std::chrono::steady_clock::now();
    const Array<int> found = nearest(unit, asked, k);
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    std::printf("%ld nearest of %ld x %ld: %.3f ms an item\n", static_cast<long>(k), static_cast<long>(items),
                static_cast<long>(features), taken.count() / static_cast<double>(some));
    if (!data.groups.empty() && options.steps > 0) {
      const Array<int> group = nax::array(data.groups);
      const auto same = group(found) == nax::expand_dims(group(asked), 1);
      std::printf("of their own group: %.1f %%\n", 100 * nax::mean(same).item());
    }
    if (!of.empty()) {
      const auto place = std::find(data.names.begin(), data.names.end(), of);
      if (place == data.names.end()) throw nax::ValueError("--neighbours: there is no item " + of);
      const Array<int> self = {static_cast<int>(place - data.names.begin())};
      for (const int i : nearest(unit, self, k).to_vector())
        std::printf("%.3f %s\n", nax::dot(unit(i), unit(self(0))).item(), data.names[i].c_str());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "item_embeddings: %s\n", error.what());
    return 2;
  }
}
