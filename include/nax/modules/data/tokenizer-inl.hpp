#pragma once

#include <algorithm>
#include <array>
#include <queue>
#include <tuple>

#include "nax/modules/data/tokenizer.hpp"
#include "nax/modules/data/tokenizer_file-inl.hpp"
#include "nax/modules/data/unicode.hpp"
#include "nax/numpy/conversion/array_methods.hpp"
#include "nax/numpy/conversion/from_data.hpp"

NAX_BEGIN
namespace data {
namespace detail {

// The letters that stand for bytes: printable ones for themselves, others for those from U+0100 on.
inline const std::array<char32_t, 256>& byte_letters() {
  static const std::array<char32_t, 256> all = [] {
    std::array<char32_t, 256> made{};
    char32_t next = 256;
    for (unsigned b = 0; b < 256; ++b) {
      const bool printable = (b > 32 && b < 127) || (b > 160 && b != 173);
      made[b] = printable ? static_cast<char32_t>(b) : next++;
    }
    return made;
  }();
  return all;
}

inline bool is_mark(char32_t c) {
  const bool ascii = (c > 32 && c < 48) || (c > 57 && c < 65) || (c > 90 && c < 97) || (c > 122 && c < 127);
  return ascii || detail::unicode::is_punctuation(c);
}

// The end of the word that begins at i, as GPT-2 cuts text: `'s` and the like, letters, numbers or marks with
// a space before them, spaces but the last before something else.
inline std::size_t end_of_word(std::u32string_view text, std::size_t i) {
  const std::size_t n = text.size();
  if (text[i] == U'\'')
    for (const std::u32string_view ending : {U"s", U"t", U"re", U"ve", U"m", U"ll", U"d"})
      if (text.substr(i + 1, ending.size()) == ending) return i + 1 + ending.size();
  const std::size_t first = text[i] == U' ' && i + 1 < n ? i + 1 : i;
  const auto kind = [&](std::size_t at) {
    const char32_t c = text[at];
    return detail::unicode::is_space(c)    ? 0
           : detail::unicode::is_letter(c) ? 1
           : detail::unicode::is_number(c) ? 2
                                           : 3;
  };
  if (const int own = kind(first); own != 0) {
    std::size_t end = first + 1;
    while (end < n && kind(end) == own) ++end;
    return end;
  }
  std::size_t end = i + 1;
  while (end < n && kind(end) == 0) ++end;
  return end < n && end > i + 1 ? end - 1 : end;
}

}  // namespace detail

NAX_ENGINE std::u32string Tokenizer::normalized(std::u32string_view text) const {
  std::u32string made;
  for (char32_t c : text) {
    if (clean_) {
      const bool blank = detail::unicode::is_space(c);
      if (c == 0 || c == 0xfffd || (detail::unicode::is_control(c) && c != '\t' && c != '\n' && c != '\r'))
        continue;
      if (blank) c = ' ';
    }
    if (ideographs_ && detail::unicode::is_ideograph(c))
      made += {U' ', c, U' '};
    else
      made += c;
  }
  if (!accents_) made = detail::unicode::without_accents(made);
  return lower_ ? detail::unicode::lowered(made) : made;
}

// Cuts pieces at tokens of their own, the longest where several begin.
inline std::vector<Tokenizer::Piece> Tokenizer::split(std::vector<Piece> pieces, bool normal) const {
  using detail::unicode::is_space;
  std::vector<std::pair<std::u32string, const Added*>> all;
  for (const Added& one : added_)
    if (one.normalized == normal) {
      std::u32string own = detail::unicode::code_points(one.text);
      if (normal) own = normalized(own);
      if (!own.empty()) all.emplace_back(std::move(own), &one);
    }
  if (all.empty()) return pieces;
  const auto is_part = [](char32_t c) {
    return c == U'_' || detail::unicode::is_letter(c) || detail::unicode::is_number(c);
  };
  std::vector<Piece> made;
  for (Piece& piece : pieces) {
    if (piece.id >= 0) {
      made.push_back(std::move(piece));
      continue;
    }
    const std::u32string& text = piece.text;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::pair<std::u32string, const Added*>* best = nullptr;
      for (const auto& one : all) {
        const std::size_t end = i + one.first.size();
        if (text.compare(i, one.first.size(), one.first) != 0) continue;
        if (one.second->word &&
            ((i > 0 && is_part(text[i - 1])) || (end < text.size() && is_part(text[end]))))
          continue;
        if (!best || best->first.size() < one.first.size()) best = &one;
      }
      if (!best) continue;
      std::size_t first = i, end = i + best->first.size();
      while (best->second->left && first > begin && is_space(text[first - 1])) --first;
      while (best->second->right && end < text.size() && is_space(text[end])) ++end;
      if (first > begin) made.push_back({text.substr(begin, first - begin)});
      made.push_back({{}, best->second->id});
      begin = end, i = end - 1;
    }
    if (begin < text.size()) made.push_back({text.substr(begin)});
  }
  return made;
}

