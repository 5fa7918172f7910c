#pragma once

#include <map>
#include <string>
#include <vector>

#include "nax/io/file.hpp"
#include "nax/modules/data/trees.hpp"

// tf.train.Example, the protocol buffer that most TFRecord files hold: named lists of byte strings, floats or
// integers.
NAX_BEGIN
namespace data {

// A list of one of the three kinds; the others are empty then.
struct Feature {
  enum class Kind : std::uint8_t { none, bytes, floats, int64s };
  Kind kind = Kind::none;
  std::vector<io::Bytes> bytes = {};
  std::vector<float> floats = {};
  std::vector<std::int64_t> int64s = {};
};

// The features of an example by name. All of these throw ValueError that says what there is where there is no
// feature of that name, or it is of another kind.
struct Example {
  std::map<std::string, Feature> features;

  const Feature& operator[](const std::string& name) const;
  // The one value of a list; ValueError where it has not exactly one.
  const io::Bytes& bytes(const std::string& name) const;
  std::string text(const std::string& name) const;
  float float32(const std::string& name) const;
  std::int64_t int64(const std::string& name) const;
  // All values, (n,).
  const std::vector<io::Bytes>& bytes_list(const std::string& name) const;
  Array<float> float_list(const std::string& name) const;
  Array<std::int64_t> int64_list(const std::string& name) const;
};

// The example that these bytes are. Throws IoError naming the offset in them where they are none.
NAX_ENGINE Example parse_example(const io::Bytes& bytes);

}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/example-inl.hpp"
#endif
