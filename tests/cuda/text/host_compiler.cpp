// Linked into programs whose emulated GPU runs texts: they are compiled by the host's compiler.
#include "cuda/text/host_compiler.hpp"

#include <atomic>
#include <vector>

#include "nax/devices/cuda/launch/launch_emulated.hpp"
#include "nax/devices/cuda/text/text_kernel.hpp"

namespace host_text {
namespace {

std::atomic<int> compiled{0};

class HostKernel final : public nax::cuda::TextKernel {
 public:
  explicit HostKernel(const std::string& text) : library_(text), call_(library_.call("nax_call")) {}
  void launch(nax::Device device, const std::uint64_t* words, std::size_t count,
              std::int64_t) const override {
    nax::detail::check_recorded_on(device);
    const std::vector<std::uint64_t> kept(words, words + count);
    nax::cuda::emulate([call = call_, kept] { call(kept.data()); });
  }

 private:
  Library library_;
  Library::Call call_;
};

class HostCompiler final : public nax::cuda::TextCompiler {
 public:
  std::string architecture(nax::Device) override { return "host"; }
  std::shared_ptr<const nax::cuda::TextKernel> compile(nax::Device, const std::string& text) override {
    ++compiled;
    if (std::getenv("NAX_TEST_SHOW_TEXTS")) std::fprintf(stderr, "%s\n", text.c_str());
    return std::make_shared<const HostKernel>(text);
  }
};

HostCompiler host;
[[maybe_unused]] const bool provided = (nax::cuda::text_compiler = &host, true);

}  // namespace
}  // namespace host_text

int texts_compiled();
int texts_compiled() { return host_text::compiled; }
