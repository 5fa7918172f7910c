#pragma once

#include <algorithm>
#include <functional>

#include "nax/core/where_used.hpp"
#include "nax/io/unpack.hpp"
#include "nax/modules/data/cursors.hpp"
#include "nax/modules/data/identity.hpp"

// Files that hold many elements, one behind the other. A format says where the next one lies and what its
// bytes are; this finds, opens and counts.
NAX_BEGIN
namespace data::detail {

// Bytes of a file, from one offset to before another.
struct Extent {
  std::uint64_t begin = 0, end = 0;
};

// Where the first element from `at` on lies; `at` moves behind it. False at the end of the file. Throws
// IoError for what is not of the format.
using FindElement = std::function<bool(const io::detail::Source& file, std::uint64_t& at, Extent& element)>;

template <class Element>
struct ShardFormat {
  const char* function;
  FindElement find;
  // The element of these bytes, which lay from `offset` on in the file of that name.
  Element (*make)(io::Bytes&& bytes, const std::string& path, std::uint64_t offset);
  std::string options = "";  // for fingerprints
  // How the first bytes of a file say that it is packed; none: they do not.
  io::Compression (*look)(const io::detail::Source& file) = nullptr;
  io::Compression compression = io::Compression::none;  // automatic: as `look` says

  io::Compression compression_of(const io::detail::Source& file) const {
    if (compression != io::Compression::automatic) return compression;
    return look ? look(file) : io::Compression::none;
  }
};

// Local files, or the bytes of one, looked through.
class ShardFiles : public Describes {
 public:
  ShardFiles(const char* function, std::vector<std::string> paths, const FindElement& find);
  ShardFiles(const char* function, std::string name, io::Bytes bytes, const FindElement& find);

  std::int64_t size() const { return static_cast<std::int64_t>(extents_.size()); }
  const Extent& extent(std::int64_t i) const { return extents_[static_cast<std::size_t>(i)]; }
  const std::string& path(std::int64_t i) const { return paths_[file_of(i)]; }
  // The bytes of element i. Any thread may ask.
  io::Bytes read(std::int64_t i) const;
  NAX_ENGINE_VIRTUAL std::string source(std::int64_t i) const override;
  void describe(Fingerprint& print) const;

 private:
  std::size_t file_of(std::int64_t i) const;
  void look_through(const io::detail::Source& file, const FindElement& find);

  const char* function_;
  std::vector<std::string> paths_;
  std::vector<std::int64_t> ends_;  // of the files' elements, counted together
  std::vector<Extent> extents_;
  std::vector<io::detail::Descriptor> open_;  // of the files, where they are few; none of bytes
  io::Bytes bytes_;
  Identity identity_;
};

// An open file of many elements, local or not, for one thread.
class OpenShard {
 public:
  template <class Element>
  OpenShard(const ShardFormat<Element>& format, const std::string& path) {
    source_.emplace(format.function, path);
    const io::Compression packed = format.compression_of(*source_);
    if (packed == io::Compression::none) return;
    bytes_ = io::detail::unpack(*source_, packed);
    source_.emplace(format.function, path, bytes_);
  }
  OpenShard(const OpenShard&) = delete;
  OpenShard& operator=(const OpenShard&) = delete;
  const io::detail::Source& source() const { return *source_; }

 private:
  io::Bytes bytes_;  // of a packed file
  std::optional<io::detail::Source> source_;
};

// Names what stages share by their element's type: the compiler makes it for those that are used.
template <class Element>
using OpenShardRef = std::shared_ptr<where_used_t<OpenShard, Element>>;
template <class Element>
using ShardFilesRef = std::shared_ptr<const where_used_t<ShardFiles, Element>>;

NAX_ENGINE io::Bytes read_extent(const io::detail::Source& file, const Extent& extent);
NAX_ENGINE std::string offset_text(const std::string& path, std::uint64_t offset);
NAX_ENGINE bool any_remote(const std::vector<std::string>& paths);

// With indices.
template <class Element>
class IndexedShards final : public IndexedStage<Element> {
 public:
  IndexedShards(const ShardFormat<Element>& format, ShardFilesRef<Element> files)
      : elements_(std::make_shared<Elements>(format, std::move(files))) {}
  void describe(Fingerprint& print) const override {
    print.add(elements_->format.function), print.add(elements_->format.options);
    elements_->files->describe(print);
  }
  std::int64_t size() const override { return elements_->size(); }
  std::shared_ptr<const Access<Element>> access(const Context&) const override { return elements_; }

