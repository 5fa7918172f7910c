// Sentences as vectors, by a BERT of Hugging Face, such as all-MiniLM-L6-v2: those that mean nearly the same
// lie near each other.
//
//   sentence_embeddings --model all-MiniLM-L6-v2 --query "How do I bake bread?"
//   sentence_embeddings --model all-MiniLM-L6-v2 --sentences file.txt --query "..."    # a sentence a line
//
// The folder holds config.json, tokenizer.json and model.safetensors. An embedding is the mean of the last
// layer over a sentence's tokens, of length 1. Without --model a small one with random weights is read, which
// knows nothing.
#include <cstdio>
#include <fstream>

#include "support/bert.hpp"
#include "support/command_line.hpp"

using nax::Array;

int main(int argc, char** argv) {
  examples::CommandLine args(argc, argv, "finds the sentences that are nearest to another");
  const std::string folder = args.text("--model", EXAMPLE_MODELS "/bert", "folder of the model"),
                    file = args.text("--sentences", "", "file of sentences, one a line"),
                    query = args.text("--query", "The dog sleeps again.", "the sentence to compare with");
  args.done();
  try {
    const nax::data::Tokenizer tokenizer = nax::data::Tokenizer::load(folder);
    const examples::Bert bert = examples::read_bert(folder);
    const auto embed = [&](const std::vector<std::string>& texts) {
      const Array<float> x = bert.embed(tokenizer.encode_batch(texts, {.fixed = false}));
      return Array<float>(x / nax::linalg::norm(x, {.axis = 1, .keepdims = true}));
    };
    std::vector<std::string> sentences = {
        "The lazy dog is asleep.",    "A fox jumps over the dog.",
        "Numbers are symbols.",       "Vectors lie near each other.",
        "The café is in the street.", "I'm sure he'd agree, don't you think?"};
    if (!file.empty()) {
      std::ifstream in(file);
      if (!in) throw nax::IoError("--sentences: cannot read " + file);
      sentences.clear();
      for (std::string line; std::getline(in, line);) sentences.push_back(line);
    }
    std::vector<Array<float>> rows;  // 32 at once
    for (std::size_t i = 0; i < sentences.size(); i += 32) {
      const auto begin = sentences.begin() + static_cast<std::ptrdiff_t>(i);
      rows.push_back(embed(
          {begin, begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(32, sentences.size() - i))}));
    }
    const Array<float> table = nax::concatenate(rows), near = nax::matmul(table, embed({query})(0));
    const auto best = nax::top_k(near, std::min<std::int64_t>(5, near.size()));
    for (std::int64_t i = 0; i < best.values.size(); ++i)
      std::printf("%6.3f  %s\n", static_cast<double>(best.values(i).item()),
                  sentences[static_cast<std::size_t>(best.indices(i).item())].c_str());
  } catch (const nax::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
