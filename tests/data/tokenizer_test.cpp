#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nax/io/json.hpp>
#include <nax/modules/data/tokenizer.hpp>
#include <nax/numpy.hpp>

#include "support/text_of.hpp"

// Tokenizers that Hugging Face's library wrote, and what it makes of texts (goldens/make_tokenizers.py).
namespace tokenizer_test {
using namespace nax;
using data::Tokenizer;
using io::Json;

std::string golden(const std::string& name) { return NAX_GOLDENS_DIR "/tokenizer_" + name + ".json"; }
std::vector<int> integers(const Json& list) {
  std::vector<int> all;
  for (const Json& one : list.items) all.push_back(static_cast<int>(one.number));
  return all;
}

TEST(Tokenizer, EncodesAndDecodesAsTheFilesLibraryDoes) {
  const Json all = io::read_json(golden("texts"));
  for (std::size_t i = 0; i < all.keys.size(); ++i) {
    const std::string& name = all.keys[i];
    const Tokenizer tokenizer = Tokenizer::load(golden(name));
    for (const Json& one : all.items[i].items) {
      const std::string& text = one.find("text")->text;
      const std::vector<int> ids = integers(*one.find("ids"));
      EXPECT_EQ(tokenizer.encode(text), ids) << name << ": " << text;
      EXPECT_EQ(tokenizer.encode(text, {.special = false}), integers(*one.find("plain")))
          << name << ": " << text;
      EXPECT_EQ(tokenizer.decode(ids), one.find("decoded")->text) << name << ": " << text;
      EXPECT_EQ(tokenizer.decode(ids, true), one.find("whole")->text) << name << ": " << text;
    }
  }
}

TEST(Tokenizer, BatchesAreFilledUp) {
  const Tokenizer tokenizer = Tokenizer::load(golden("bert"));
  const data::TokenBatch batch = tokenizer.encode_batch({"the dog", "a", ""});
  const std::vector<int> first = tokenizer.encode("the dog");
  EXPECT_EQ(batch.ids.shape(), (Shape{3, static_cast<std::int64_t>(first.size())}));
  EXPECT_TRUE(array_equal(batch.ids(0, slice(0, static_cast<std::int64_t>(first.size()))), array(first)));
  EXPECT_TRUE(array_equal(sum(batch.mask.astype<int>(), {.axis = 1}),
                          array(std::vector<int>{static_cast<int>(first.size()), 3, 2})));
  EXPECT_EQ(batch.ids(2, -1).item(), *tokenizer.id("[PAD]"));
  EXPECT_EQ(tokenizer.encode_batch({}).ids.shape(), (Shape{0, 0}));
}

TEST(Tokenizer, TokensAreCutToALimit) {
  const Tokenizer tokenizer = Tokenizer::load(golden("bert"));
  const std::string text = "the lazy dog jumps over the quick brown fox";
  const std::vector<int> all = tokenizer.encode(text), some = tokenizer.encode(text, {.max_tokens = 4});
  EXPECT_EQ(some, (std::vector<int>{all[0], all[1], all[2], all.back()}));
  EXPECT_EQ(tokenizer.encode(text, {.special = false, .max_tokens = 1}), std::vector<int>{all[1]});
  EXPECT_EQ(text_of<ValueError>([&] { tokenizer.encode(text, {.max_tokens = 1}); }),
            "Tokenizer: encode: max_tokens = 1 is less than the 2 tokens around a text");
}

// A file for tests, which the tests write.
struct OwnFile {
  std::string folder = ::testing::TempDir() + "nax_" + std::to_string(::getpid()) + "_own_tokenizer";
  OwnFile() { std::filesystem::create_directories(folder); }
  ~OwnFile() { std::filesystem::remove_all(folder); }
  Tokenizer load(const std::string& text) const {
    std::ofstream(folder + "/tokenizer.json") << text;
    return Tokenizer::load(folder);
  }
};
std::string bert_with(const std::string& rest) {
  return R"({"model": {"type": "WordPiece", "vocab": {"[PAD]": 0, "u": 1, "a": 2, "b": 3, "c": 4}, "unk_token": "u",
             "continuing_subword_prefix": "##"}, "pre_tokenizer": {"type": "BertPreTokenizer"})" +
         rest + '}';
}

// Whose text is nothing once it is normalised: it is found nowhere.
TEST(Tokenizer, AddedTokensMayBeEmptyOnceNormalized) {
  const OwnFile file;
  const Tokenizer tokenizer = file.load(bert_with(
      R"(, "normalizer": {"type": "BertNormalizer"}, "added_tokens": [{"id": 5, "content": "\u0301", "normalized": true},
          {"id": 6, "content": "\u0000", "normalized": true}, {"id": 7, "content": "", "normalized": false}])"));
  EXPECT_EQ(tokenizer.encode("a b\u0301"), (std::vector<int>{2, 3}));
}

