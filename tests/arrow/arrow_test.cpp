#include <gtest/gtest.h>

#include <deque>
#include <nax/arrow.hpp>
#include <nax/nax.hpp>

// Tables handed out and read by Arrow's C interfaces; damaged ones are errors that name column and batch.
namespace arrow_test {
using namespace nax;

struct Table {
  Array<float> x;
  Array<std::int64_t> n;
  Array<bool> ok;
  std::vector<std::string> name;
  data::Nullable<double> y;
};
struct Row {
  Array<float> x;
  Array<std::int64_t> n;
  Array<bool> ok;
  std::string name;
  data::Nullable<double> y;
};
struct Numbers {
  Array<float> x;
  Array<std::int64_t> n;
};

Table table() {
  return {{{1, 2}, {3, 4}, {5, 6}},
          {7, -8, 9},
          {true, false, true},
          {"a", "", "a text of more than 12"},
          {{.5, 9, 1.5}, {true, false, true}}};
}

// Hands out the batches, then fails with `code`.
class Batches {
 public:
  static inline int live = 0;
  template <class T>
  explicit Batches(std::vector<T> tables, int code = 0) : code_(code) {
    ++live;
    for (const T& one : tables) {
      ArrowSchema schema{};
      data::to_arrow(one, &arrays_.emplace_back(), &schema);
      if (schema_.release) schema_.release(&schema_);
      schema_ = schema;
    }
  }
  ~Batches() {
    --live;
    for (ArrowArray& a : arrays_)
      if (a.release) a.release(&a);
    if (schema_.release) schema_.release(&schema_);
  }
  ArrowArray& array(std::size_t i) { return arrays_[i]; }
  ArrowSchema& schema() { return schema_; }
  static data::ArrowStream stream(std::unique_ptr<Batches> of) {
    ArrowArrayStream s{[](ArrowArrayStream* self, ArrowSchema* out) {
                         *out =
                             std::exchange(static_cast<Batches*>(self->private_data)->schema_, ArrowSchema{});
                         return 0;
                       },
                       [](ArrowArrayStream* self, ArrowArray* out) {
                         auto& b = *static_cast<Batches*>(self->private_data);
                         *out = ArrowArray{};
                         if (b.at_ == b.arrays_.size()) return b.code_;
                         *out = std::exchange(b.arrays_[b.at_++], ArrowArray{});
                         return 0;
                       },
                       [](ArrowArrayStream*) { return "the line is cut"; },
                       [](ArrowArrayStream* self) {
                         delete static_cast<Batches*>(self->private_data);
                         self->release = nullptr;
                       },
                       of.release()};
    return data::ArrowStream(&s);
  }

