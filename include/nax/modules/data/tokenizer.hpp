#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nax/core/array.hpp"

// Text as the numbers that language models read, by the `tokenizer.json` that models of Hugging Face come
// with: WordPiece (BERT, MiniLM) and byte-level BPE (GPT-2, RoBERTa).
//
// Text is cut at tokens of its own (`[SEP]`, `<|endoftext|>`), normalised, cut into words, and each word into
// tokens: WordPiece takes the longest known beginning again and again, BPE joins the pair that was learnt
// first until none is left.
NAX_BEGIN
namespace data {

struct EncodeOptions {
  bool special = true;                          // adds those that the model begins and ends texts with
  std::optional<std::int64_t> max_tokens = {};  // with them; the file's limit without
  bool fixed =
      true;  // fills batches up to the length that the file fixes, if any; false: to the longest text
};

// Texts side by side, short ones filled up at their ends, or beginnings if the file says so: (texts, tokens).
struct TokenBatch {
  Array<int> ids;
  Array<bool> mask;  // is it a token of the text?
};

// Cuts text into the tokens of a language model, and puts them together again. Several threads may use one.
class Tokenizer {
 public:
  // Reads a tokenizer.json, or that of a folder. Throws IoError where it cannot be read, is damaged, or asks
  // for what is not known here (another model, Unicode's normal forms, regular expressions).
  NAX_ENGINE static Tokenizer load(const std::string& path);

  // The tokens of a text. Throws ValueError for text that is not UTF-8.
  NAX_ENGINE std::vector<int> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // The tokens of several texts; empty places have the token `[PAD]`, or 0 without one. A batch is as long as
  // its longest text, or as the file fixes (`"Fixed"`, `pad_to_multiple_of`), where no text is longer.
  NAX_ENGINE TokenBatch encode_batch(const std::vector<std::string>& texts,
                                     const EncodeOptions& options = {}) const;
  // The text of tokens, without special ones unless `special`; parts of characters become U+FFFD. Throws
  // IndexError for numbers of no token.
  NAX_ENGINE std::string decode(const std::vector<int>& ids, bool special = false) const;

  // How many tokens there are: one more than the greatest.
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  // The number of a token; empty where there is none.
  NAX_ENGINE std::optional<int> id(const std::string& token) const;

 private:
  struct Added {
    std::string text;
    int id;
    bool special, normalized, word, left, right;  // alone as a word; takes spaces on its left, right
  };
  struct Piece {
    std::u32string text;
    int id = -1;  // of a token of its own
  };
  struct Merge {
    int rank, made;
  };
  enum class Model : unsigned char { word_piece, bpe };

  struct Reader;
  static std::uint64_t pair_of(int left, int right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  }
  std::vector<Piece> split(std::vector<Piece> pieces, bool normalized) const;
  NAX_ENGINE std::u32string normalized(std::u32string_view text) const;
  void cut_words(std::u32string_view text, std::vector<std::u32string>& words) const;
  void cut_bytes(std::u32string text, std::vector<std::u32string>& words) const;
  void encode_word(const std::u32string& word, std::vector<int>& ids) const;
  void encode_bytes(const std::u32string& word, std::vector<int>& ids) const;

  Model model_ = Model::word_piece;
  std::unordered_map<std::string, int> ids_;
  std::vector<std::string> tokens_;  // by number
  std::vector<Added> added_;
  std::unordered_map<std::uint64_t, Merge> merges_;  // by pair_of
  std::string prefix_;                               // of pieces within a word
  std::optional<int> unknown_, padding_;
  std::size_t longest_word_ = 100;
  std::vector<int> before_, after_;               // of a text
  std::optional<std::int64_t> max_tokens_;        // the file's
  std::int64_t fixed_length_ = 0, multiple_ = 1;  // of batches; of which they are multiples
  bool cuts_left_ = false, pads_left_ = false;    // where texts are cut to max_tokens, and filled up
  bool clean_ = false, ideographs_ = false, accents_ = true,
       lower_ = false;      // what normalising does; keeps accents?
  bool cuts_ = true;        // into words?
  bool space_ = false;      // before the first word?
  bool whole_ = false;      // are words that are tokens not cut?
  bool cleans_up_ = false;  // are spaces before marks dropped by decode?
};

}  // namespace data
NAX_END

#if !defined(NAX_CALLS_LIBRARY)
#include "nax/modules/data/tokenizer-inl.hpp"
#endif
