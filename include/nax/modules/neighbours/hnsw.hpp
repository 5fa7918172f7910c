#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "nax/modules/neighbours/nearest.hpp"

// Approximate search for the nearest of many vectors, by hnswlib. Programs that call this link nax::hnsw.
NAX_BEGIN
namespace neighbours {

struct HnswOptions {
  std::string metric = "l2";  // or "ip", "cosine", as nearest has them
  std::int64_t M = 16;        // links of a vector on each level, twice as many on the lowest
  std::int64_t ef_construction =
      200;                   // candidates that add() looks at: more take longer and give a better graph
  std::uint64_t seed = 100;  // of the levels
};
struct HnswLoadOptions {
  std::string metric = "l2";  // of the index that was saved
  std::uint64_t seed = 100;
};
struct HnswQueryOptions {
  std::int64_t k = 10;
  std::int64_t ef = 64;  // candidates that the search keeps, at least k: more take longer and miss fewer
};

// A hierarchical navigable small world (Malkov and Yashunin 2016) over vectors of float: query() looks at
// some hundreds of vectors, however many there are. Vectors are copied, one beside its links: 4 d + 8 M + 12
// bytes. add() and query() share out their rows over nax's threads; with one thread the graph depends on the
// options and the order of the vectors alone, with several also on how they meet. Queries may run at once,
// add() only alone. hnswlib is compiled for the processor that the program is compiled for (-march).
class Hnsw {
 public:
  class Graph;

  // An empty index of vectors of `dimension` elements. Throws ValueError for a dimension, M or
  // ef_construction out of range, and another metric.
  explicit Hnsw(std::int64_t dimension, const HnswOptions& options = {});
  Hnsw(Hnsw&&) noexcept;
  Hnsw& operator=(Hnsw&&) noexcept;
  ~Hnsw();

  // Adds the rows of `vectors` (n, d), which get the indices that follow the greatest so far: from size() on,
  // unless load() read labels of another kind. Throws ShapeError for another width, and ValueError for a
  // vector that is not finite; then nothing is added.
  void add(const Array<float>& vectors);

  // Of the k rows nearest to each row of `queries` (m, d) most: indices and distances, (m, k), the nearest
  // first. Where the search reaches fewer than k, index -1 and an infinite distance fill up. Throws
  // ShapeError for another width, and ValueError unless 1 <= k <= size() and for a query that is not finite.
  Neighbours<float> query(const Array<float>& queries, const HnswQueryOptions& options = {}) const;

  std::int64_t size() const;
  std::int64_t dimension() const;

  // Writes the index as a file of hnswlib's, which its Python package opens. The file is there complete or
  // not at all. Throws IoError.
  void save(const std::string& path) const;
  // Reads an index of vectors of `dimension` elements that save() wrote, or hnswlib's Python package; its
  // labels are then the indices. Throws IoError for a file that is damaged, holds a vector that add()
  // refuses, or is of another dimension or metric. Files of hnswlib's own do not say their metric.
  static Hnsw load(const std::string& path, std::int64_t dimension, const HnswLoadOptions& options = {});

 private:
  explicit Hnsw(std::unique_ptr<Graph> graph);
  std::unique_ptr<Graph> graph_;
};

}  // namespace neighbours
NAX_END