// ---- WordPiece

inline void Tokenizer::cut_words(std::u32string_view text, std::vector<std::u32string>& words) const {
  bool within = false;
  for (const char32_t c : text) {
    const bool mark = detail::is_mark(c);
    if (detail::unicode::is_space(c)) {
      within = false;
      continue;
    }
    if (!within || mark) words.emplace_back();
    words.back() += c;
    within = !mark;
  }
}

inline void Tokenizer::encode_word(const std::u32string& word, std::vector<int>& ids) const {
  const std::size_t before = ids.size();
  std::size_t begin = 0;
  bool known = word.size() <= longest_word_;
  while (known && begin < word.size()) {
    std::size_t end = word.size();
    for (; end > begin; --end) {
      const auto found =
          ids_.find((begin > 0 ? prefix_ : "") + detail::unicode::utf8(word.substr(begin, end - begin)));
      if (found == ids_.end()) continue;
      ids.push_back(found->second);
      break;
    }
    known = end > begin;
    begin = end;
  }
  if (known) return;
  ids.resize(before);
  ids.push_back(*unknown_);
}

// ---- byte-level BPE

inline void Tokenizer::cut_bytes(std::u32string text, std::vector<std::u32string>& words) const {
  if (space_ && (text.empty() || text[0] != U' ')) text.insert(text.begin(), U' ');
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = cuts_ ? detail::end_of_word(text, i) : text.size();
    words.emplace_back();
    for (const char byte : detail::unicode::utf8(text.substr(i, end - i)))
      words.back() += detail::byte_letters()[static_cast<unsigned char>(byte)];
    i = end;
  }
}

inline void Tokenizer::encode_bytes(const std::u32string& word, std::vector<int>& ids) const {
  if (whole_)
    if (const auto found = ids_.find(detail::unicode::utf8(word)); found != ids_.end())
      return ids.push_back(found->second);
  struct Part {
    int id;  // -1 where it has been joined to the one before
    std::size_t before, next;
  };
  struct Pair {
    int rank;
    std::size_t place;
    std::uint64_t key;
    int made;
    bool operator<(const Pair& other) const {  // the greatest is joined first
      return std::tie(other.rank, other.place) < std::tie(rank, place);
    }
  };
  std::vector<Part> parts;
  for (const char32_t c : word) {
    const auto found = ids_.find(detail::unicode::utf8(std::u32string(1, c)));
    if (found == ids_.end() && !unknown_) continue;
    const std::size_t i = parts.size();
    parts.push_back({found == ids_.end() ? *unknown_ : found->second, i - 1, i + 1});
  }
  const std::size_t n = parts.size();
  const auto key = [&](std::size_t i) { return pair_of(parts[i].id, parts[parts[i].next].id); };
  std::priority_queue<Pair> pairs;
  const auto push = [&](std::size_t i) {
    if (i >= n || parts[i].next >= n) return;
    const auto found = merges_.find(key(i));
    if (found != merges_.end()) pairs.push({found->second.rank, i, found->first, found->second.made});
  };
  for (std::size_t i = 0; i < n; ++i) push(i);
  while (!pairs.empty()) {
    const Pair best = pairs.top();
    pairs.pop();
    Part& own = parts[best.place];
    if (own.id < 0 || own.next >= n || key(best.place) != best.key) continue;  // is no pair any more
    Part& other = parts[own.next];
    own.id = best.made, own.next = other.next, other.id = -1;
    if (own.next < n) parts[own.next].before = best.place;
    push(own.before), push(best.place);
  }
  for (const Part& part : parts)
    if (part.id >= 0) ids.push_back(part.id);
}

// ---- texts

