// One file of the program is compiled for any processor, the other for instructions that may be missing at
// run time; then it is not called. `main both` calls both.
#include <cstdio>
#include <nax/core/shared_threads.hpp>
#include <string>

std::string baseline();
std::string more();
int baseline_threads(int count);
int more_threads(int count);

namespace {

int shared_out = 0;
void count_and_run(void* object, nax_shared::Part* part, std::int64_t n, std::int64_t, int) {
  ++shared_out;
  part(object, 0, n);
}

}  // namespace

int main(int count, char**) {
  const bool both = count > 1 && __builtin_cpu_supports("avx2");
  if (both) {  // the files share threads, whose number holds for both
    nax_shared::share_out = count_and_run;
    if (baseline_threads(3) != 3 || more_threads(0) != 3 || shared_out != 2) {
      std::printf("the files do not share threads: %d of 2 calls\n", shared_out);
      return 1;
    }
    nax_shared::share_out = nullptr;
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
