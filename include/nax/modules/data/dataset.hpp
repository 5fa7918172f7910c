#pragma once

#include <mutex>

#include "nax/modules/data/batch.hpp"
#include "nax/modules/data/cache.hpp"
#include "nax/modules/data/choose.hpp"
#include "nax/modules/data/combine.hpp"
#include "nax/modules/data/generator.hpp"
#include "nax/modules/data/group_by_window.hpp"
#include "nax/modules/data/groups.hpp"
#include "nax/modules/data/ignore_errors.hpp"
#include "nax/modules/data/interleave.hpp"
#include "nax/modules/data/iterator.hpp"
#include "nax/modules/data/map.hpp"
#include "nax/modules/data/pack.hpp"
#include "nax/modules/data/prefetch.hpp"
#include "nax/modules/data/shuffle.hpp"
#include "nax/modules/data/slices.hpp"
#include "nax/modules/data/sources.hpp"
#include "nax/modules/data/walks.hpp"

// Lazy datasets: elements are made when a loop asks for them, or ahead of it by threads.
NAX_BEGIN
namespace data {

struct FileOptions {
  std::string version = "";  // of decode, as map's
};
struct ShardOptions {
  bool elastic = false;  // a position may be resumed by another number of parts
};
struct CacheOptions {
  std::string version = "";  // of all that the elements are made by: another one is another cache
};

// A value: copies are the same dataset, and what a method returns is a new one. Any number of loops may run
// over it, each from the beginning; they see the same elements in the same order, whatever the threads.
//
// Elements are trees (arrays, numbers, tuples, structs) wherever they are batched or cached in a folder, and
// anything that can be copied elsewhere. An exception in a stage reaches the loop as an error of nax that
// names the stage and the element's source, with the original nested.
template <class Element>
class Dataset {
 public:
  using value_type = Element;

  explicit Dataset(detail::StageRef<Element> stage) : stage_(std::move(stage)) {}

