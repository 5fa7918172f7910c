// tf.train.SequenceExample.
#include <gtest/gtest.h>

#include "data/elements.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "support/refusal.hpp"

namespace sequence_test {
using namespace nax;
using io::Bytes;

Bytes as_bytes(const std::string& text) { return Bytes(text.begin(), text.end()); }

std::vector<data::SequenceExample> golden() {
  std::vector<data::SequenceExample> all;
  for (const data::SequenceExample& e :
       data::from_tfrecord(std::string(NAX_GOLDENS_DIR "/sequences.tfrecord"))
           .map(data::parse_sequence_example, {.threads = 2}))
    all.push_back(e);
  return all;
}

TEST(DataSequenceExample, ContextAndLists) {
  const auto all = golden();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].context.int64("id"), 3);
  EXPECT_EQ(all[0].context.text("name"), "walk");
  EXPECT_EQ(all[0].bytes_list("frame"), (std::vector<Bytes>{as_bytes("f0"), {}, as_bytes("f2")}));
  const Array<float> pose = all[0].float_lists("pose");
  EXPECT_EQ(pose.shape(), (Shape{3, 2}));
  EXPECT_EQ(pose.to_vector(), (std::vector<float>{.5f, 1.5f, 2.5f, 3.5f, 4.5f, -5.5f}));
  EXPECT_EQ(all[0].int64_lists("label").to_vector(), (std::vector<std::int64_t>{1, 2, -3}));
  EXPECT_TRUE(all[1].context.features.empty());
  ASSERT_EQ(all[1]["words"].size(), 3u);
  EXPECT_EQ(all[1]["words"][0].int64s, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_TRUE(all[1]["words"][1].int64s.empty());
  EXPECT_EQ(all[1].float_lists("none").shape(), (Shape{0, 0}));
}

TEST(DataSequenceExample, MissingFieldsAreErrors) {
  const auto all = golden();
  EXPECT_EQ(refusal([&] { all[0]["x"]; }),
            "SequenceExample: there is no list 'x', only 'frame', 'label', 'pose'");
  EXPECT_EQ(refusal([&] { all[0].int64_lists("pose"); }),
            "SequenceExample: step 0 of 'pose' has a float_list, not an int64_list");
  EXPECT_EQ(refusal([&] { all[1].int64_lists("words"); }),
            "SequenceExample: steps 0 and 1 of 'words' have 3 and 0 values");
  EXPECT_EQ(refusal([&] { all[0].bytes_list("label"); }),
            "SequenceExample: step 0 of 'label' has an int64_list of 0 values, not one");
}

// Every cut and every flipped bit: an example or an error of this function, and nothing else.
TEST(DataSequenceExample, DamageHasAnOffset) {
  const Bytes good = data::from_tfrecord(std::string(NAX_GOLDENS_DIR "/sequences.tfrecord")).at(0);
  std::size_t refused = 0;
  const auto parse = [&](const Bytes& bytes) {
    try {
      data::parse_sequence_example(bytes);
    } catch (const IoError& error) {
      ++refused;
      EXPECT_NE(std::string(error.what())
                    .find("parse_sequence_example: the bytes are no tf.train.SequenceExample: a"),
                std::string::npos)
          << error.what();
    }
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    parse(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)));
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = good;
      bad[i] ^= static_cast<std::uint8_t>(1 << bit);
      parse(bad);
    }
  }
  EXPECT_GT(refused, good.size());
}

}  // namespace sequence_test