 private:
  std::deque<ArrowArray> arrays_;
  ArrowSchema schema_{};
  std::size_t at_ = 0;
  int code_;
};

// The error of reading two batches of x and n, the second changed.
template <class R = Numbers, class Change>
std::string error_of(Change change, data::ArrowOptions options = {}) {
  auto batches = std::make_unique<Batches>(
      std::vector{Numbers{{{1, 2}, {3, 4}}, {5, 6}}, Numbers{{{7, 8}, {9, 10}}, {11, 12}}});
  change(*batches);
  std::string text;
  try {
    data::from_arrow<R>(Batches::stream(std::move(batches)), options);
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_EQ(Batches::live, 0);
  return text;
}

TEST(Arrow, ReadsWhatItHandsOut) {
  const auto rows = data::from_arrow<Row>(data::to_arrow(table()));
  ASSERT_EQ(*rows.size(), 3);
  const Row first = rows.at(0), second = rows.at(1), last = rows.at(2);
  EXPECT_EQ(first.x.to_vector(), (std::vector<float>{1, 2}));
  EXPECT_EQ(second.n.item(), -8);
  EXPECT_TRUE(first.ok.item());
  EXPECT_FALSE(second.ok.item());
  EXPECT_EQ(second.name, "");
  EXPECT_EQ(last.name, "a text of more than 12");
  EXPECT_EQ(last.y.values.item(), 1.5);
  EXPECT_FALSE(second.y.valid.item());
  EXPECT_EQ(second.y.values.item(), 0);
}

TEST(Arrow, SharesMemory) {
  const Numbers numbers{{{1, 2}, {3, 4}}, {5, 6}};
  const auto rows = data::from_arrow<Numbers>(data::to_arrow(numbers));
  EXPECT_EQ(rows.at(1).x.data(), numbers.x.data() + 2);
  EXPECT_EQ(rows.at(1).n.data(), numbers.n.data() + 1);
}

TEST(Arrow, BatchesAreOneTable) {
  auto batches = std::make_unique<Batches>(
      std::vector{Numbers{{{1, 2}, {3, 4}}, {5, 6}}, Numbers{zeros<float>({0, 2}), zeros<std::int64_t>({0})},
                  Numbers{{{7, 8}}, {9}}});
  Numbers kept;
  {
    const auto rows = data::from_arrow<Numbers>(Batches::stream(std::move(batches)));
    EXPECT_EQ(Batches::live, 0);  // the stream has ended, its batches live on
    ASSERT_EQ(*rows.size(), 3);
    for (const auto& [x, n] : rows.shuffle({.key = random::key(1)}).batch(3)) {
      EXPECT_EQ(sum(n).item(), 20);
      EXPECT_EQ(sum(x).item(), 25);
    }
    auto it = rows.iterator();
    it.next();
    auto again = rows.iterator(it.state());
    EXPECT_EQ(again.next()->n.item(), 6);
    kept = *again.next();
  }
  EXPECT_EQ(kept.x.to_vector(), (std::vector<float>{7, 8}));
}

TEST(Arrow, EachLoopOpensAStream) {
  int opened = 0;
  const auto rows = data::from_arrow<Numbers>([&opened] {
    ++opened;
    return data::to_arrow(Numbers{{{1, 2}, {3, 4}}, {5, 6}});
  });
  for (int loop = 0; loop < 2; ++loop) {
    std::int64_t total = 0;
    for (const auto& row : rows) total += row.n.item();
    EXPECT_EQ(total, 11);
  }
  for (const auto& row : rows.skip(1)) EXPECT_EQ(row.n.item(), 6);
  EXPECT_EQ(opened, 3);
}

TEST(Arrow, SlicesAndBits) {
  std::vector<bool> bools;
  for (int i = 0; i < 21; ++i) bools.push_back(i % 3 == 0);
  ArrowArray array{};
  ArrowSchema schema{};
  data::to_arrow(std::tuple{arange<int>(21), asarray(bools, Shape{21})}, &array, &schema);
  array.offset = 2, array.length = 19;
  array.children[1]->offset = 1, array.children[1]->length = 20;
  array.length = 18;
  const auto rows = data::from_arrow<std::tuple<Array<int>, Array<bool>>>(&array, &schema);
  EXPECT_EQ(array.release, nullptr);
  for (int i = 0; i < 18; ++i) {
    EXPECT_EQ(std::get<0>(rows.at(i)).item(), i + 2);
    EXPECT_EQ(std::get<1>(rows.at(i)).item(), (i + 3) % 3 == 0) << i;
  }
}

TEST(Arrow, NullsAreRefusedFilledOrMasked) {
  struct Y {
    Array<double> y;
  };
  try {
    data::from_arrow<Y>(data::to_arrow(table()));
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(),
                 "from_arrow: column 'y', batch 0: row 1 is null; .fill gives nulls a value, "
                 "data::Nullable a mask");
  }
  EXPECT_EQ(data::from_arrow<Y>(data::to_arrow(table()), {.fill = -1}).at(1).y.item(), -1);
  struct N {
    Array<std::int64_t> other;
  };
  EXPECT_EQ(data::from_arrow<N>(data::to_arrow(table()), {.columns = {"n"}}).at(1).other.item(), -8);
}

TEST(Arrow, DictionariesAreIndicesOrTexts) {
  struct Words {
    std::vector<std::string> word;
  };
  const auto make = [](ArrowArray* array, ArrowSchema* schema) {
    data::to_arrow(std::tuple{Array<int>{1, 0, 1}}, array, schema);
    static ArrowArray words, inner;
    static ArrowSchema word_schema;
    data::to_arrow(Words{{"red", "green"}}, &words, &word_schema);
    inner = std::exchange(*words.children[0], ArrowArray{});
    words.release(&words);
    array->children[0]->dictionary = &inner;
    schema->children[0]->dictionary = word_schema.children[0];
    return std::pair{&inner, &word_schema};
  };
  ArrowArray array{};
  ArrowSchema schema{};
  auto [inner, word_schema] = make(&array, &schema);
  std::vector<std::string> told;
  const auto rows = data::from_arrow<std::tuple<Array<int>>>(
      &array, &schema, {.on_dictionary = [&](const std::string&, const std::vector<std::string>& texts) {
        told.insert(told.end(), texts.begin(), texts.end());
      }});
  EXPECT_EQ(std::get<0>(rows.at(2)).item(), 1);
  EXPECT_EQ(told, (std::vector<std::string>{"red", "green"}));
  inner->release(inner), word_schema->release(word_schema);
  std::tie(inner, word_schema) = make(&array, &schema);
  EXPECT_EQ(std::get<0>(data::from_arrow<std::tuple<std::string>>(&array, &schema).at(1)), "red");
  inner->release(inner), word_schema->release(word_schema);
  std::tie(inner, word_schema) = make(&array, &schema);
  inner->length = 1;
  EXPECT_THROW(data::from_arrow<std::tuple<Array<int>>>(&array, &schema), ValueError);
  inner->release(inner), word_schema->release(word_schema);
}

TEST(Arrow, DamageIsAnError) {
  using B = Batches;
  EXPECT_EQ(error_of([](B&) {}), "");
  const auto expect = [](const std::string& text, auto change) { EXPECT_EQ(error_of(change), text); };
  const std::string n = "from_arrow: column 'n', batch 1: ", x = "from_arrow: column 'x', batch 1: ";
  expect(n + "length -1 and offset 0 are not possible", [](B& b) { b.array(1).children[1]->length = -1; });
  expect(n + "length 2 and offset -3 are not possible", [](B& b) { b.array(1).children[1]->offset = -3; });
  expect(n + "length 2 and offset " + std::to_string(INT64_MAX) + " are not possible",
         [](B& b) { b.array(1).children[1]->offset = INT64_MAX; });
  expect(n + "an array of length 1 lacks elements 0 to 2", [](B& b) { b.array(1).children[1]->length = 1; });
  expect(x + "an array of length 3 lacks elements 0 to 4",
         [](B& b) { b.array(1).children[0]->children[0]->length = 3; });
  expect(n + "the buffer of values is null", [](B& b) { b.array(1).children[1]->buffers[1] = nullptr; });
  expect(n + "the buffers are null", [](B& b) { b.array(1).children[1]->buffers = nullptr; });
  expect(n + "an array of 1 buffers, where the schema's type has 2",
         [](B& b) { b.array(1).children[1]->n_buffers = 1; });
  expect(n + "1 nulls without a buffer of validity", [](B& b) { b.array(1).children[1]->null_count = 1; });
  expect(n + "null_count is 3, length 2", [](B& b) { b.array(1).children[1]->null_count = 3; });
  expect(n + "the array is released", [](B& b) { b.array(1).children[1]->release(b.array(1).children[1]); });
  expect("from_arrow: batch 1 has 1 columns, where the schema has 2",
         [](B& b) { b.array(1).n_children = 1; });
  expect(n + "an array of 1 children, where the schema's type has 0",
         [](B& b) { b.array(1).children[1]->n_children = 1; });
}

TEST(Arrow, SchemasThatDoNotFitAreErrors) {
  using B = Batches;
  const auto with_format = [](const char* format) {
    return error_of([format](B& b) { b.schema().children[1]->format = format; });
  };
  EXPECT_EQ(with_format("i"), "from_arrow: column 'n': the elements are int32, the row's int64");
  EXPECT_EQ(with_format("tsu:UTC"), "");
  for (const char* format :
       {"+l", "+s", "n", "d:19,10", "+w:", "+w:-1", "+w:99999999999", "tiM", "", "+r", "vu*"})
    EXPECT_NE(with_format(format).find("from_arrow: column 'n': "), std::string::npos) << format;
  EXPECT_EQ(error_of([](B& b) { b.schema().children[1]->name = "m"; }),
            "from_arrow: no column 'n' in the table: 'x', 'm'");
  EXPECT_EQ(error_of([](B&) {}, {.columns = {"x"}}),
            "from_arrow: .columns has 1 columns for a row of 2 fields");
  EXPECT_EQ(error_of([](B& b) { b.schema().format = "l"; }),
            "from_arrow: batches must be tables (format '+s'), not of format 'l'");
}

TEST(Arrow, StreamsAreTakenOnceAndFailByName) {
  data::ArrowStream stream = data::to_arrow(table());
  data::from_arrow<Row>(stream);
  EXPECT_THROW(data::from_arrow<Row>(stream), ValueError);
  auto failing = std::make_unique<Batches>(std::vector{Numbers{{{1, 2}}, {5}}}, 5);
  try {
    data::from_arrow<Numbers>(Batches::stream(std::move(failing)));
    FAIL();
  } catch (const IoError& error) {
    EXPECT_STREQ(error.what(), "from_arrow: batch 1 cannot be read: the line is cut");
  }
  EXPECT_EQ(Batches::live, 0);
}

TEST(ToArrow, RefusesWhatIsNoTable) {
  EXPECT_THROW(data::to_arrow(std::pair{arange<int>(2), arange<int>(3)}), ValueError);
  EXPECT_THROW(data::to_arrow(std::pair{Array<int>(2), arange<int>(3)}), ValueError);
}

}  // namespace arrow_test
