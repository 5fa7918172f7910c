// A BERT of Hugging Face, such as all-MiniLM-L6-v2, taught to tell classes of texts from a few of each.
//
//   finetune --model all-MiniLM-L6-v2 --texts reviews.tsv --steps 100 --save tuned.safetensors
//
// A line of the file is a class, a tab and a text. Without --texts there are eight, of two classes, and
// without --model a small one with random weights learns them. All weights are trained, by AdamW, with a
// linear layer on the mean of a text's features.
#include <cstdio>
#include <fstream>

#include "support/bert.hpp"
#include "support/command_line.hpp"

using nax::Array;
namespace nn = nax::nn;

struct Classifier {
  examples::Bert bert;
  nn::Linear<float> head;
  Array<float> operator()(const nax::data::TokenBatch& texts) const { return head(bert.embed(texts)); }
};

int main(int argc, char** argv) {
  examples::CommandLine args(argc, argv, "teaches a model to tell classes of texts");
  const std::string folder = args.text("--model", EXAMPLE_MODELS "/bert", "folder of the model"),
                    file = args.text("--texts", "", "file of classes and texts, with a tab between"),
                    save = args.text("--save", "", "where the weights go");
  const std::int64_t steps = args.integer("--steps", 40, "of training");
  const double rate = args.number("--lr", "0.003", "rate of learning");
  args.done();
  try {
    std::vector<std::pair<std::string, std::string>> given = {
        {"animals", "The lazy dog is asleep."},     {"animals", "A quick fox jumps over the dog."},
        {"animals", "The cat's watching the fox."}, {"animals", "Dogs jump again and again."},
        {"numbers", "Numbers like 3.14 and 2024."}, {"numbers", "The vector 1, 2, 3 lies near 4."},
        {"numbers", "The square of 12 is 144."},    {"numbers", "50% of 1,000,000 is a number."}};
    if (!file.empty()) {
      std::ifstream in(file);
      if (!in) throw nax::IoError("--texts: cannot read " + file);
      given.clear();
      for (std::string line; std::getline(in, line);) {
        const std::size_t tab = line.find('\t');
        if (tab == std::string::npos) throw nax::ValueError("--texts: a line without a tab: " + line);
        given.emplace_back(line.substr(0, tab), line.substr(tab + 1));
      }
    }
    std::map<std::string, int> classes;
    std::vector<std::string> texts;
    std::vector<int> labels;
    for (const auto& [name, text] : given) {
      labels.push_back(classes.try_emplace(name, static_cast<int>(classes.size())).first->second);
      texts.push_back(text);
    }
    const nax::data::Tokenizer tokenizer = nax::data::Tokenizer::load(folder);
    Classifier net{examples::read_bert(folder), {}};
    net.head = nn::Linear<float>::make(
        nax::random::key(1), {net.bert.norm.scale.shape(0), static_cast<std::int64_t>(classes.size())});
    const auto optimizer = nax::optim::adamw(rate);
    auto state = optimizer.init(net);
    // Batches of 16, in turn.
    const std::size_t batches = (texts.size() + 15) / 16;
    const auto batch = [&](std::size_t number, Array<int>& own) {
      const std::size_t first = number * 16, end = std::min(first + 16, texts.size());
      own = nax::array(std::vector<int>(labels.begin() + static_cast<std::ptrdiff_t>(first),
                                        labels.begin() + static_cast<std::ptrdiff_t>(end)));
      return tokenizer.encode_batch({texts.begin() + static_cast<std::ptrdiff_t>(first),
                                     texts.begin() + static_cast<std::ptrdiff_t>(end)});
    };
    for (std::int64_t step = 0; step < steps; ++step) {
      Array<int> own;
      const nax::data::TokenBatch x = batch(static_cast<std::size_t>(step) % batches, own);
      const auto [loss, gradient] = nax::value_and_grad([&](const Classifier& now) {
        return nax::mean(nn::softmax_cross_entropy_with_integer_labels(now(x), own));
      })(net);
      std::tie(net, state) = nax::optim::step(optimizer, gradient, std::move(state), std::move(net));
      if (step % 10 == 0 || step + 1 == steps)
        std::printf("step %3lld  loss %.3f\n", static_cast<long long>(step + 1),
                    static_cast<double>(loss.item()));
    }
    std::int64_t right = 0;
    for (std::size_t number = 0; number < batches; ++number) {
      Array<int> own;
      const nax::data::TokenBatch x = batch(number, own);
      right += nax::sum(nax::argmax(net(x), {.axis = 1}) == own).item();
    }
    std::printf("%lld of %zu right\n", static_cast<long long>(right), texts.size());
    if (!save.empty()) nax::io::save_safetensors(save, net);
  } catch (const nax::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
