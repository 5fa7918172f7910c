#include <gtest/gtest.h>

#include <charconv>
#include <nax/core/from_chars.hpp>

// The reading of numbers where the standard library has none for floats, against where it has one.
namespace from_chars_test {

template <class T>
void check(const std::string& text) {
  T got = T(7), want = T(7);
  const char *const first = text.data(), *const last = first + text.size();
  const auto mine = nax::detail::from_chars_by_strtod(first, last, got);
  const auto right = std::from_chars(first, last, want);
  EXPECT_EQ(mine.ptr - first, right.ptr - first) << text;
  EXPECT_EQ(mine.ec, right.ec) << text;
  EXPECT_TRUE(got == want || (got != got && want != want)) << text << ": " << got << " against " << want;
}

#if defined(__cpp_lib_to_chars)  // an old libc++ has none for floats
TEST(FromChars, ByStrtodReadsTheSame) {
  for (const char* text :
       {"1",     "-1.5", "0.1",   ".5",       "5.",     "1e10",     "1e-310",
        "1e-50", "-0",   "1e400", "-1e400",   "1e-400", "1e40",     "inf",
        "-inf",  "INF",  "nan",   "-nan",     "",       "-",        "+1",
        " 1",    "x",    "0x10",  "-0x1p3",   "1e",     "1e+",      "12ab",
        "1,5",   "--1",  "0.1f",  "infinity", "e5",     "16777217", "0.30000001192092896"}) {
    check<double>(text);
    check<float>(text);
  }
}
#endif

}  // namespace from_chars_test
