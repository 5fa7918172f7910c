// The source of nax::hnsw: approximate nearest neighbours by hnswlib. Compiled with the program's own
// sources, as nax::cuda's is.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <queue>
#include <random>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nax/core/thread_pool.hpp"
#include "nax/io/file.hpp"
#include "nax/io/new_file.hpp"
#include "nax/modules/neighbours/hnsw.hpp"
#include "nax/numpy/views/copy.hpp"
#include "nax/numpy/views/elements.hpp"

// After nax/core/intrinsics.hpp, which silences warnings in the compiler's headers. Names of its own: hnswlib
// defines functions that are not inline, and a program may include it as well.
#define hnswlib nax_hnswlib
#define cpuid nax_hnswlib_cpuid
#define xgetbv nax_hnswlib_xgetbv
#define AVXCapable nax_hnswlib_avx
#define AVX512Capable nax_hnswlib_avx512
#include <hnswlib/hnswlib.h>
#undef cpuid
#undef xgetbv
#undef AVXCapable
#undef AVX512Capable

NAX_BEGIN
namespace neighbours {
namespace {

using nax::detail::Metric;
using Base = hnswlib::HierarchicalNSW<float>;
using Id = hnswlib::tableint;

constexpr std::int64_t most_vectors = std::numeric_limits<std::int32_t>::max();
// Less than this are the squares of a vector in sum, so that distances are finite.
constexpr double most_squares = std::numeric_limits<float>::max() / 4;

// Numbers at the beginning of hnswlib's files, one behind the other.
struct Header {
  std::uint64_t level0 = 0, capacity = 0, count = 0, stride = 0, label_at = 0, data_at = 0;
  std::int32_t top_level = -1;
  std::uint32_t entry = 0xffffffff;
  std::uint64_t max_m = 0, max_m0 = 0, m = 0;
  double mult = 0;
  std::uint64_t ef_construction = 0;

  template <class F>
  void each(const F& f) {
    f(level0), f(capacity), f(count), f(stride), f(label_at), f(data_at), f(top_level), f(entry), f(max_m),
        f(max_m0), f(m), f(mult), f(ef_construction);
  }
};

// hnswlib's files do not say their metric. Those of save() do, by the last bits of `mult`, which only scales
// the levels that are drawn.
constexpr std::uint64_t metric_bits = 0xffff, metric_mark = 0x6e50;

double with_metric(double mult, Metric metric) {
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(mult) & ~metric_bits) |
                               (metric_mark + static_cast<std::uint64_t>(metric)));
}
// The name of the metric that a file says; empty where it says none.
std::string metric_in(double mult) {
  const std::uint64_t code = (std::bit_cast<std::uint64_t>(mult) & metric_bits) - metric_mark;
  for (const char* const name : {"l2", "ip", "cosine"})
    if (code == static_cast<std::uint64_t>(nax::detail::metric_of("Hnsw.load", name))) return name;
  return {};
}

}  // namespace

// hnswlib's graph. Its members are public, and used where its own functions are not safe: addPoint draws
// levels and reads the entry point unguarded, loadIndex believes its file.
class Hnsw::Graph {
 public:
  Graph(std::int64_t dimension, Metric metric, std::size_t m, std::size_t ef_construction, std::uint64_t seed)
      : dimension_(dimension),
        metric_(metric),
        l2_(static_cast<std::size_t>(dimension)),
        product_(static_cast<std::size_t>(dimension)),
        base_(metric == Metric::l2 ? static_cast<hnswlib::SpaceInterface<float>*>(&l2_) : &product_, 1, m,
              ef_construction, 1),
        draws_(seed) {}

  std::int64_t size() const { return static_cast<std::int64_t>(base_.cur_element_count); }
  std::int64_t dimension() const { return dimension_; }

