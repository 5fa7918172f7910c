#pragma once

#include "nax/io/file.hpp"
#include "nax/io/json.hpp"
#include "nax/modules/data/tokenizer.hpp"

NAX_BEGIN
namespace data {

// Fills a tokenizer from its file, and refuses what it asks for that is not known here.
struct Tokenizer::Reader {
  using Json = io::Json;
  Tokenizer& made;
  const std::string& path;
  std::size_t count = 0;  // of tokens that the file lists

  [[noreturn, gnu::cold]] void fail(const std::string& what) const {
    throw IoError("Tokenizer: " + path + ": " + what);
  }
  static const Json& none() {
    static const Json null;
    return null;
  }
  static const Json& at(const Json& from, std::string_view key) {
    const Json* const found = from.find(key);
    return found ? *found : none();
  }
  static std::string type_of(const Json& from) { return at(from, "type").text; }
  static bool is_true(const Json& from, std::string_view key, bool otherwise = false) {
    const Json& found = at(from, key);
    return found.is(Json::Kind::boolean) ? found.number != 0 : otherwise;
  }
  int number(const Json& from, const std::string& what, const char* of = "a token") const {
    constexpr double most = 1 << 24;
    if (!from.is(Json::Kind::number) || !(from.number >= 0 && from.number < most) ||
        from.number != static_cast<double>(static_cast<int>(from.number)))
      fail(what + " has no number of " + of);
    return static_cast<int>(from.number);
  }
  std::string text(const Json& from, const std::string& what) const {
    if (!from.is(Json::Kind::string)) fail(what + " is no text");
    return from.text;
  }
  int known(const std::string& token) const {
    const auto found = made.ids_.find(token);
    if (found == made.ids_.end()) fail("unknown token: " + token);
    return found->second;
  }
  // Calls for the parts of a sequence, for one that is none, and not for null.
  template <class F>
  static void for_each(const Json& from, const char* list, const F& f) {
    if (type_of(from) == "Sequence") {
      for (const Json& one : at(from, list).items) for_each(one, list, f);
    } else if (!from.is(Json::Kind::null)) {
      f(from);
    }
  }

  // The number of a token of the vocabulary, which may have gaps.
  int place(const Json& from, const std::string& token) const {
    const int id = number(from, token);
    if (static_cast<std::size_t>(id) > 4 * count + 1024)
      fail(token + " has number " + std::to_string(id) + " of " + std::to_string(count) + " tokens");
    return id;
  }
  // The number of a token around texts.
  int token(const Json& from, const std::string& name) const {
    const int id = number(from, name);
    if (id >= made.size())
      fail(name + " has number " + std::to_string(id) + " of " + std::to_string(made.size()) + " tokens");
    return id;
  }
  // Refuses what is not among these; absent, an option is the first.
  std::size_t option(const Json& from, const std::string& name, const char* key,
                     std::initializer_list<const char*> known_ones) const {
    const Json& found = at(from, key);
    if (found.is(Json::Kind::null)) return 0;
    const std::string& own = found.keys.empty() ? found.text : found.keys[0];
    std::size_t i = 0;
    for (const char* const one : known_ones) {
      if (found.is(Json::Kind::string) && own == one) return i;
      ++i;
    }
    fail(name + "'s " + key + " is not known: " + (own.empty() ? "no text" : own));
  }

