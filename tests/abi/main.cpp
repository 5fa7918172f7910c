// One file of the program is compiled for any processor, the other for instructions that may be missing at
// run time; then it is not called. `main both` calls both.
#include <cstdio>
#include <string>

std::string baseline();
std::string more();
int baseline_threads(int count);
int more_threads(int count);

int main(int count, char**) {
  const std::string here = baseline();
  std::printf("%s", here.c_str());
  if (count < 2) return 0;
  if (!__builtin_cpu_supports("avx2")) {
    std::puts("skipped: this processor lacks the other file's instructions");
    return 77;
  }
  const std::string there = more();
  if (here != there) {
    std::printf("the other file says\n%s", there.c_str());
    return 1;
  }
  // They share threads, whose number holds for both.
  baseline_threads(3);
  if (more_threads(0) != 3 || more_threads(2) != 2 || baseline_threads(0) != 2) {
    std::puts("the files do not share threads");
    return 1;
  }
  return 0;
}
