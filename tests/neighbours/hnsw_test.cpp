#include "nax/modules/neighbours/hnsw.hpp"

#include <gtest/gtest.h>
#include <hnswlib/hnswlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "nax/core/thread_pool.hpp"
#include "nax/numpy.hpp"
#include "nax/random.hpp"
#include "nax/transform.hpp"
#include "support/refusal.hpp"

#if defined(__SANITIZE_THREAD__)
// Adding holds the vector's lock and takes those of others in any order. No two wait for each other: a
// vector that another waits for is linked on that level already, and is added to lower ones.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "detect_deadlocks=0"; }
#endif

namespace hnsw_test {
using namespace nax;
using neighbours::Hnsw;
using A = Array<float>;
using L = Array<std::int64_t>;

// Rows around 20 centres.
A clusters(int seed, std::int64_t n, std::int64_t d) {
  const random::Key keys = random::split(random::key(seed), Shape{2});
  const A centres = random::normal<float>(random::key(7), {20, d});
  const A near = take(centres, random::randint(keys[0], {n}, 0, 20), {.axis = 0});
  return near + 0.4f * random::normal<float>(keys[1], {n, d});
}
double recall(const L& found, const L& exact) {
  const Array<bool> same = expand_dims(found, 2) == expand_dims(exact, 1);
  return mean(any(same, {.axis = 2}).astype<double>()).item();
}
struct File {
  ~File() { std::filesystem::remove(path); }
  std::string path = testing::TempDir() + "nax_" + std::to_string(::getpid()) + ".hnsw";
  std::string content() const {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
};

TEST(Hnsw, FindsTheNearest) {
  const A x = clusters(1, 1500, 24), q = clusters(2, 50, 24);
  for (const char* metric : {"l2", "ip", "cosine"}) {
    SCOPED_TRACE(metric);
    Hnsw index(24, {.metric = metric, .ef_construction = 60});
    index.add(x(slice(0, 700)));
    index.add(x(slice(700, 1500)));
    EXPECT_EQ(index.size(), 1500);
    const auto exact = neighbours::nearest(x, q, {.k = 5, .metric = metric});
    const auto found = index.query(q, {.k = 5, .ef = 100});
    EXPECT_EQ(found.indices.shape(), (Shape{50, 5}));
    EXPECT_GT(recall(found.indices, exact.indices), 0.95);
    const auto all = neighbours::nearest(x, q, {.k = 1500, .metric = metric});
    const A apart = take_along_axis(all.distances, argsort(all.indices, {.axis = 1}), 1);
    EXPECT_TRUE(allclose(found.distances, A(take_along_axis(apart, found.indices.astype<int>(), 1)),
                         {.rtol = 1e-4, .atol = 1e-5}));
    EXPECT_TRUE(array_equal(found.distances, A(sort(found.distances))));
  }
}

TEST(Hnsw, OneThreadRepeatsTheGraph) {
  const ThreadLimit one(1);
  const A x = clusters(1, 400, 5), q = clusters(2, 20, 5);
  File first, second;
  second.path += "2";
  for (const File* file : {&first, &second}) {
    Hnsw index(5, {.M = 4, .ef_construction = 10, .seed = 3});
    index.add(x);
    index.save(file->path);
  }
  EXPECT_TRUE(first.content() == second.content());
}

TEST(Hnsw, FindsAllOfAFew) {
  const A x = clusters(1, 30, 3);
  Hnsw index(3);
  index.add(zeros<float>({0, 3}));
  EXPECT_EQ(index.size(), 0);
  EXPECT_EQ(refusal([&] { index.query(x, {.k = 1}); }), "Hnsw.query: k = 1 of 0 vectors");
  index.add(x);
  const auto found = index.query(x, {.k = 30, .ef = 1});
  EXPECT_TRUE(array_equal(L(sort(found.indices)), L(broadcast_to(arange<std::int64_t>(30), {30, 30}))));
  EXPECT_TRUE(array_equal(L(found.indices(_, 0)), arange<std::int64_t>(30)));
  EXPECT_EQ(index.query(A(x(slice(0, 0))), {.k = 3}).indices.shape(), (Shape{0, 3}));
  // A row of zeros has a distance of 1.
  Hnsw cosine(3, {.metric = "cosine"});
  cosine.add(zeros<float>({1, 3}));
  EXPECT_EQ(cosine.query(x, {.k = 1}).distances(0, 0).item(), 1);
}

TEST(Hnsw, SavesAndLoads) {
  const A x = clusters(1, 300, 6), q = clusters(2, 20, 6);
  File file;
  Hnsw index(6, {.metric = "cosine", .M = 5});
  index.save(file.path);
  EXPECT_EQ(Hnsw::load(file.path, 6, {.metric = "cosine"}).size(), 0);
  index.add(x);
  index.save(file.path);
  Hnsw again = Hnsw::load(file.path, 6, {.metric = "cosine"});
  EXPECT_EQ(again.size(), 300);
  EXPECT_EQ(again.dimension(), 6);
  const auto before = index.query(q), after = again.query(q);
  EXPECT_TRUE(array_equal(before.indices, after.indices));
  EXPECT_TRUE(array_equal(before.distances, after.distances));
  again.add(q);
  EXPECT_TRUE(array_equal(L(again.query(q, {.k = 1}).indices(_, 0)), L(arange<std::int64_t>(20) + 300)));
  EXPECT_EQ(refusal<IoError>([&] { Hnsw::load(file.path, 6); }),
            "Hnsw.load: '" + file.path + "' is an index by the metric 'cosine', not 'l2'");
  EXPECT_THROW(Hnsw::load(file.path, 6, {.metric = "ip"}), IoError);
}

TEST(Hnsw, FilesAreThoseOfHnswlib) {
  const A x = clusters(1, 300, 6), q = clusters(2, 20, 6);
  File file;
  Hnsw index(6);
  index.add(x);
  index.save(file.path);
  hnswlib::L2Space space(6);
  hnswlib::HierarchicalNSW<float> peer(&space, file.path);
  peer.setEf(64);
  const L found = index.query(q, {.k = 1}).indices;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(static_cast<std::int64_t>(peer.searchKnn(A(q(i)).data(), 1).top().second), found(i, 0).item());
  // Labels come back, and deleted elements do not.
  // So many links that no list of an upper level is full: hnswlib reads past those that are.
  hnswlib::HierarchicalNSW<float> other(&space, 300, 40);
  for (int i = 0; i < 300; ++i) other.addPoint(A(x(i)).data(), static_cast<std::size_t>(1000 + i));
  other.markDelete(1003);
  other.saveIndex(file.path);
  Hnsw loaded = Hnsw::load(file.path, 6);
  const L own = loaded.query(A(x(slice(0, 6))), {.k = 1}).indices;
  for (const int i : {0, 1, 2, 4, 5}) EXPECT_EQ(own(i, 0).item(), 1000 + i);
  EXPECT_NE(own(3, 0).item(), 1003);
  // New ones follow the greatest label.
  loaded.add(q);
  EXPECT_TRUE(array_equal(L(loaded.query(q, {.k = 1}).indices(_, 0)), arange<std::int64_t>(20) + 1300));
}

// New vectors are linked to deleted ones where there are no others.
TEST(Hnsw, AddsToDeletedVectors) {
  const A x = clusters(1, 80, 4);
  File file;
  hnswlib::L2Space space(4);
  for (const int n : {1, 2, 60}) {
    for (const bool all : {false, true}) {
      SCOPED_TRACE(std::to_string(n) + (all ? " all" : " entry"));
      hnswlib::HierarchicalNSW<float> peer(&space, 100, 8, 10);
      for (int i = 0; i < n; ++i) peer.addPoint(A(x(i)).data(), static_cast<std::size_t>(1000 + i));
      if (all)
        for (int i = 0; i < n; ++i) peer.markDelete(static_cast<std::size_t>(1000 + i));
      else
        peer.markDelete(peer.getExternalLabel(peer.enterpoint_node_));
      peer.saveIndex(file.path);
      Hnsw loaded = Hnsw::load(file.path, 4);
      loaded.add(A(x(slice(60, 80))));
      EXPECT_EQ(loaded.size(), n + 20);
      const L found = loaded.query(A(x(slice(60, 80))), {.k = 1, .ef = 100}).indices;
      // A full list of a deleted vector may drop new ones again.
      for (int i = 0; i < 20; ++i) {
        const std::int64_t id = found(i, 0).item();
        EXPECT_TRUE(id == 1000 + n + i || (all && n == 60 && (id == -1 || id >= 1000 + n))) << id;
      }
    }
  }
}

TEST(Hnsw, ScalesSubnormalVectors) {
  const A x = A({{3e-42f, 0}, {0, 1e-44f}, {1e-39f, 1e-39f}}), q = {{1, 0}, {0, 2}, {5, 5}};
  Hnsw index(2, {.metric = "cosine"});
  index.add(x);
  const auto found = index.query(q, {.k = 1});
  EXPECT_TRUE(array_equal(L(found.indices(_, 0)), arange<std::int64_t>(3)));
  EXPECT_TRUE(allclose(A(found.distances(_, 0)), zeros<float>({3}), {.atol = 1e-6}));
  EXPECT_TRUE(array_equal(L(index.query(x, {.k = 1}).indices(_, 0)), arange<std::int64_t>(3)));
}

TEST(Hnsw, RefusesFilesOfVectorsThatAreNotFinite) {
  File file;
  hnswlib::L2Space space(2);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e30f}) {
    hnswlib::HierarchicalNSW<float> peer(&space, 3);
    const float good[] = {1, 2}, other[] = {3, bad};
    peer.addPoint(good, 0), peer.addPoint(other, 1);
    peer.saveIndex(file.path);
    EXPECT_EQ(refusal<IoError>([&] { Hnsw::load(file.path, 2); }),
              "Hnsw.load: '" + file.path + "' is damaged: vector 1 is not finite, or too large");
  }
}