TEST(Tokenizer, TextsAreCutAndFilledUpOnTheLeft) {
  const OwnFile file;
  const Tokenizer tokenizer = file.load(bert_with(
      R"(, "truncation": {"direction": "Left", "max_length": 2, "strategy": "OnlyFirst", "stride": 0},
           "padding": {"direction": "Left", "strategy": "BatchLongest", "pad_to_multiple_of": null, "pad_id": 4})"));
  EXPECT_EQ(tokenizer.encode("a b c"), (std::vector<int>{3, 4}));
  EXPECT_EQ(tokenizer.encode("a b c", {.max_tokens = 0}), std::vector<int>{});
  EXPECT_EQ(tokenizer.encode("a b c", {.max_tokens = 9}), (std::vector<int>{2, 3, 4}));
  const data::TokenBatch batch = tokenizer.encode_batch({"a", "b a", ""});
  EXPECT_TRUE(array_equal(batch.ids, Array<int>{{4, 2}, {3, 2}, {4, 4}}));
  EXPECT_TRUE(array_equal(batch.mask, Array<bool>{{false, true}, {true, true}, {false, false}}));
}

// As sentence-transformers save it, with truncation and padding on.
TEST(Tokenizer, BatchesHaveTheLengthThatTheFileFixes) {
  const OwnFile file;
  const Tokenizer tokenizer = file.load(bert_with(
      R"(, "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
           "padding": {"strategy": {"Fixed": 4}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
                       "pad_type_id": 0, "pad_token": "[PAD]"})"));
  const data::TokenBatch batch = tokenizer.encode_batch({"a", "b a"});
  EXPECT_TRUE(array_equal(batch.ids, Array<int>{{2, 0, 0, 0}, {3, 2, 0, 0}}));
  EXPECT_TRUE(array_equal(batch.mask, Array<bool>{{true, false, false, false}, {true, true, false, false}}));
  EXPECT_EQ(tokenizer.encode_batch({"a", "b a"}, {.fixed = false}).ids.shape(), (Shape{2, 2}));
  EXPECT_EQ(tokenizer.encode_batch({"a b c a b c"}).ids.shape(), (Shape{1, 4}));
  EXPECT_EQ(tokenizer.encode_batch({"a b c a b c"}, {.max_tokens = 6}).ids.shape(), (Shape{1, 6}));
  EXPECT_EQ(tokenizer.encode("a b"), (std::vector<int>{2, 3}));

  const Tokenizer multiples = file.load(bert_with(
      R"(, "padding": {"strategy": "BatchLongest", "direction": "Left", "pad_to_multiple_of": 3, "pad_id": 0})"));
  EXPECT_TRUE(array_equal(multiples.encode_batch({"a", "b a c a"}).ids,
                          Array<int>{{0, 0, 0, 0, 0, 2}, {0, 0, 3, 2, 4, 2}}));
  EXPECT_EQ(multiples.encode_batch({"a b c"}).ids.shape(), (Shape{1, 3}));
}

// Words of many letters take no longer a letter; pairs learnt first are joined first, from the left.
TEST(Tokenizer, LongWordsAreJoined) {
  const OwnFile file;
  const Tokenizer tokenizer = file.load(
      R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "aa": 2, "ab": 3, "aaaa": 4, "aab": 5},
          "merges": [["a", "a"], ["aa", "aa"], ["a", "b"], ["aa", "b"]]},
          "pre_tokenizer": {"type": "ByteLevel", "use_regex": false}})");
  EXPECT_EQ(tokenizer.encode("aab"), (std::vector<int>{5}));
  EXPECT_EQ(tokenizer.encode("aaab"), (std::vector<int>{2, 3}));
  EXPECT_EQ(tokenizer.encode("aaaaaaa"), (std::vector<int>{4, 2, 0}));
  EXPECT_EQ(tokenizer.encode("b"), (std::vector<int>{1}));
  const std::vector<int> all = tokenizer.encode(std::string(400000, 'a') + 'b');
  EXPECT_EQ(all.size(), 100001u);
  EXPECT_EQ(all[99999], 4);
  EXPECT_EQ(all.back(), 1);
}