 private:
  struct Elements final : Access<Element> {
    Elements(const ShardFormat<Element>& of, ShardFilesRef<Element> in) : format(of), files(std::move(in)) {}
    std::int64_t size() const override { return files->size(); }
    Element at(std::int64_t i) const override {
      const profile::Span span(profile::Kind::data, format.function);
      return format.make(files->read(i), files->path(i), files->extent(i).begin);
    }
    std::string source(std::int64_t i) const override { return files->source(i); }
    const ShardFormat<Element> format;
    const ShardFilesRef<Element> files;
  };
  std::shared_ptr<const Elements> elements_;
};

// The files in order, opened by index.
template <class Element>
struct OpenShards final : Access<OpenShardRef<Element>> {
  OpenShards(const ShardFormat<Element>& of, std::shared_ptr<const std::vector<std::string>> at)
      : format(of), paths(std::move(at)) {}
  std::int64_t size() const override { return static_cast<std::int64_t>(paths->size()); }
  OpenShardRef<Element> at(std::int64_t i) const override {
    const profile::Span span(profile::Kind::data, format.function);
    return std::make_shared<where_used_t<OpenShard, Element>>(format, (*paths)[static_cast<std::size_t>(i)]);
  }
  std::string name() const override { return format.function; }
  std::string source(std::int64_t i) const override { return (*paths)[static_cast<std::size_t>(i)]; }
  ShardFormat<Element> format;
  std::shared_ptr<const std::vector<std::string>> paths;
};

// Without: one file behind the other; `ahead` files are opened before their turn, by as many threads.
template <class Element>
class StreamedShards final : public Stage<Element> {
 public:
  StreamedShards(const ShardFormat<Element>& format, std::vector<std::string> paths, std::int64_t ahead)
      : format_(format),
        paths_(std::make_shared<const std::vector<std::string>>(std::move(paths))),
        ahead_(ahead) {}
  void describe(Fingerprint& print) const override {
    print.add(format_.function), print.add(format_.options),
        print.add(static_cast<std::int64_t>(paths_->size()));
    identity_.describe(print, [&](Fingerprint& own) { describe_files(own, *paths_); });
  }
  std::int64_t size() const override { return paths_->empty() ? 0 : -1; }
  std::unique_ptr<Cursor<Element>> open(const Context& context) const override {
    return std::make_unique<Walk>(format_, paths_, ahead_, context);
  }

 private:
  struct Last final : Describes {
    Last(const std::string& of, std::uint64_t at) : path(of), offset(at) {}
    std::string source(std::int64_t) const override { return offset_text(path, offset); }
    std::string path;
    std::uint64_t offset;
  };
  class Walk final : public Cursor<Element> {
   public:
    Walk(const ShardFormat<Element>& format, std::shared_ptr<const std::vector<std::string>> paths,
         std::int64_t ahead, const Context& context)
        : format_(format), paths_(std::move(paths)), context_(context) {
      auto files = std::make_shared<const OpenShards<Element>>(format_, paths_);
      if (ahead > 0)
        opener_ = std::make_unique<ParallelIndexCursor<OpenShardRef<Element>>>(
            std::move(files), context, Crew{static_cast<int>(ahead)}, ahead);
      else
        opener_ = std::make_unique<IndexCursor<OpenShardRef<Element>>>(std::move(files));
    }
    void prepare() override {
      if (at_ == 0 && !paths_->empty()) open_next();
    }
    std::optional<Element> next() override {
      const profile::Span span(profile::Kind::data, format_.function);
      if (!find()) return std::nullopt;
      return format_.make(read_extent(shard_->source(), last_), path(), last_.begin);
    }
    std::int64_t skip(std::int64_t n) override {
      std::int64_t done = 0;
      while (done < n && find()) ++done;
      return done;
    }
    Origin origin() const override {
      if (at_ == 0) return {};
      return {std::make_shared<Last>(path(), last_.begin), 0};
    }

   private:
    const std::string& path() const { return (*paths_)[at_ - 1]; }
    bool find() {
      while (!context_.is_stopped()) {
        if (shard_ && find_within()) return true;
        if (at_ == paths_->size()) return false;
        open_next();
      }
      return false;
    }
    void open_next() {
      shard_.reset();  // before the next one is there
      ++at_, offset_ = 0;
      if (auto opened = opener_->next()) shard_ = std::move(*opened);
    }
    // After damage the rest of a file has no elements.
    bool find_within() {
      try {
        return format_.find(shard_->source(), offset_, last_);
      } catch (...) {
        shard_.reset();
        throw;
      }
    }
    ShardFormat<Element> format_;
    std::shared_ptr<const std::vector<std::string>> paths_;
    Context context_;
    std::size_t at_ = 0;  // files that were opened
    std::unique_ptr<Cursor<OpenShardRef<Element>>> opener_;
    OpenShardRef<Element> shard_;
    std::uint64_t offset_ = 0;
    Extent last_;
  };
  ShardFormat<Element> format_;
  std::shared_ptr<const std::vector<std::string>> paths_;
  std::int64_t ahead_;
  Identity identity_;
};

NAX_ENGINE void check_ahead(const char* function, std::int64_t ahead);

template <class Element>
ShardFormat<Element> unpacked(ShardFormat<Element> format) {
  format.compression = io::Compression::none;
  return format;
}

template <class Element>
StageRef<Element> shards(const ShardFormat<Element>& format, std::vector<std::string> paths, bool index,
                         std::int64_t ahead) {
  check_ahead(format.function, ahead);
  const auto is_packed = [&](const std::string& path) {
    return format.compression_of(io::detail::Source(format.function, path)) != io::Compression::none;
  };
  // An element of a packed file cannot be read without those before it.
  if (!index || any_remote(paths) || std::any_of(paths.begin(), paths.end(), is_packed))
    return std::make_shared<StreamedShards<Element>>(format, std::move(paths), ahead);
  return std::make_shared<IndexedShards<Element>>(
      format, std::make_shared<ShardFiles>(format.function, std::move(paths), format.find));
}
template <class Element>
StageRef<Element> shards(const ShardFormat<Element>& format, std::string name, io::Bytes bytes) {
  const io::detail::Source packed(format.function, name, bytes);
  if (const io::Compression by = format.compression_of(packed); by != io::Compression::none)
    return shards(unpacked(format), std::move(name), io::detail::unpack(packed, by));
  return std::make_shared<IndexedShards<Element>>(
      format, std::make_shared<ShardFiles>(format.function, std::move(name), std::move(bytes), format.find));
}

}  // namespace data::detail
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/shards-inl.hpp"
#endif
