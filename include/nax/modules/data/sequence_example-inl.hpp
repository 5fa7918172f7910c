#pragma once

#include "nax/modules/data/example-inl.hpp"
#include "nax/modules/data/sequence_example.hpp"

NAX_BEGIN
namespace data {
namespace detail {

inline void read_feature_list(ProtoReader in, std::vector<Feature>& to) {
  for_each_field(in, [&](std::uint32_t field, std::uint32_t wire) {
    if (field != 1 || wire != ProtoReader::bytes_wire) return false;
    read_feature(in.message(), to.emplace_back());
    return true;
  });
}

inline void read_feature_lists(ProtoReader in, std::map<std::string, std::vector<Feature>>& to) {
  read_entries(in, to, read_feature_list);
}

// The values of all steps, which are of one kind and number. A step without values is of any kind.
template <class T>
Array<T> steps_together(const std::vector<Feature>& steps, std::vector<T> Feature::*values,
                        Feature::Kind kind, const std::string& name) {
  const std::size_t width = steps.empty() ? 0 : (steps[0].*values).size();
  std::vector<T> all;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::vector<T>& own = steps[i].*values;
    const bool is_empty = steps[i].bytes.empty() && steps[i].floats.empty() && steps[i].int64s.empty();
    if (steps[i].kind != kind && !is_empty)
      raise<ValueError>({"SequenceExample: step ", i, " of '", name, "' has ", kind_text(steps[i].kind),
                         ", not ", kind_text(kind)});
    if (own.size() != width)
      raise<ValueError>({"SequenceExample: steps 0 and ", i, " of '", name, "' have ", width, " and ",
                         own.size(), " values"});
    all.insert(all.end(), own.begin(), own.end());
  }
  ArrayBase a = allocate_on_host(
      dtype_of<T>,
      Frame{Shape{static_cast<std::int64_t>(steps.size()), static_cast<std::int64_t>(width)}, {}});
  if (!all.empty()) std::memcpy(raw_data(a), all.data(), all.size() * sizeof(T));
  return nax::detail::typed<T>(std::move(a));
}

}  // namespace detail

NAX_ENGINE SequenceExample parse_sequence_example(const io::Bytes& bytes) {
  SequenceExample example;
  detail::ProtoReader in(bytes, "parse_sequence_example: the bytes are no tf.train.SequenceExample");
  detail::for_each_field(in, [&](std::uint32_t field, std::uint32_t wire) {
    if ((field != 1 && field != 2) || wire != detail::ProtoReader::bytes_wire) return false;
    if (field == 1)
      detail::read_features(in.message(), example.context.features);
    else
      detail::read_feature_lists(in.message(), example.feature_lists);
    return true;
  });
  return example;
}

NAX_ENGINE const std::vector<Feature>& SequenceExample::operator[](const std::string& name) const {
  const auto found = feature_lists.find(name);
  if (found != feature_lists.end()) return found->second;
  std::string there;
  for (const auto& [key, steps] : feature_lists) there += (there.empty() ? "'" : ", '") + key + "'";
  raise<ValueError>(
      {"SequenceExample: there is no list '", name, "', only ", there.empty() ? "none" : there});
}

NAX_ENGINE Array<float> SequenceExample::float_lists(const std::string& name) const {
  return detail::steps_together((*this)[name], &Feature::floats, Feature::Kind::floats, name);
}
NAX_ENGINE Array<std::int64_t> SequenceExample::int64_lists(const std::string& name) const {
  return detail::steps_together((*this)[name], &Feature::int64s, Feature::Kind::int64s, name);
}
NAX_ENGINE std::vector<io::Bytes> SequenceExample::bytes_list(const std::string& name) const {
  std::vector<io::Bytes> values;
  for (const Feature& step : (*this)[name]) {
    if (step.bytes.size() != 1)
      raise<ValueError>({"SequenceExample: step ", values.size(), " of '", name, "' has ",
                         detail::kind_text(step.kind), " of ", step.bytes.size(), " values, not one"});
    values.push_back(step.bytes[0]);
  }
  return values;
}

}  // namespace data
NAX_END
