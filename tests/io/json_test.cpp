#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <nax/io/json.hpp>

namespace json_test {
using nax::io::Json;

TEST(Json, KeepsTheDigitsOfIntegers) {
  const std::string path = testing::TempDir() + "json_integers.json";
  std::ofstream(path)
      << R"([9007199254740993, -9223372036854775808, 9223372036854775808, 12, 1.5, 1e3, "7"])";
  const Json all = nax::io::read_json(path);
  EXPECT_EQ(all.items[0].integer, 9007199254740993);
  EXPECT_EQ(all.items[1].integer, INT64_MIN);
  EXPECT_FALSE(all.items[2].integer);  // int64 does not hold it
  EXPECT_EQ(all.items[2].number, 9223372036854775808.);
  EXPECT_EQ(all.items[3].integer, 12);
  for (std::size_t i = 4; i < all.items.size(); ++i) EXPECT_FALSE(all.items[i].integer) << i;
}

}  // namespace json_test
