// One file of the program is compiled for any processor, the other for instructions that may be missing at
// run time; then it is not called. `main both` calls both.
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string>

std::string baseline();
std::string more();
int baseline_threads(int count);
int more_threads(int count);

namespace {

std::ptrdiff_t threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

}  // namespace

int main(int count, char**) {
  baseline_threads(3);
  const bool both = count > 1 && __builtin_cpu_supports("avx2");
  if (both) {  // the files share threads, whose number holds for both
    const std::ptrdiff_t before = threads_of_process();
    if (more_threads(0) != 3 || threads_of_process() != before) {
      std::printf("the files do not share threads: there were %d and are %d\n", static_cast<int>(before),
                  static_cast<int>(threads_of_process()));
      return 1;
    }
  }
  const std::string here = baseline();
  std::printf("%s", here.c_str());
  if (count < 2) return 0;
  if (!both) {
    std::puts("skipped: this processor lacks the other file's instructions");
    return 77;
  }
  const std::string there = more();
  if (here == there) return 0;
  std::printf("the other file says\n%s", there.c_str());
  return 1;
}