TEST(Tokenizer, RefusesWhatItDoesNotKnow) {
  const std::string folder = ::testing::TempDir() + "nax_" + std::to_string(::getpid()) + "_tokenizer";
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/tokenizer.json";
  const auto refusal = [&](const std::string& text) {
    std::ofstream(path) << text;
    const std::string all = text_of<IoError>([&] { Tokenizer::load(folder); }),
                      before = "Tokenizer: " + path + ": ";
    EXPECT_TRUE(all.starts_with(before)) << all;
    return all.substr(before.size());
  };
  const auto model = [](const std::string& rest) {
    return R"({"model": {"type": "WordPiece", "vocab": {"a": 0, "u": 1}, "unk_token": "u", "continuing_subword_prefix": "##"})" +
           rest + '}';
  };
  EXPECT_EQ(refusal(""), "JSON has no value: byte 0");
  EXPECT_EQ(refusal("{\"a\": 1"), "JSON lacks a comma: byte 7");
  EXPECT_EQ(refusal("[1] 2"), "JSON has more than one value: byte 4");
  EXPECT_EQ(refusal("\"\\ud800\""), "JSON has a damaged string: byte 7");
  EXPECT_EQ(refusal("\"\xff\""), "JSON is not UTF-8: byte 0");
  EXPECT_EQ(refusal(std::string(100, '[')), "JSON is nested too deep: byte 65");
  EXPECT_EQ(refusal("{}"), "model has no vocab");
  EXPECT_EQ(refusal(R"({"model": {"type": "Unigram"}})"), "model is not known: Unigram");
  EXPECT_EQ(refusal(R"({"model": {"type": "WordPiece", "vocab": {"a": -1}}})"), "a has no number of a token");
  EXPECT_EQ(refusal(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}})"),
            "unknown token: b");
  EXPECT_EQ(refusal(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["ab"]}})"),
            "a merge is no pair: ab");
  EXPECT_EQ(refusal(R"({"model": {"type": "BPE", "vocab": {}, "byte_fallback": true}})"),
            "model's option is not known: byte_fallback");
  EXPECT_EQ(refusal(model("")), "pre_tokenizer is not known: none");
  EXPECT_EQ(refusal(model(R"(, "pre_tokenizer": {"type": "Metaspace"})")),
            "pre_tokenizer is not known: Metaspace");
  EXPECT_EQ(
      refusal(model(R"(, "normalizer": {"type": "NFKC"}, "pre_tokenizer": {"type": "BertPreTokenizer"})")),
      "normalizer is not known: NFKC");
  const auto option = [&](const std::string& rest) {
    return refusal(model(R"(, "pre_tokenizer": {"type": "BertPreTokenizer"}, )" + rest));
  };
  EXPECT_EQ(option(R"("padding": {"pad_id": 0, "strategy": "Shortest"})"),
            "padding's strategy is not known: Shortest");
  EXPECT_EQ(option(R"("padding": {"pad_id": 0, "strategy": {"Fixed": "8"}})"),
            "padding has no number of tokens");
  EXPECT_EQ(option(R"("padding": {"pad_id": 0, "direction": "Both"})"),
            "padding's direction is not known: Both");
  EXPECT_EQ(option(R"("padding": {"pad_id": 0, "pad_to_multiple_of": -8})"),
            "padding has no number of tokens");
  EXPECT_EQ(option(R"("truncation": {"max_length": 8, "strategy": "OnlySecond"})"),
            "truncation's strategy is not known: OnlySecond");
  EXPECT_EQ(option(R"("truncation": {"max_length": 8, "direction": 1})"),
            "truncation's direction is not known: no text");
  EXPECT_EQ(
      option(R"("post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "S"}}],
                      "special_tokens": {}})"),
      "special_tokens has no ids of S");
  EXPECT_EQ(option(R"("post_processor": {"type": "BertProcessing", "cls": ["S", 2], "sep": ["S", 0]})"),
            "cls has number 2 of 2 tokens");
  EXPECT_EQ(refusal(R"({"model": {"type": "WordPiece", "vocab": {"a": 16000000}}})"),
            "a has number 16000000 of 1 tokens");
  EXPECT_EQ(option(R"("added_tokens": [{"id": 9999, "content": "x"}])"), "x has number 9999 of 3 tokens");
  std::filesystem::remove_all(folder);
  EXPECT_NE(text_of<IoError>([&] { Tokenizer::load(folder); }).find(path), std::string::npos);
  const Tokenizer tokenizer = Tokenizer::load(golden("bert"));
  EXPECT_EQ(text_of<ValueError>([&] { tokenizer.encode("\xff"); }), "Tokenizer: text that is not UTF-8");
  EXPECT_EQ(text_of<IndexError>([&] { tokenizer.decode({-1}); }),
            "Tokenizer: decode: token -1 of " + std::to_string(tokenizer.size()));
}

}  // namespace tokenizer_test