  // f of each element. f takes the element, or the parts of a tuple or pair one by one; with a random::Key in
  // front it gets one of its own for each element, made of .key. Threads make no difference to the order; f
  // must be safe to call from several. Throws ValueError for an invalid number of threads, and where f takes
  // a key and .key is none.
  template <class F>
  auto map(F f, MapOptions options = {}) const {
    using Out = detail::Mapped<F, Element>;
    return Dataset<Out>(
        std::make_shared<detail::MapStage<F, Element, Out>>(stage_, std::move(f), std::move(options)));
  }
  // The elements for which f is true.
  template <class F>
  Dataset filter(F f, const FilterOptions& options = {}) const {
    return Dataset(std::make_shared<detail::FilterStage<F, Element>>(stage_, std::move(f), options));
  }
  // Without the elements that the stages before fail to make; `.log` is told of each error, which names its
  // stage and element. After 1000 errors in a row the last one ends the loop, where elements have no indices.
  Dataset ignore_errors(IgnoreErrorsOptions options = {}) const {
    return Dataset(std::make_shared<detail::IgnoreStage<Element>>(stage_, std::move(options)));
  }
  // A random order. Where elements have indices (sources, and what map, take, batch and the like make of
  // them) it is one of all elements and costs four bytes each; elsewhere each is chosen among the next
  // `buffer`. Throws ValueError without .key, for a negative buffer, and without a buffer where elements have
  // no indices.
  Dataset shuffle(const ShuffleOptions& options) const {
    return Dataset(std::make_shared<detail::ShuffleStage<Element>>(stage_, options));
  }
  // Trees of n elements stacked along a new first axis; numbers become arrays. Throws ShapeError where shapes
  // differ.
  auto batch(std::int64_t n, BatchOptions options = {}) const {
    static_assert(detail::is_whole_tree<Element>(),
                  "batch: the elements must be trees of arrays and numbers; map them to such first");
    return Dataset<detail::Batched<Element>>(
        std::make_shared<detail::BatchStage<Element>>(stage_, n, options));
  }
  // Batches of n elements whose arrays have different shapes: each is padded behind its elements to the
  // largest of its batch, or to .shape. Throws ShapeError where the numbers of axes differ.
  auto padded_batch(std::int64_t n, const PaddedBatchOptions& options = {}) const {
    static_assert(detail::is_whole_tree<Element>(),
                  "padded_batch: the elements must be trees of arrays and numbers");
    if (n < 1) raise<ValueError>({"padded_batch: the size of a batch must be at least 1, not ", n});
    const auto stack = [value = options.value, shape = options.shape](const std::vector<Element>& elements) {
      return detail::stack_padded(elements, value, shape);
    };
    return grouped(n, n, 1, options.drop_remainder)
        .map(stack, {.threads = options.threads,
                     .name = "padded_batch",
                     .version = detail::text_of(options.value, options.shape)});
  }
  // Windows of n elements, stacked as batch stacks them: the next one begins .shift elements behind. Throws
  // ValueError unless n, .shift and .stride are at least 1.
  auto window(std::int64_t n, const WindowOptions& options = {}) const {
    static_assert(detail::is_whole_tree<Element>(),
                  "window: the elements must be trees of arrays and numbers");
    if (n < 1 || options.shift < 1 || options.stride < 1)
      throw ValueError("window: the number of elements, shift and stride must be at least 1");
    const auto stack = [](const std::vector<Element>& elements) { return detail::stack_elements(elements); };
    return grouped(n, options.shift, options.stride, options.drop_remainder)
        .map(stack, {.threads = options.threads, .name = "window"});
  }
  // Batches of n rows out of batches of any size.
  auto rebatch(std::int64_t n, const BatchOptions& options = {}) const { return unbatch().batch(n, options); }
  // Batches of elements of about one length, which length(element) tells: bucket i has those below
  // boundaries[i] and gives batches of batch_sizes[i], the last bucket all others. Arrays are padded to the
  // largest of their batch. Throws ValueError for boundaries that do not ascend, a number of batch sizes that
  // does not fit, or one below 1.
  template <class F>
  auto bucket_by_sequence_length(F length, std::vector<std::int64_t> boundaries,
                                 std::vector<std::int64_t> batch_sizes,
                                 const BucketOptions& options = {}) const {
    using Bucket = std::tuple<std::int64_t, std::vector<Element>>;
    const auto stack = [value = options.value, pad = options.pad_to_boundary](
                           std::int64_t longest, const std::vector<Element>& elements) {
      return detail::stack_padded(elements, value, Shape(), pad ? longest : 0);
    };
    return Dataset<Bucket>(std::make_shared<detail::BucketStage<F, Element>>(stage_, std::move(length),
                                                                             std::move(boundaries),
                                                                             std::move(batch_sizes), options))
        .map(stack, {.threads = options.threads,
                     .name = "bucket_by_sequence_length",
                     .version = detail::text_of(options.value, Shape{options.pad_to_boundary})});
  }
  // Groups elements by key(element), an integer, and gives the elements of the datasets that
  // reduce(key, window) makes of each group of `window` elements, which are a dataset with indices. What is
  // left at the end comes by key. `window` is a number, or a function of the key. Throws ValueError for a
  // window below 1.
  template <class Key, class Reduce, class Size>
  auto group_by_window(Key key, Reduce reduce, Size window, const GroupOptions& options = {}) const {
    const auto make = [reduce = std::move(reduce)](std::int64_t group, std::vector<Element> elements) {
      return reduce(group, indexed(std::move(elements)));
    };
    using Group = std::tuple<std::int64_t, std::vector<Element>>;
    return Dataset<Group>(std::make_shared<detail::GroupStage<Key, Size, Element>>(
                              stage_, std::move(key), std::move(window), options))
        .interleave(make, {.cycle_length = 1, .version = options.version});
  }
  // Rows of `length`, each of several elements behind one another, with segment ids and positions: see
  // Packed. All arrays of an element have one length. Elements without rows are passed over. Throws
  // ValueError for an element longer than a row, unless .split.
  auto pack(std::int64_t length, const PackOptions& options = {}) const {
    const auto put = [length, value = options.value](const std::vector<Element>& elements,
                                                     const std::vector<detail::RowSpan>& spans) {
      return detail::pack_elements(elements, spans, length, value);
    };
    using Pieces = std::pair<std::vector<Element>, std::vector<detail::RowSpan>>;
    return Dataset<Pieces>(std::make_shared<detail::PackStage<Element>>(stage_, length, options))
        .map(put,
             {.threads = options.threads, .name = "pack", .version = detail::text_of(options.value, {})});
  }
  // The rows of each element along its first axis. Loops throw ValueError for an array without axes, and
  // where the leading axes differ.
  Dataset unbatch() const { return Dataset(std::make_shared<detail::UnbatchStage<Element>>(stage_)); }
  // Repeats the elements for n epochs, or without end. Shuffle and map's keys depend on the epoch's number.
  Dataset repeat(std::int64_t n = -1) const {
    return Dataset(std::make_shared<detail::RepeatStage<Element>>(stage_, n));
  }
  // Iterates over epoch `number`, whose orders and keys differ from those of epoch 0, the default.
  Dataset epoch(std::int64_t number) const {
    return Dataset(std::make_shared<detail::EpochStage<Element>>(stage_, number));
  }
  // The first n elements, or as many as there are. Throws ValueError for a negative n.
  Dataset take(std::int64_t n) const {
    detail::check_not_negative("take", "the number of elements", n);
    return slice({.most = n});
  }
  // All elements but the first n. Throws ValueError for a negative n.
  Dataset skip(std::int64_t n) const {
    detail::check_not_negative("skip", "the number of elements", n);
    return slice({.first = n});
  }
  // Up to before the first element for which f is false.
  template <class F>
  Dataset take_while(F f, const FilterOptions& options = {}) const {
    return Dataset(std::make_shared<detail::TakeWhileStage<F, Element>>(stage_, std::move(f), options));
  }
  // Tuples of a number and an element; numbers count from `start` on.
  auto enumerate(std::int64_t start = 0) const {
    return Dataset<std::tuple<std::int64_t, Element>>(
        std::make_shared<detail::EnumerateStage<Element>>(stage_, start));
  }
  // f(state, element) is a pair of the next state and the element that comes out; the first state is
  // `initial`. In order, without threads.
  template <class State, class F>
  auto scan(State initial, F f, const ScanOptions& options = {}) const {
    auto first = detail::settled(std::move(initial));
    using S = decltype(first);
    using Out = std::tuple_element_t<1, detail::Scanned<F, S, Element>>;
    return Dataset<Out>(std::make_shared<detail::ScanStage<F, S, Element, Out>>(stage_, std::move(first),
                                                                                std::move(f), options));
  }
  // Of `count` parts this one: elements index, index + count, ... With .elastic another number of parts goes
  // on at a position: it counts the elements that all parts took together, and belongs to all of them, if
  // each has handed out as many. Part k of m goes on at elements position + k, position + k + m, ... Behind
  // it may come map without a key, batch (of another size, too), padded_batch, prefetch and prefetch_to.
  // Throws ValueError unless 0 <= index < count; with .elastic, loops throw ValueError for another stage
  // behind it.
  Dataset shard(std::int64_t index, std::int64_t count, const ShardOptions& options = {}) const {
    if (count < 1 || index < 0 || index >= count)
      raise<ValueError>({"shard: no part ", index, " of ", count});
    const detail::Slice part{.first = index, .step = count};
    return Dataset(std::make_shared<detail::SliceStage<Element>>(stage_, part, options.elastic));
  }
  // Keeps the elements as they are first made: in memory, or in a folder, a file each, for other runs and
  // processes too. Several pipelines may share a folder. Each has its own files, named by its stages, their
  // options, keys and types, and by the paths, sizes and times (addresses: versions) of the files that it
  // reads. A function is known by its type, not by its text: after rewriting one, give it or the cache
  // another .version. Loops throw IoError for a folder that cannot be made or a damaged file.
  Dataset cache() const { return Dataset(std::make_shared<detail::CacheStage<Element>>(stage_)); }
  Dataset cache(const std::string& folder, const CacheOptions& options = {}) const {
    return Dataset(std::make_shared<detail::CacheStage<Element>>(stage_, folder, options.version));
  }
  // Up to n elements are made ahead, by a thread. Throws ValueError for a negative n.
  Dataset prefetch(std::int64_t n) const {
    return Dataset(std::make_shared<detail::PrefetchStage<Element>>(stage_, n));
  }
  // Prefetches, and copies the arrays: to one device, or row i of the leading axis to device i, which pmap
  // takes as it is. Throws ValueError without devices or for a buffer below 1; loops throw ShapeError where
  // the leading axis does not count the devices.
  Dataset prefetch_to(Device device, const PrefetchToOptions& options = {}) const {
    return place({device}, false, options);
  }
  Dataset prefetch_to(const std::vector<Device>& devices, const PrefetchToOptions& options = {}) const {
    return place(devices, true, options);
  }
  // The datasets that f makes of the elements, in turns. With .parallel each open one is made ahead by a
  // thread of its own, so that files and objects are read at once; the order stays the same, unless
  // .deterministic is false. Throws ValueError for lengths below 1, a negative .ahead, and options that need
  // .parallel.
  template <class F>
  auto interleave(F f, InterleaveOptions options = {}) const {
    using Inner =
        std::remove_cvref_t<decltype(detail::call_with(f, std::declval<Element>(), detail::NoKey()))>;
    using Out = typename Inner::value_type;
    using Make = detail::StageOf<F, Element>;
    return Dataset<Out>(
        std::make_shared<detail::InterleaveStage<Element, Out, Make>>(stage_, Make{std::move(f)}, options));
  }
  // This dataset's elements, then the other's.
  Dataset concatenate(const Dataset& other) const {
    return Dataset(std::make_shared<detail::ConcatenateStage<Element>>(std::vector{stage_, other.stage_}));
  }

