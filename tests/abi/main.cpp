// One file of the program is compiled for any processor, the other for instructions that may be missing at
// run time; then it is not called. `main both` calls both.
#include <cstdio>
#include <string>

std::string baseline();
std::string more();

int main(int count, char**) {
  const std::string here = baseline();
  std::printf("%s", here.c_str());
  if (count < 2) return 0;
  if (!__builtin_cpu_supports("avx2")) {
    std::puts("skipped: this processor lacks the other file's instructions");
    return 77;
  }
  const std::string there = more();
  if (here == there) return 0;
  std::printf("the other file says\n%s", there.c_str());
  return 1;
}