// Bytes that are changed anywhere lead nowhere outside of the index.
TEST(Hnsw, RefusesDamagedFiles) {
  File file;
  Hnsw index(4, {.M = 3});
  index.add(clusters(1, 60, 4));
  index.save(file.path);
  const std::string whole = file.content();
  const A q = clusters(2, 3, 4);
  for (const std::size_t n : {0ul, 5ul, 90ul, 400ul, whole.size() - 300, whole.size() - 1}) {
    file.write(whole.substr(0, n));
    EXPECT_THROW(Hnsw::load(file.path, 4), IoError) << n;
  }
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += at < 110 ? 1 : 7) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x95);
    file.write(bytes);
    try {
      Hnsw loaded = Hnsw::load(file.path, 4);
      loaded.add(q);
      loaded.query(q, {.k = 3});
    } catch (const IoError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 60);
  file.write(whole);
  EXPECT_EQ(refusal<IoError>([&] { Hnsw::load(file.path, 5); }),
            "Hnsw.load: '" + file.path + "' holds vectors of 4 elements, not 5");
  EXPECT_THROW(Hnsw::load(file.path + ".none", 4), IoError);
}

TEST(Hnsw, RefusesWhatIsNoVector) {
  Hnsw index(3);
  index.add(clusters(1, 8, 3));
  const A q = clusters(2, 2, 3);
  EXPECT_EQ(refusal<ShapeError>([&] { index.add(clusters(1, 2, 4)); }),
            "Hnsw.add: vectors must be (n, 3), shape (2, 4)");
  EXPECT_EQ(refusal<ShapeError>([&] { index.query(A(q(0))); }),
            "Hnsw.query: queries must be (n, 3), shape (3,)");
  EXPECT_EQ(refusal([&] { index.query(q, {.k = 9}); }), "Hnsw.query: k = 9 of 8 vectors");
  EXPECT_EQ(refusal([&] { index.query(q, {.k = 2, .ef = 0}); }), "Hnsw.query: ef = 0 must be positive");
  A bad = q;
  bad = bad.at(1, 2).set(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(refusal([&] { index.add(bad); }), "Hnsw.add: row 1 of vectors is not finite, or too large");
  EXPECT_EQ(index.size(), 8);
  EXPECT_EQ(
      refusal([&] { grad([&](const A& q) { return A(sum(index.query(q, {.k = 2}).distances)); })(q); }),
      "Hnsw.query: not differentiable with regard to queries; pass stop_gradient of it if it is meant to be "
      "a constant");
  EXPECT_EQ(refusal([] { Hnsw(0); }), "Hnsw: dimension = 0 is out of range");
  EXPECT_EQ(refusal([] { Hnsw(2, {.M = 1}); }), "Hnsw: M = 1 is not in 2 to 10000");
  EXPECT_EQ(refusal([] { Hnsw(2, {.metric = "L2"}); }), "Hnsw: metric 'L2' is none of 'l2', 'ip', 'cosine'");
}

}  // namespace hnsw_test