  // The number of elements, where it is known without looking at them.
  std::optional<std::int64_t> size() const {
    const std::int64_t n = stage_->size();
    return n < 0 ? std::nullopt : std::optional(n);
  }

  // Element i of epoch 0, from the end where i is below 0. Throws IndexError where there is none and
  // ValueError where elements have no indices. An order (shuffle's) is made once for all calls.
  Element at(std::int64_t i) const {
    if (!stage_->indexable()) throw ValueError("at: the elements of this dataset have no indices");
    std::call_once(memo_->once, [&] {
      detail::Context context;
      if (stage_->is_elastic()) context.elastic_start = 0;
      memo_->access = stage_->access(context);
    });
    const std::int64_t n = memo_->access->size(), at = i < 0 ? i + n : i;
    if (at < 0 || at >= n) raise<IndexError>({"at: there is no element ", i, " among ", n});
    return memo_->access->at(at);
  }

  // A walk from the beginning.
  Iterator<Element> iterator() const { return Iterator<Element>(stage_, nullptr); }
  // Goes on where another one was. Throws ValueError for a position of another pipeline.
  Iterator<Element> iterator(const Position& position) const { return Iterator<Element>(stage_, &position); }

  // For range-for: an iterator of its own.
  class Loop {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    using pointer = Element*;
    using reference = Element&;
    Loop() = default;
    explicit Loop(Iterator<Element> of) : of_(std::make_shared<Iterator<Element>>(std::move(of))) {}
    Element& operator*() const { return **of_; }
    Element* operator->() const { return &**of_; }
    Loop& operator++() {
      ++*of_;
      return *this;
    }
    void operator++(int) { ++*of_; }
    friend bool operator==(const Loop& a, const Loop& b) { return a.walk() == b.walk(); }