  void read(const Json& all) {
    const Json& added = at(all, "added_tokens");
    count = added.items.size();
    model(at(all, "model"));
    for (const Json& one : added.items) {
      Added token{text(at(one, "content"), "a token that is added"),
                  0,
                  is_true(one, "special"),
                  is_true(one, "normalized", true),
                  is_true(one, "single_word"),
                  is_true(one, "lstrip"),
                  is_true(one, "rstrip")};
      token.id = place(at(one, "id"), token.text);
      add(token.text, token.id);
      made.added_.push_back(std::move(token));
    }
    for_each(at(all, "normalizer"), "normalizers", [&](const Json& one) { normalizer(one); });
    bool cuts = false;
    for_each(at(all, "pre_tokenizer"), "pretokenizers", [&](const Json& one) {
      const std::string wanted = made.model_ == Model::bpe ? "ByteLevel" : "BertPreTokenizer";
      if (cuts || type_of(one) != wanted) fail("pre_tokenizer is not known: " + type_of(one));
      cuts = true;
      made.cuts_ = is_true(one, "use_regex", true);
      made.space_ = is_true(one, "add_prefix_space");
    });
    if (!cuts) fail("pre_tokenizer is not known: none");
    for_each(at(all, "post_processor"), "processors", [&](const Json& one) { around(one); });
    made.cleans_up_ = is_true(at(all, "decoder"), "cleanup");
    if (const Json& limit = at(all, "truncation"); !limit.is(Json::Kind::null)) {
      made.max_tokens_ = number(at(limit, "max_length"), "truncation");
      made.cuts_left_ = option(limit, "truncation", "direction", {"Right", "Left"}) == 1;
      option(limit, "truncation", "strategy", {"LongestFirst", "OnlyFirst"});  // alike for single texts
    }
    if (const Json& padding = at(all, "padding"); !padding.is(Json::Kind::null)) {
      made.padding_ = number(at(padding, "pad_id"), "padding");
      made.pads_left_ = option(padding, "padding", "direction", {"Right", "Left"}) == 1;
      const Json &strategy = at(padding, "strategy"), &fixed = at(strategy, "Fixed"),
                 &multiple = at(padding, "pad_to_multiple_of");
      if (fixed.is(Json::Kind::null))
        option(padding, "padding", "strategy", {"BatchLongest"});
      else
        made.fixed_length_ = number(fixed, "padding", "tokens");
      if (!multiple.is(Json::Kind::null)) made.multiple_ = std::max(number(multiple, "padding", "tokens"), 1);
    } else {
      made.padding_ = made.id("[PAD]");
    }
  }
  void add(const std::string& token, int id) {
    made.ids_[token] = id;
    const std::size_t place = static_cast<std::size_t>(id);
    if (made.tokens_.size() <= place) made.tokens_.resize(place + 1);
    made.tokens_[place] = token;
  }
  void model(const Json& from) {
    const Json& vocabulary = at(from, "vocab");
    std::string type = type_of(from);
    if (type.empty()) type = from.find("merges") ? "BPE" : "WordPiece";
    if (type != "WordPiece" && type != "BPE") fail("model is not known: " + type);
    if (!vocabulary.is(Json::Kind::object)) fail("model has no vocab");
    count += vocabulary.items.size();
    for (std::size_t i = 0; i < vocabulary.items.size(); ++i)
      add(vocabulary.keys[i], place(vocabulary.items[i], vocabulary.keys[i]));
    const Json& unknown = at(from, "unk_token");
    if (!unknown.is(Json::Kind::null)) made.unknown_ = known(text(unknown, "unk_token"));
    if (type == "WordPiece") {
      if (!made.unknown_) fail("model has no unk_token");
      made.prefix_ = text(at(from, "continuing_subword_prefix"), "continuing_subword_prefix");
      if (const Json& most = at(from, "max_input_chars_per_word"); !most.is(Json::Kind::null))
        made.longest_word_ = static_cast<std::size_t>(number(most, "max_input_chars_per_word"));
      return;
    }
    made.model_ = Model::bpe;
    made.whole_ = is_true(from, "ignore_merges");
    for (const char* const option : {"byte_fallback", "fuse_unk"})
      if (is_true(from, option)) fail(std::string("model's option is not known: ") + option);
    for (const char* const option : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (!at(from, option).text.empty()) fail(std::string("model's option is not known: ") + option);
    for (const Json& merge : at(from, "merges").items) {
      std::string left, right;
      if (merge.is(Json::Kind::list) && merge.items.size() == 2) {
        left = merge.items[0].text, right = merge.items[1].text;
      } else {
        const std::size_t space = merge.text.find(' ');
        if (space == std::string::npos) fail("a merge is no pair: " + merge.text);
        left = merge.text.substr(0, space), right = merge.text.substr(space + 1);
      }
      const int rank = static_cast<int>(made.merges_.size());
      made.merges_[pair_of(known(left), known(right))] = {rank, known(left + right)};
    }
  }
  void normalizer(const Json& from) {
    const std::string type = type_of(from);
    if (type == "Lowercase") {
      made.lower_ = true;
    } else if (type == "BertNormalizer") {
      made.clean_ = is_true(from, "clean_text", true);
      made.ideographs_ = is_true(from, "handle_chinese_chars", true);
      made.lower_ = is_true(from, "lowercase", true);
      made.accents_ = !is_true(from, "strip_accents", made.lower_);
    } else {
      fail("normalizer is not known: " + type);
    }
  }
  // Tokens before and after a text.
  void around(const Json& from) {
    const std::string type = type_of(from);
    if (type == "BertProcessing" || type == "RobertaProcessing") {
      const auto own = [&](const char* key) {
        const Json& pair = at(from, key);
        if (pair.items.size() != 2) fail(std::string("post_processor has no ") + key);
        return token(pair.items[1], key);
      };
      made.before_ = {own("cls")}, made.after_ = {own("sep")};
    } else if (type == "TemplateProcessing") {
      bool behind = false;
      for (const Json& one : at(from, "single").items) {
        const Json* const special = one.find("SpecialToken");
        if (!special) {
          behind = true;
          continue;
        }
        const std::string name = text(at(*special, "id"), "a token around texts");
        const Json& ids = at(at(at(from, "special_tokens"), name), "ids");
        if (ids.items.empty()) fail("special_tokens has no ids of " + name);
        for (const Json& id : ids.items) (behind ? made.after_ : made.before_).push_back(token(id, name));
      }
    } else if (type != "ByteLevel") {
      fail("post_processor is not known: " + type);
    }
  }
};

NAX_ENGINE Tokenizer Tokenizer::load(const std::string& path) {
  const std::string file = path.ends_with(".json") ? path : path + "/tokenizer.json";
  return io::detail::within_memory("Tokenizer", file, [&] {
    Tokenizer made;
    Reader{made, file}.read(io::detail::read_json("Tokenizer", file));
    return made;
  });
}

}  // namespace data
NAX_END
