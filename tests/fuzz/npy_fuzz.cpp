#include <cstring>

#include "fuzz.hpp"
#include "nax/io/save.hpp"
#include "nax/numpy/conversion/array_methods.hpp"

// .npy files, into arrays of several types: the first byte chooses.
namespace {
using namespace nax;
using fuzz::Bytes;

Bytes saved(const ArrayBase& a) {
  const std::string header = io::detail::npy_header(a.dtype(), a.shape());
  Bytes bytes(header.begin(), header.end());
  const char* elements = detail::raw_data(a);
  if (a.nbytes() > 0) bytes.insert(bytes.end(), elements, elements + a.nbytes());
  return bytes;
}

template <class T>
void try_as(const Bytes& file, bool shape_is_known) {
  Array<T> a;
  if (shape_is_known) a = Array<T>{{T(1), T(2)}, {T(3), T(4)}};
  const auto load = [](const Bytes& bytes, Array<T>& to) {
    io::detail::load_from(io::detail::Source("load", "f.npy", bytes), true, to);
  };
  if (!fuzz::reads([&] { load(file, a); })) return;
  fuzz::must(!shape_is_known || a.shape() == (Shape{2, 2}), "an array of another shape");
  if constexpr (std::is_same_v<T, bool>)
    for (std::size_t i = 0; i < a.nbytes(); ++i)
      fuzz::must(static_cast<unsigned char>(detail::raw_data(a)[i]) < 2, "a bool that is neither 0 nor 1");
  const Bytes bytes = saved(a);
  Array<T> again;
  fuzz::must(fuzz::reads([&] { load(bytes, again); }), "what was loaded and saved does not load");
  fuzz::must(saved(again) == bytes, "what was loaded and saved is something else");
}

Bytes with_header(int choice, const std::string& dictionary, std::size_t elements, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    file += static_cast<char>(dictionary.size() >> 8 * i & 0xff);
  return fuzz::chosen(choice, file + dictionary + std::string(elements, '\3'));
}

}  // namespace

std::vector<Bytes> fuzz::seeds() {
  return {chosen(0, saved(Array<std::uint8_t>{{1, 2, 3}, {4, 5, 6}})),
          chosen(1, saved(Array<bool>{{true, false}, {false, true}})),
          chosen(2, saved(Array<float>(1))),
          chosen(3, saved(Array<std::complex<double>>{1, 2})),
          chosen(4, saved(Array<half>{{1, 2}, {3, 4}})),
          chosen(7, saved(Array<bool>{{true, false}, {false, true}})),
          with_header(0, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 6),
          with_header(1, "{'descr': '|b1', 'fortran_order': True, 'shape': (2, 3, 1), }", 6, 2),
          with_header(2, "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3L), }   \n", 24),
          with_header(3, "{\"shape\":(0,4611686018427387904),'descr':'>c16','fortran_order':True}", 0, 3),
          with_header(4, "{'descr': [('a', '<f2')], 'fortran_order': 1, 'shape': (1), }", 2)};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes file(data + 1, data + size);
  const bool shape_is_known = data[0] % 12 >= 6;
  switch (data[0] % 6) {
    case 0:
      try_as<std::uint8_t>(file, shape_is_known);
      break;
    case 1:
      try_as<bool>(file, shape_is_known);
      break;
    case 2:
      try_as<float>(file, shape_is_known);
      break;
    case 3:
      try_as<std::complex<double>>(file, shape_is_known);
      break;
    case 4:
      try_as<half>(file, shape_is_known);
      break;
    default:
      try_as<std::int64_t>(file, shape_is_known);
  }
  return 0;
}