  void add(const Array<float>& vectors) {
    const Rows rows(*this, "Hnsw.add", "vectors", vectors);
    const std::int64_t before = size(), n = vectors.shape(0);
    if (n > most_vectors - before)
      raise<ValueError>({"Hnsw.add: ", before, " and ", n, " vectors are more than ", most_vectors});
    if (n == 0) return;
    const auto all = static_cast<std::size_t>(before + n);
    if (all > base_.max_elements_)
      resize(std::max(all, std::min<std::size_t>(before ? base_.max_elements_ / 2 * 3 : 0, most_vectors)));
    std::vector<int> levels(static_cast<std::size_t>(n));
    for (int& level : levels) {
      const double draw = (static_cast<double>(draws_() >> 11) + 0.5) * 0x1p-53;
      level = static_cast<int>(-std::log(draw) * base_.mult_);
    }
    // Elements without links first, so that all are well-formed if memory ends below.
    for (std::int64_t i = 0; i < n; ++i) {
      const auto id = static_cast<Id>(before + i);
      std::memset(base_.get_linklist0(id), 0, base_.size_data_per_element_);
      base_.setExternalLabel(id, next_label_++);
      rows.copy(i, reinterpret_cast<float*>(base_.getDataByInternalId(id)));
      base_.element_levels_[id] = 0;
    }
    base_.cur_element_count = all;
    // An entry point that is there even if memory ends below.
    if (before == 0) base_.enterpoint_node_ = 0, base_.maxlevel_ = 0;
    const auto some = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        insert(static_cast<Id>(before + i), levels[static_cast<std::size_t>(i)]);
    };
    // The first ones are linked by one thread: all others pass through them.
    const std::int64_t alone = before > 0 ? 0 : std::min<std::int64_t>(n, 64);
    some(0, alone);
    nax::parallel_for(n - alone, 1,
                      [&](std::int64_t begin, std::int64_t end) { some(alone + begin, alone + end); });
  }

  Neighbours<float> query(const Array<float>& queries, const HnswQueryOptions& options) const {
    const Rows rows(*this, "Hnsw.query", "queries", queries);
    const std::int64_t m = queries.shape(0), k = options.k;
    if (k < 1 || k > size()) raise<ValueError>({"Hnsw.query: k = ", k, " of ", size(), " vectors"});
    if (options.ef < 1) raise<ValueError>({"Hnsw.query: ef = ", options.ef, " must be positive"});
    const std::int64_t ef = std::max(k, std::min(options.ef, size()));
    using nax::detail::allocate_on_host, nax::detail::typed;
    const Frame frame{Shape{m, k}, {}};
    Array<std::int64_t> indices = typed<std::int64_t>(allocate_on_host(DType::int64, frame));
    Array<float> distances = typed<float>(allocate_on_host(DType::float32, frame));
    auto* const to = nax::detail::elements<std::int64_t>(indices);
    auto* const apart = nax::detail::elements<float>(distances);
    nax::parallel_for(m, 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> row(static_cast<std::size_t>(dimension_));
      for (std::int64_t i = begin; i < end; ++i) {
        rows.copy(i, row.data());
        search(row.data(), k, ef, to + i * k, apart + i * k);
      }
    });
    return {std::move(indices), std::move(distances)};
  }

  void save(const std::string& path) const {
    io::detail::NewFile file("Hnsw.save", path);
    Header h = expected();
    h.capacity = base_.max_elements_, h.count = base_.cur_element_count;
    h.mult = with_metric(h.mult, metric_);
    h.top_level = base_.maxlevel_, h.entry = base_.enterpoint_node_;
    h.each([&](const auto& value) { file.write(&value, sizeof(value)); });
    file.write(base_.data_level0_memory_, h.count * h.stride);
    for (std::size_t i = 0; i < h.count; ++i) {
      const auto bytes = static_cast<std::uint32_t>(base_.size_links_per_element_ *
                                                    static_cast<std::size_t>(base_.element_levels_[i]));
      file.write(&bytes, sizeof(bytes));
      if (bytes) file.write(base_.linkLists_[i], bytes);
    }
    file.commit();
  }

  static std::unique_ptr<Graph> load(const std::string& path, std::int64_t dimension, Metric metric,
                                     std::uint64_t seed) {
    const io::detail::Source file("Hnsw.load", path);
    std::uint64_t at = 0;
    const auto read = [&](void* to, std::size_t bytes) { file.read(at, to, bytes), at += bytes; };
    Header h;
    h.each([&](auto& value) { read(&value, sizeof(value)); });
    if (h.m < 2 || h.m > 10000 || h.ef_construction < 1 || h.ef_construction > (1 << 30))
      file.fail("is not an index of hnswlib's, or is damaged");
    auto graph = std::make_unique<Graph>(dimension, metric, h.m, h.ef_construction, seed);
    const Header e = graph->expected();
    if (h.level0 != 0 || h.max_m != e.max_m || h.max_m0 != e.max_m0 || h.label_at + 8 != h.stride)
      file.fail("is not an index of hnswlib's, or is damaged");
    if (h.stride != e.stride || h.data_at != e.data_at)
      file.fail("holds vectors of " +
                std::to_string((h.label_at - std::min(h.label_at, h.data_at)) / sizeof(float)) +
                " elements, not " + std::to_string(dimension));
    const std::string own = metric_in(h.mult), asked = metric_in(with_metric(1, metric));
    if (!own.empty() && own != asked)
      file.fail("is an index by the metric '" + own + "', not '" + asked + "'");
    if (h.count > static_cast<std::uint64_t>(most_vectors) || h.count > (file.size() - at) / h.stride)
      file.fail("is truncated: " + std::to_string(h.count) + " vectors do not fit in it");
    io::detail::within_memory("Hnsw.load", path, [&] { graph->fill(h, read, file); });
    return graph;
  }

 private:
  // Rows as the graph holds them. Throws where one is not finite.
  class Rows {
   public:
    Rows(const Graph& graph, const char* function, const char* what, const Array<float>& x)
        : width_(graph.dimension_) {
      if (x.ndim() != 2 || x.shape(1) != width_)
        raise<ShapeError>({function, ": ", what, " must be (n, ", width_, "), shape ", x.shape()});
      nax::detail::need_plain(function, what, x);
      held_ = nax::detail::typed<float>(nax::detail::on_host(nax::detail::contiguous(x)));
      data_ = nax::detail::elements<const float>(held_);
      for (std::int64_t i = 0; i < x.shape(0); ++i) {
        const double squares = graph.squares(data_ + i * width_);
        if (!(squares < most_squares))
          raise<ValueError>({function, ": row ", i, " of ", what, " is not finite, or too large"});
        if (graph.metric_ == Metric::cosine) scales_.push_back(squares == 0 ? 1 : 1 / std::sqrt(squares));
      }
    }
    void copy(std::int64_t row, float* to) const {
      const float* const from = data_ + row * width_;
      const double scale = scales_.empty() ? 1 : scales_[static_cast<std::size_t>(row)];
      for (std::int64_t i = 0; i < width_; ++i) to[i] = static_cast<float>(from[i] * scale);
    }

   private:
    std::int64_t width_;
    Array<float> held_;
    const float* data_ = nullptr;
    std::vector<double> scales_;  // for cosine: those of subnormal rows exceed float
  };
  double squares(const float* vector) const {
    double sum = 0;
    for (std::int64_t i = 0; i < dimension_; ++i) sum += static_cast<double>(vector[i]) * vector[i];
    return sum;
  }

  // hnswlib's searchKnn, with `ef` given, and each vector fetched while the one before is compared: most of
  // the time goes to waiting for memory.
  void search(const float* row, std::int64_t k, std::int64_t ef, std::int64_t* indices,
              float* distances) const {
    using Found = std::pair<float, Id>;
    const char* const query = reinterpret_cast<const char*>(row);
    Id at = base_.enterpoint_node_;
    float nearest = distance(query, at);
    std::vector<Id> ids;
    const auto list = [&](Id id, int level) {
      hnswlib::linklistsizeint* const links = base_.get_linklist_at_level(id, level);
      ids.assign(links + 1, links + 1 + base_.getListCount(links));
    };
    const auto compare = [&](const auto& take) {
      if (!ids.empty()) fetch(ids[0]);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (i + 1 < ids.size()) fetch(ids[i + 1]);
        take(ids[i], distance(query, ids[i]));
      }
    };
    for (int level = base_.maxlevel_; level > 0; --level)
      for (bool moved = true; moved;) {
        moved = false;
        list(at, level);
        compare([&](Id id, float d) {
          if (d < nearest) nearest = d, at = id, moved = true;
        });
      }
    const auto release = [this](hnswlib::VisitedList* v) { base_.visited_list_pool_->releaseVisitedList(v); };
    const std::unique_ptr<hnswlib::VisitedList, decltype(release)> visited(
        base_.visited_list_pool_->getFreeVisitedList(), release);
    const auto is_new = [&](Id id) {
      return std::exchange(visited->mass[id], visited->curV) != visited->curV;
    };
    const bool deletes = base_.num_deleted_ > 0;
    std::priority_queue<Found> best;
    std::priority_queue<Found, std::vector<Found>, std::greater<>> open;
    const auto take = [&](Id id, float d) {
      const bool is_full = static_cast<std::int64_t>(best.size()) == ef;
      if (is_full && d >= best.top().first) return;
      open.emplace(d, id);
      if (deletes && base_.isMarkedDeleted(id)) return;
      if (is_full) best.pop();
      best.emplace(d, id);
    };
    is_new(at), take(at, nearest);
    while (!open.empty()) {
      const auto [d, id] = open.top();
      if (static_cast<std::int64_t>(best.size()) == ef && d > best.top().first) break;
      open.pop();
      list(id, 0);
      ids.erase(std::remove_if(ids.begin(), ids.end(), [&](Id other) { return !is_new(other); }), ids.end());
      compare(take);
    }
    while (static_cast<std::int64_t>(best.size()) > k) best.pop();
    for (std::int64_t i = k; i-- > 0;) {
      const bool there = i < static_cast<std::int64_t>(best.size());
      indices[i] = there ? static_cast<std::int64_t>(base_.getExternalLabel(best.top().second)) : -1;
      distances[i] = there ? std::max(best.top().first, lowest()) : std::numeric_limits<float>::infinity();
      if (there) best.pop();
    }
  }
  void fetch(Id id) const {
    const char* const from = base_.getDataByInternalId(id);
    for (std::size_t i = 0; i < base_.data_size_; i += 64) NAX_PREFETCH(from + i);
  }

  // Rounding may leave a distance below 0, but for products.
  float lowest() const {
    return metric_ == Metric::inner_product ? -std::numeric_limits<float>::infinity() : 0;
  }

  Header expected() const {
    Header h;
    h.stride = base_.size_data_per_element_, h.label_at = base_.label_offset_, h.data_at = base_.offsetData_;
    h.max_m = base_.maxM_, h.max_m0 = base_.maxM0_, h.m = base_.M_, h.mult = base_.mult_;
    h.ef_construction = base_.ef_construction_;
    return h;
  }

  // Links an element that is there: hnswlib's addPoint with the level given, and the entry point read where
  // it is guarded.
  void insert(Id id, int level) {
    const char* const vector = base_.getDataByInternalId(id);
    const std::unique_lock<std::mutex> own(base_.link_list_locks_[id]);
    std::unique_lock<std::mutex> global(base_.global);
    const int top = base_.maxlevel_;
    Id at = base_.enterpoint_node_;
    if (level <= top) global.unlock();
    if (level > 0) {
      base_.linkLists_[id] = new_links(static_cast<std::size_t>(level) * base_.size_links_per_element_);
      base_.element_levels_[id] = level;
    }
    if (at != id) {
      const Id entry = at;
      const bool entry_is_deleted = base_.isMarkedDeleted(entry);
      float nearest = distance(vector, at);
      for (int l = top; l > level; --l) at = descend(vector, at, nearest, l);
      for (int l = std::min(level, top); l >= 0; --l) {
        auto candidates = base_.searchBaseLayer(at, vector, l);  // without those that are deleted
        if (entry_is_deleted) {
          candidates.emplace(distance(vector, entry), entry);
          if (candidates.size() > base_.ef_construction_) candidates.pop();
        }
        if (candidates.empty()) candidates.emplace(distance(vector, at), at);
        at = base_.mutuallyConnectNewElement(vector, id, candidates, l, false);
      }
    }
    if (level > top) base_.enterpoint_node_ = id, base_.maxlevel_ = level;
  }
  // Links without elements. hnswlib reads, and does not use, one number past them.
  static char* new_links(std::size_t bytes) {
    char* const links = static_cast<char*>(std::calloc(1, bytes + sizeof(Id)));
    if (!links) throw std::bad_alloc();
    return links;
  }
  // The element of a level that is nearer than all it links to.
  Id descend(const char* vector, Id at, float& nearest, int level) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Id other : links_of(at, level)) {
        const float d = distance(vector, other);
        if (d < nearest) nearest = d, at = other, changed = true;
      }
    }
    return at;
  }
  std::vector<Id> links_of(Id id, int level) {
    const std::unique_lock<std::mutex> lock(base_.link_list_locks_[id]);
    hnswlib::linklistsizeint* const links = base_.get_linklist_at_level(id, level);
    return std::vector<Id>(links + 1, links + 1 + base_.getListCount(links));
  }
  float distance(const char* vector, Id id) const {
    return base_.fstdistfunc_(vector, base_.getDataByInternalId(id), base_.dist_func_param_);
  }

  // hnswlib's resizeIndex, which leaves an index that can be used where memory ends, and throws bad_alloc.
  void resize(std::size_t capacity) {
    auto visited = std::make_unique<hnswlib::VisitedListPool>(1, static_cast<int>(capacity));
    std::vector<std::mutex> locks(capacity);
    base_.element_levels_.resize(capacity);
    const auto extend = [](auto*& block, std::size_t bytes) {
      void* const extended = std::realloc(block, bytes);
      if (!extended) throw std::bad_alloc();
      block = static_cast<std::remove_reference_t<decltype(block)>>(extended);
    };
    extend(base_.data_level0_memory_, capacity * base_.size_data_per_element_);
    extend(base_.linkLists_, capacity * sizeof(*base_.linkLists_));
    locks.swap(base_.link_list_locks_);
    replace(base_.visited_list_pool_, std::move(visited));
    base_.max_elements_ = capacity;
  }
  // A pointer until hnswlib 0.7, a unique_ptr from 0.8 on.
  using VisitedLists = std::unique_ptr<hnswlib::VisitedListPool>;
  static void replace(hnswlib::VisitedListPool*& old, VisitedLists now) {
    delete std::exchange(old, now.release());
  }
  static void replace(VisitedLists& old, VisitedLists now) { old = std::move(now); }

  // Reads what follows the header. Each link leads to an element that is there, on its level.
  template <class Read>
  void fill(const Header& h, const Read& read, const io::detail::Source& file) {
    const auto damaged = [&] { file.fail("is damaged: a link leads to no vector"); };
    const auto count = static_cast<std::size_t>(h.count);
    if (count == 0) return;
    resize(count);
    read(base_.data_level0_memory_, count * h.stride);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t bytes = 0;
      read(&bytes, sizeof(bytes));
      if (bytes % base_.size_links_per_element_ || bytes / base_.size_links_per_element_ > 64) damaged();
      base_.element_levels_[i] = 0;
      if (bytes) {
        base_.linkLists_[i] = new_links(bytes);
        base_.element_levels_[i] = static_cast<int>(bytes / base_.size_links_per_element_);
      }
      base_.cur_element_count = i + 1;  // which the destructor frees
      if (bytes) read(base_.linkLists_[i], bytes);
      const float* const vector =
          reinterpret_cast<const float*>(base_.getDataByInternalId(static_cast<Id>(i)));
      if (!(squares(vector) < most_squares))
        file.fail("is damaged: vector " + std::to_string(i) + " is not finite, or too large");
      const std::size_t label = base_.getExternalLabel(static_cast<Id>(i));
      if (label > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max() / 2)) damaged();
      next_label_ = std::max(next_label_, label + 1);
    }
    if (h.entry >= count || h.top_level != base_.element_levels_[h.entry]) damaged();
    for (std::size_t i = 0; i < count; ++i)
      for (int level = 0; level <= base_.element_levels_[i]; ++level) {
        hnswlib::linklistsizeint* const list = base_.get_linklist_at_level(static_cast<Id>(i), level);
        if (base_.getListCount(list) > (level ? base_.maxM_ : base_.maxM0_)) damaged();
        for (int j = 0; j < base_.getListCount(list); ++j)
          if (list[j + 1] >= count || base_.element_levels_[list[j + 1]] < level) damaged();
      }
    for (std::size_t i = 0; i < count; ++i)
      if (base_.isMarkedDeleted(static_cast<Id>(i))) ++base_.num_deleted_;
    base_.enterpoint_node_ = h.entry, base_.maxlevel_ = h.top_level;
  }

  std::int64_t dimension_;
  Metric metric_;
  hnswlib::L2Space l2_;
  hnswlib::InnerProductSpace product_;
  Base base_;
  std::mt19937_64 draws_;
  std::size_t next_label_ = 0;
};

