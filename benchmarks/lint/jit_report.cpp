#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <regex>

#include "jit_row.hpp"

namespace bench::lint {

int serve(const Rows& rows) {
  constexpr double limit = 1.1;
  constexpr std::int64_t few = 1000, least_bytes = 4096;
  const char* const filter = std::getenv("LINT_FILTER");
  const std::regex chosen(filter ? filter : "");
  struct Line {
    const JitRow* row;
    Compared of;
    double time() const { return of.jit.seconds / of.plain.seconds; }
    double memory() const {
      const auto padded = [](const Call& call) { return static_cast<double>(call.bytes + least_bytes); };
      return padded(of.jit) / padded(of.plain);
    }
  };
  std::vector<Line> lines;
  for (const JitRow& row : rows)
    if (std::regex_search(row.name + ' ' + row.type, chosen)) {
      try {
        lines.push_back({&row, row.compare()});
      } catch (const std::exception& why) {
        std::fprintf(stderr, "%s of %lld %s: %s\n", row.name.c_str(), static_cast<long long>(row.elements),
                     row.type.c_str(), why.what());
      }
    }
  const auto recorded =
      std::stable_partition(lines.begin(), lines.end(), [](const Line& l) { return l.of.refusal.empty(); });
  std::printf("Not recorded:\n\n");
  for (auto l = recorded; l != lines.end(); ++l)
    if (l->row->elements > few)
      std::printf("- %s %s: %s\n", l->row->name.c_str(), l->row->type.c_str(), l->of.refusal.c_str());
  lines.erase(recorded, lines.end());

  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.time() > b.time(); });
  std::size_t large = 0, slow = 0;
  std::printf(
      "\n| function | type | plain, us | jit, us | ratio | plain, KiB | jit, KiB |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n");
  for (const Line& l : lines) {
    if (l.row->elements < few) continue;
    ++large;
    if (l.time() <= limit && l.memory() <= limit) continue;
    ++slow;
    std::printf("| %s | %s | %.1f | %.1f | %.2f | %lld | %lld |\n", l.row->name.c_str(), l.row->type.c_str(),
                l.of.plain.seconds * 1e6, l.of.jit.seconds * 1e6, l.time(),
                static_cast<long long>(l.of.plain.bytes / 1024),
                static_cast<long long>(l.of.jit.bytes / 1024));
  }
  std::printf("\n%zu of %zu rows of many elements above %.1f, in time or memory.\n", slow, large, limit);

  std::erase_if(lines, [](const Line& l) { return l.row->elements > few; });
  const auto fixed = [](const Line& l) { return (l.of.jit.seconds - l.of.plain.seconds) * 1e9; };
  std::sort(lines.begin(), lines.end(), [&](const Line& a, const Line& b) { return fixed(a) > fixed(b); });
  if (lines.empty()) return 0;
  std::printf("A call of few elements by jit takes %.0f ns more (median); the most:\n\n",
              fixed(lines[lines.size() / 2]));
  for (std::size_t i = 0; i < std::min<std::size_t>(lines.size(), 10); ++i)
    std::printf("- %s %s: %.0f ns, plain %.0f\n", lines[i].row->name.c_str(), lines[i].row->type.c_str(),
                fixed(lines[i]), lines[i].of.plain.seconds * 1e9);
  return 0;
}

}  // namespace bench::lint
