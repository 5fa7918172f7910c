#pragma once

#include "nax/modules/data/example.hpp"

// tf.train.SequenceExample: features of a sequence as a whole, and lists of features, one a step.
NAX_BEGIN
namespace data {

// All of these throw ValueError that says what there is where there is no list of that name, a step is of
// another kind, or steps have different numbers of values.
struct SequenceExample {
  Example context;                                            // of the whole sequence
  std::map<std::string, std::vector<Feature>> feature_lists;  // by name, a feature a step

  // The steps' features, of whatever kinds and sizes.
  const std::vector<Feature>& operator[](const std::string& name) const;
  // The values of all steps, (steps, values of a step).
  Array<float> float_lists(const std::string& name) const;
  Array<std::int64_t> int64_lists(const std::string& name) const;
  // The one value of each step.
  std::vector<io::Bytes> bytes_list(const std::string& name) const;
};

// The sequence that these bytes are. Throws IoError naming the offset in them where they are none.
NAX_ENGINE SequenceExample parse_sequence_example(const io::Bytes& bytes);

}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/sequence_example-inl.hpp"
#endif
