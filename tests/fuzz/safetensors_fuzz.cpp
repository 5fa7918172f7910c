#include <cstring>

#include "fuzz.hpp"
#include "nax/io/safetensors.hpp"
#include "nax/numpy/conversion/array_methods.hpp"

// .safetensors files: the file as it comes (an even first byte), or (an odd one) a header whose length is
// right before bytes of elements; the second byte says how many.
namespace {
using namespace nax;
using fuzz::Bytes;

struct Tree {
  Array<float> a;
  Array<bool> b;
  int n = 0;
};

Bytes framed(const std::string& header, std::size_t elements) {
  Bytes bytes(8);
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(header.size() >> 8 * i);
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.resize(bytes.size() + elements, 2);
  return bytes;
}

const std::string
    plain =
        R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"n":{"dtype":"I32","shape":[],"data_offsets":[12,16]},)"
        R"("b":{"dtype":"BOOL","shape":[2,2],"data_offsets":[16,20]}}   )",
    others =
        R"({"__metadata__":{"format":"pt","\u00e9\n":""},"a":{"shape":[2,0],"data_offsets":[0,0],"dtype":"F32"},)"
        R"("b":{"dtype":"BOOL","shape":[1],"data_offsets":[8,9]},"x\ud83d\ude00":{"dtype":"F8_E4M3","shape":[8],)"
        R"("data_offsets":[0,8]},"n":{"dtype":"I32","shape":[],"data_offsets":[9,13]}})";

void visit(const io::detail::SafetensorsReader& reader) {
  for (const auto& [name, info] : reader.header().tensors) {
    fuzz::must(info.begin <= info.end && info.end <= reader.source().size(), "an array beyond the file");
    if (!info.held) continue;
    const ArrayBase array = reader.array(name, *info.held, nullptr, false);
    fuzz::must(array.nbytes() == info.end - info.begin, "an array of another size");
    for (std::size_t i = 0; *info.held == DType::boolean && i < array.nbytes(); ++i)
      fuzz::must(static_cast<unsigned char>(detail::raw_data(array)[i]) < 2,
                 "a bool that is neither 0 nor 1");
  }
}

}  // namespace

std::vector<Bytes> fuzz::seeds() {
  return {chosen(0, framed(plain, 20)), chosen(2, framed(others, 13)), chosen(4, framed(plain, 20)),
          chosen(1, std::string(1, 20) + plain), chosen(3, std::string(1, 13) + others)};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const int choice = data[0];
  const bool is_framed = choice % 2 == 1;
  const Bytes bytes =
      is_framed ? framed(std::string(data + 2, data + size), data[1]) : Bytes(data + 1, data + size);
  const io::detail::Source source("load_safetensors", "f.safetensors", bytes);
  fuzz::reads([&] { visit(io::detail::SafetensorsReader(source, true)); });
  Tree tree;
  if (choice & 4) tree.a = Array<float>{1, 2, 3};
  const Shape before = tree.a.shape();
  const io::LoadSafetensorsOptions options{
      .strict = (choice & 2) == 0, .rename = {{"x", "a"}}, .cast = (choice & 8) != 0};
  const bool loaded = fuzz::reads([&] { io::detail::load_safetensors_from(source, tree, options); });
  fuzz::must(loaded || (tree.a.shape() == before && tree.n == 0), "a tree that was changed all the same");
  return 0;
}