   private:
    typename Iterator<Element>::Walk walk() const { return typename Iterator<Element>::Walk(of_.get()); }
    std::shared_ptr<Iterator<Element>> of_;
  };
  Loop begin() const { return Loop(iterator()); }
  Loop end() const { return Loop(); }

  const detail::StageRef<Element>& stage() const { return stage_; }

 private:
  static Dataset indexed(std::vector<Element> elements) {
    using Source = detail::IndexableSource<std::vector<Element>, Element>;
    return Dataset(std::make_shared<Source>(std::move(elements), SourceOptions{}));
  }
  auto grouped(std::int64_t n, std::int64_t shift, std::int64_t stride, bool drop_remainder) const {
    return Dataset<std::vector<Element>>(std::make_shared<detail::WindowStage<Element>>(
        stage_, detail::Windows{n, shift, stride, drop_remainder}));
  }
  Dataset slice(detail::Slice by) const {
    return Dataset(std::make_shared<detail::SliceStage<Element>>(stage_, by));
  }
  Dataset place(std::vector<Device> devices, bool sharded, const PrefetchToOptions& options) const {
    return Dataset(
        std::make_shared<detail::PlaceStage<Element>>(stage_, std::move(devices), sharded, options));
  }
  // The access in which at() looks its elements up.
  struct Memo {
    std::once_flag once;
    std::shared_ptr<const detail::Access<Element>> access;
  };
  detail::StageRef<Element> stage_;
  std::shared_ptr<Memo> memo_ = std::make_shared<Memo>();
};

// The rows of a tree of arrays: from_arrays(std::tuple{images, labels}) has tuples of an image and a label.
// Throws ValueError where the numbers of rows differ.
template <class T>
auto from_arrays(const T& arrays) {
  auto settled = detail::settled(arrays);
  using Element = decltype(settled);
  return Dataset<Element>(std::make_shared<detail::ArraySource<Element>>("from_arrays", settled));
}
// The numbers from start to before stop, as Python's range. Throws ValueError for a step of 0, or too many
// numbers.
NAX_ENGINE Dataset<std::int64_t> range(std::int64_t start, std::int64_t stop, std::int64_t step = 1);
NAX_ENGINE Dataset<std::int64_t> range(std::int64_t stop);

// Elements that a user's own code makes one after another. `make` begins a walk: it returns a function object
// whose calls return an optional, none at the end, or a container or range. It is called by each loop, with
// the number of the epoch where it takes one, and the walk belongs to one thread at a time. A loop that goes
// on at a position makes and drops what lies before it.
template <class Make>
auto from_generator(Make make, const SourceOptions& options = {}) {
  using Walk = detail::WalkOf<Make>;
  static_assert(detail::Generates<Walk> || detail::Iterates<Walk>,
                "from_generator: what the function returns must return an optional when it is called, or be "
                "something to loop over");
  using Element = detail::GeneratedBy<Make>;
  return Dataset<Element>(std::make_shared<detail::GeneratorSource<Make, Element>>(std::move(make), options));
}
// The elements of an object of the user's with size() and operator[], which threads may call at once. They
// have indices.
template <detail::Indexable S>
auto from_indexable(S source, const SourceOptions& options = {}) {
  using Element = decltype(detail::settled(source[std::size_t{0}]));
  return Dataset<Element>(std::make_shared<detail::IndexableSource<S, Element>>(std::move(source), options));
}

// Elements that decode makes of files: of the path (a std::string), of the bytes (io::Bytes, a
// std::vector<std::uint8_t>), or of both. Paths with a scheme (https://, s3://, gs://, az://) are read by
// nax::storage where decode takes bytes. Loops throw IoError for a file that cannot be read.
template <class F>
auto from_files(std::vector<std::string> paths, F decode, const FileOptions& options = {}) {
  using Element = decltype(detail::decode_file(decode, std::string()));
  return Dataset<Element>(
      std::make_shared<detail::FileSource<F, Element>>(std::move(paths), std::move(decode), options.version));
}

// Tuples of one element of each, until the shortest ends.
template <class... E>
Dataset<std::tuple<E...>> zip(const Dataset<E>&... datasets) {
  static_assert(sizeof...(E) > 0, "zip: at least one dataset is needed");
  return Dataset<std::tuple<E...>>(std::make_shared<detail::ZipStage<E...>>(datasets.stage()...));
}
namespace detail {
template <class E>
std::vector<StageRef<E>> stages_of(const std::vector<Dataset<E>>& datasets) {
  std::vector<StageRef<E>> stages;
  for (const Dataset<E>& dataset : datasets) stages.push_back(dataset.stage());
  return stages;
}
}  // namespace detail

// One behind the other.
template <class E>
Dataset<E> concatenate(const std::vector<Dataset<E>>& datasets) {
  return Dataset<E>(std::make_shared<detail::ConcatenateStage<E>>(detail::stages_of(datasets)));
}
template <class E, class... Same>
requires(std::is_same_v<Same, Dataset<E>>&&...) Dataset<E> concatenate(const Dataset<E>& first,
                                                                       const Same&... more) {
  return concatenate(std::vector<Dataset<E>>{first, more...});
}
// In turns.
template <class E>
Dataset<E> interleave(const std::vector<Dataset<E>>& datasets, InterleaveOptions options = {}) {
  if (options.cycle_length < static_cast<std::int64_t>(datasets.size()))
    options.cycle_length = static_cast<std::int64_t>(datasets.size());
  std::vector<detail::StageRef<E>> stages = detail::stages_of(datasets);
  const auto count = static_cast<std::int64_t>(stages.size());
  using Make = detail::StageByNumber<E>;
  return Dataset<E>(std::make_shared<detail::InterleaveStage<std::int64_t, E, Make>>(
      range(count).stage(), Make{std::move(stages)}, options));
}
template <class E>
Dataset<E> interleave(std::initializer_list<Dataset<E>> datasets, const InterleaveOptions& options = {}) {
  return interleave(std::vector<Dataset<E>>(datasets), options);
}
// Each element from a dataset drawn by weight, until all have ended (or the first, with .stop_on_empty).
// Throws ValueError for weights that are negative or of another number, and without .key.
template <class E>
Dataset<E> sample_from(const std::vector<Dataset<E>>& datasets, const SampleOptions& options) {
  return Dataset<E>(std::make_shared<detail::SampleStage<E>>(detail::stages_of(datasets), options));
}
template <class E>
Dataset<E> sample_from(std::initializer_list<Dataset<E>> datasets, const SampleOptions& options) {
  return sample_from(std::vector<Dataset<E>>(datasets), options);
}
// Each element from the dataset whose number, from 0 on, is the next of `choices`. Ends with the choices, or
// with the first chosen dataset that has ended. Loops throw IndexError for a number that names no dataset.
template <class E>
Dataset<E> choose_from(const std::vector<Dataset<E>>& datasets, const Dataset<std::int64_t>& choices,
                       const ChooseOptions& options = {}) {
  return Dataset<E>(std::make_shared<detail::ChooseStage<E>>(detail::stages_of(datasets), choices.stage(),
                                                             options.stop_on_empty));
}
template <class E>
Dataset<E> choose_from(std::initializer_list<Dataset<E>> datasets, const Dataset<std::int64_t>& choices,
                       const ChooseOptions& options = {}) {
  return choose_from(std::vector<Dataset<E>>(datasets), choices, options);
}

}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/dataset-inl.hpp"
#endif