Hnsw::Hnsw(std::unique_ptr<Graph> graph) : graph_(std::move(graph)) {}
Hnsw::Hnsw(Hnsw&&) noexcept = default;
Hnsw& Hnsw::operator=(Hnsw&&) noexcept = default;
Hnsw::~Hnsw() = default;

namespace {
void check_dimension(const char* function, std::int64_t dimension) {
  if (dimension < 1 || dimension > (1 << 24))
    raise<ValueError>({function, ": dimension = ", dimension, " is out of range"});
}
}  // namespace

Hnsw::Hnsw(std::int64_t dimension, const HnswOptions& options) {
  check_dimension("Hnsw", dimension);
  if (options.M < 2 || options.M > 10000)
    raise<ValueError>({"Hnsw: M = ", options.M, " is not in 2 to 10000"});
  if (options.ef_construction < 1 || options.ef_construction > (1 << 30))
    raise<ValueError>({"Hnsw: ef_construction = ", options.ef_construction, " is out of range"});
  graph_ = std::make_unique<Graph>(dimension, nax::detail::metric_of("Hnsw", options.metric),
                                   static_cast<std::size_t>(options.M),
                                   static_cast<std::size_t>(options.ef_construction), options.seed);
}

void Hnsw::add(const Array<float>& vectors) { graph_->add(vectors); }
Neighbours<float> Hnsw::query(const Array<float>& queries, const HnswQueryOptions& options) const {
  return graph_->query(queries, options);
}
std::int64_t Hnsw::size() const { return graph_->size(); }
std::int64_t Hnsw::dimension() const { return graph_->dimension(); }
void Hnsw::save(const std::string& path) const { graph_->save(path); }
Hnsw Hnsw::load(const std::string& path, std::int64_t dimension, const HnswLoadOptions& options) {
  check_dimension("Hnsw.load", dimension);
  return Hnsw(
      Graph::load(path, dimension, nax::detail::metric_of("Hnsw.load", options.metric), options.seed));
}

}  // namespace neighbours
NAX_END
#undef hnswlib
