#include "nax/devices/cuda/text/nvrtc.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "cuda/text/texts.hpp"

// NVRTC compiles texts, without a card. Skipped where no libnvrtc is.
namespace text_nvrtc_test {

using namespace texts;
using nax::cuda::Nvrtc;

#define NAX_NEEDS_NVRTC() \
  if (!Nvrtc::is_present()) GTEST_SKIP() << "libnvrtc is not installed"

bool is_elf(const std::string& image) { return image.size() > 4 && image.compare(1, 3, "ELF") == 0; }

// The text of every operation alone; prints how long one takes.
TEST(Nvrtc, CompilesEveryOperation) {
  NAX_NEEDS_NVRTC();
  double slowest = 0, sum = 0;
  int count = 0;
  std::string slow;
  const auto compile = [&](const Case& c) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string image = Nvrtc::get().compile(text_of(c.lowered), "sm_90");
    const double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_TRUE(is_elf(image)) << c.name;
    EXPECT_NE(image.find("nax_formula"), std::string::npos) << c.name;
    sum += ms;
    ++count;
    if (ms > slowest) slowest = ms, slow = c.name;
  };
  for (const Case& c : cases<float>()) compile(c);
  for (const Case& c : cases<double>()) compile(c);
  std::printf("%d texts, %.1f ms each, %.1f ms for %s\n", count, sum / count, slowest, slow.c_str());
}

std::string add_text() {
  nax::formula::Recorder recorder(nax::DType::float32);
  const auto x = nax::formula::Symbol<float>::input(0);
  return text_of(nax::formula::lowered(recorder.finish({(x + x).at})));
}

TEST(Nvrtc, GivesPtxForAVirtualArchitecture) {
  NAX_NEEDS_NVRTC();
  const std::string ptx = Nvrtc::get().compile(add_text(), "compute_90");
  EXPECT_NE(ptx.find(".entry nax_formula"), std::string::npos);
  EXPECT_NE(ptx.find("ld.global.v4"), std::string::npos) << "rows are read 16 bytes at a time\n" << ptx;
}

TEST(Nvrtc, DoesNotFuseOnItsOwn) {
  NAX_NEEDS_NVRTC();
  nax::formula::Recorder recorder(nax::DType::float32);
  using V = nax::formula::Symbol<float>;
  const V x = V::input(0), y = V::input(1);
  const nax::formula::Formula f = recorder.finish({(x * y + x).at});
  const std::string apart = Nvrtc::get().compile(text_of(nax::formula::lowered(f, false)), "compute_90");
  EXPECT_EQ(apart.find("fma.rn.f32"), std::string::npos) << apart;
  if (!nax::simd::fused) return;
  const std::string fused = Nvrtc::get().compile(text_of(nax::formula::lowered(f)), "compute_90");
  EXPECT_NE(fused.find("fma.rn.f32"), std::string::npos) << fused;
}

TEST(Nvrtc, ErrorsCarryItsLog) {
  NAX_NEEDS_NVRTC();
  const auto message = [](const std::string& text, const std::string& architecture) {
    try {
      Nvrtc::get().compile(text, architecture);
    } catch (const nax::DeviceError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string wrong = message("extern \"C\" __global__ void f() { wrong_name = 1; }", "sm_90");
  EXPECT_NE(wrong.find("wrong_name"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("sm_90"), std::string::npos) << wrong;
  const std::string bad = message(add_text(), "sm_12345");
  EXPECT_NE(bad.find("sm_12345"), std::string::npos) << bad;
  EXPECT_NE(bad.find("invalid value for --gpu-architecture"), std::string::npos) << bad;
}

TEST(Nvrtc, FindsArchitecturesOfCards) {
  NAX_NEEDS_NVRTC();
  EXPECT_EQ(Nvrtc::get().architecture_for(90), "sm_90");
  const std::string later = Nvrtc::get().architecture_for(9990);  // the driver compiles PTX for it
  EXPECT_EQ(later.substr(0, 8), "compute_");
  EXPECT_NE(Nvrtc::get().compile(add_text(), later).find(".entry"), std::string::npos);
  EXPECT_THROW(Nvrtc::get().architecture_for(20), nax::DeviceError);
}

#undef NAX_NEEDS_NVRTC

}  // namespace text_nvrtc_test