NAX_ENGINE std::vector<int> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<Piece> pieces = split({{detail::unicode::code_points(text)}}, false);
  for (Piece& piece : pieces)
    if (piece.id < 0) piece.text = normalized(piece.text);
  std::vector<int> ids;
  for (Piece& piece : split(std::move(pieces), true)) {
    if (piece.id >= 0) {
      ids.push_back(piece.id);
      continue;
    }
    std::vector<std::u32string> words;
    if (model_ == Model::bpe)
      cut_bytes(std::move(piece.text), words);
    else
      cut_words(piece.text, words);
    for (const std::u32string& word : words)
      model_ == Model::bpe ? encode_bytes(word, ids) : encode_word(word, ids);
  }
  const std::optional<std::int64_t> most = options.max_tokens ? options.max_tokens : max_tokens_;
  if (most) {
    const std::int64_t around =
        options.special ? static_cast<std::int64_t>(before_.size() + after_.size()) : 0;
    if (*most < around)
      raise<ValueError>(
          {"Tokenizer: encode: max_tokens = ", *most, " is less than the ", around, " tokens around a text"});
    if (static_cast<std::int64_t>(ids.size()) > *most - around)
      ids.erase(cuts_left_ ? ids.begin() : ids.begin() + (*most - around),
                cuts_left_ ? ids.end() - (*most - around) : ids.end());
  }
  if (options.special) {
    ids.insert(ids.begin(), before_.begin(), before_.end());
    ids.insert(ids.end(), after_.begin(), after_.end());
  }
  return ids;
}

NAX_ENGINE TokenBatch Tokenizer::encode_batch(const std::vector<std::string>& texts,
                                              const EncodeOptions& options) const {
  std::vector<std::vector<int>> all;
  std::size_t longest = options.fixed ? static_cast<std::size_t>(fixed_length_) : 0;
  for (const std::string& text : texts) {
    all.push_back(encode(text, options));
    longest = std::max(longest, all.back().size());
  }
  if (const std::size_t multiple = static_cast<std::size_t>(multiple_); options.fixed)
    longest = (longest + multiple - 1) / multiple * multiple;
  std::vector<int> ids, mask;
  for (const std::vector<int>& one : all) {
    const std::size_t before = pads_left_ ? longest - one.size() : 0;
    ids.insert(ids.end(), before, padding_.value_or(0));
    ids.insert(ids.end(), one.begin(), one.end());
    ids.resize(mask.size() + longest, padding_.value_or(0));
    mask.insert(mask.end(), before, 0);
    mask.insert(mask.end(), one.size(), 1);
    mask.resize(ids.size(), 0);
  }
  const Shape shape = {static_cast<std::int64_t>(texts.size()), static_cast<std::int64_t>(longest)};
  return {array(ids, shape), array(mask, shape).astype<bool>()};
}

NAX_ENGINE std::string Tokenizer::decode(const std::vector<int>& ids, bool special) const {
  std::string text;
  bool first = true;
  for (const int id : ids) {
    if (id < 0 || id >= size())
      raise<IndexError>({"Tokenizer: decode: token ", static_cast<std::int64_t>(id), " of ", size()});
    const std::string& token = tokens_[static_cast<std::size_t>(id)];
    const auto added = std::find_if(added_.begin(), added_.end(), [&](const Added& a) { return a.id == id; });
    if (added != added_.end() && added->special && !special) continue;
    if (model_ == Model::bpe) {
      if (added != added_.end()) {
        text += token;
        continue;
      }
      const auto& letters = detail::byte_letters();
      std::string bytes;
      for (const char32_t c : detail::unicode::code_points(token)) {
        const auto byte = std::find(letters.begin(), letters.end(), c);
        if (byte == letters.end()) {  // a token that is no bytes
          bytes = token;
          break;
        }
        bytes += static_cast<char>(byte - letters.begin());
      }
      text += bytes;
    } else {
      std::string part = token;
      if (!first)
        part = !prefix_.empty() && token.starts_with(prefix_) ? token.substr(prefix_.size()) : ' ' + token;
      constexpr std::pair<std::string_view, std::string_view> shorter[] = {
          {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
          {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
      for (const auto& [from, to] : shorter)
        for (std::size_t at = 0; cleans_up_ && (at = part.find(from, at)) != std::string::npos;
             at += to.size())
          part.replace(at, from.size(), to);
      text += part;
    }
    first = false;
  }
  return model_ == Model::bpe ? detail::unicode::repaired(text) : text;
}

NAX_ENGINE std::optional<int> Tokenizer::id(const std::string& token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace data
NAX_END
