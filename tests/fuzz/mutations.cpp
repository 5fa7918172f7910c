#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "fuzz.hpp"

// Of the sanitizers, where the program has one.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*)());

// A fuzzer's main() where there is no libFuzzer: mutations of the seeds, the same ones each time. An input
// that ends the program lies in fuzz_input.bin.
namespace {
using fuzz::Bytes;

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : seeds_(fuzz::seeds()), random_(seed) {}

  Bytes next() {
    Bytes bytes = seeds_[below(seeds_.size())];
    for (std::size_t n = 1 + below(1 + below(8)); n > 0; --n) mutate(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  void mutate(Bytes& bytes) {
    static constexpr std::uint64_t edges[] = {0,
                                              1,
                                              0x7f,
                                              0x80,
                                              0xff,
                                              0x7fff,
                                              0xffff,
                                              0x7fff'ffff,
                                              0xffff'ffff,
                                              std::uint64_t{1} << 62,
                                              ~std::uint64_t{0}};
    const std::size_t at = below(bytes.size() + 1);
    const std::size_t rest = bytes.size() - at, some = rest == 0 ? 0 : 1 + below(rest < 16 ? rest : 16);
    const auto here = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(8)) {
      case 0:
        if (rest > 0) bytes[at] ^= static_cast<std::uint8_t>(1 << below(8));
        break;
      case 1:
        if (rest > 0) bytes[at] = static_cast<std::uint8_t>(random_());
        break;
      case 2:  // a number in whatever field this is
        for (std::size_t i = 0, n = std::size_t{1} << below(4); i < n && i < rest; ++i)
          bytes[at + i] = static_cast<std::uint8_t>(edges[below(std::size(edges))] >> 8 * i);
        break;
      case 3:
        bytes.erase(here, here + static_cast<std::ptrdiff_t>(some));
        break;
      case 4:
        bytes.insert(here, some, static_cast<std::uint8_t>(random_()));
        break;
      case 5: {  // a piece of it, somewhere else
        const Bytes piece(here, here + static_cast<std::ptrdiff_t>(some));
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() + 1)), piece.begin(),
                     piece.end());
        break;
      }
      case 6: {  // the rest of another seed
        const Bytes& other = seeds_[below(seeds_.size())];
        const std::size_t from = below(other.size() + 1);
        bytes.resize(at);
        bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
        break;
      }
      default:
        if (below(4) == 0)
          bytes.resize(at);
        else if (rest > 0)
          ++bytes[at];
    }
  }

  std::vector<Bytes> seeds_;
  std::mt19937_64 random_;
};

Bytes last;
void keep_last() {
  std::ofstream("fuzz_input.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(last.data()), static_cast<std::streamsize>(last.size()));
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = ~std::uint64_t{0}, seconds = ~std::uint64_t{0} >> 32, seed = 1;
  bool tried = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto number = [&](const std::string& name, std::uint64_t& to) {
      if (argument.compare(0, name.size(), name) != 0) return false;
      to = std::stoull(argument.substr(name.size()));
      return true;
    };
    if (number("-runs=", runs) || number("-max_total_time=", seconds) || number("-seed=", seed) ||
        argument[0] == '-')
      continue;
    std::ifstream file(argument, std::ios::binary);
    last.assign(std::istreambuf_iterator<char>(file), {});
    LLVMFuzzerTestOneInput(last.data(), last.size());
    tried = true;
  }
  if (tried) return 0;
  std::signal(SIGABRT, [](int) { keep_last(); });
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(keep_last);
  for (const Bytes& bytes : fuzz::seeds()) LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  Mutator mutator(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::uint64_t done = 0;
  for (; done < runs && (done % 64 != 0 || std::chrono::steady_clock::now() < end); ++done) {
    last = mutator.next();
    LLVMFuzzerTestOneInput(last.data(), last.size());
  }
  std::printf("%llu inputs\n", static_cast<unsigned long long>(done));
}
