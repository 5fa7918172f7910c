#pragma once

#include <algorithm>

#include "nax/io/new_file.hpp"
#include "nax/modules/exporting/c_writer-inl.hpp"
#include "nax/modules/exporting/save_c.hpp"

NAX_BEGIN
namespace io::detail {

// Keywords of C and C++, and names that the headers of the source declare.
inline constexpr std::string_view c_words =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t "
    "class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
    "decltype default delete do double dynamic_cast else enum explicit export extern false float for "
    "friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator "
    "or or_eq private protected public register reinterpret_cast requires restrict return short "
    "signed sizeof static static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while "
    "xor xor_eq linux unix main "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t "
    "size_t ptrdiff_t max_align_t nullptr_t float_t double_t offsetof unreachable NULL NAN INFINITY HUGE_VAL "
    "HUGE_VALF HUGE_VALL INDEPENDENT UNROLL ALIGNED VECTOR_OF DATA_PATH windows window_place "
    "fpclassify isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan isnormal "
    "isunordered signbit math_errhandling signgam memccpy memchr memcmp memcpy memmove memset strcat strchr "
    "strcmp strcoll strcpy strcspn strdup strerror strlen strncat strncmp strncpy strndup strpbrk strrchr "
    "strspn strstr strtok strxfrm ";
// Functions of the C library that the source does not call: another of their names does not link, or is
// called in their place. Parameters may have these names.
inline constexpr std::string_view c_library =
    " j0 j1 jn y0 y1 yn gamma index rindex bcmp bcopy bzero ffs "
    "abort abs aligned_alloc at_quick_exit atexit atof atoi atol atoll bsearch calloc div exit free getenv "
    "labs "
    "ldiv llabs lldiv malloc mblen mbstowcs mbtowc qsort quick_exit rand random realloc srand srandom strtod "
    "strtof strtol strtold strtoll strtoul strtoull system wcstombs wctomb "
    "clearerr fclose feof ferror fflush fgetc fgetpos fgets fopen fprintf fputc fputs fread freopen fscanf "
    "fseek fsetpos ftell fwrite getc getchar gets perror printf putc putchar puts remove rename rewind scanf "
    "setbuf setvbuf snprintf sprintf sscanf tmpfile tmpnam ungetc vfprintf vprintf vsnprintf vsprintf "
    "raise signal longjmp setjmp setlocale localeconv "
    "asctime clock ctime difftime gmtime localtime mktime strftime time "
    "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit "
    "tolower "
    "toupper accept access bind close connect dup fork kill link listen open pause pipe poll read recv "
    "select "
    "send sleep socket stat sync truncate unlink usleep wait write ";
// Functions of math.h, whose names also end in `f` and `l`.
inline constexpr std::string_view c_functions =
    " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp10 exp2 expm1 "
    "fabs fdim finite floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 "
    "log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round "
    "scalb scalbln scalbn significand sin sinh sqrt tan tanh tgamma trunc ";

inline bool is_word_of_c(const std::string& name) {
  const auto among = [](std::string_view list, const std::string& word) {
    return list.find(' ' + word + ' ') != std::string_view::npos;
  };
  if (among(c_words, name) || among(c_functions, name)) return true;
  if ((name.back() == 'f' || name.back() == 'l') && among(c_functions, name.substr(0, name.size() - 1)))
    return true;
  if (name.size() > 1 && name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z')))
    return true;  // are the compiler's
  if (std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; }))  // macros
    for (const char* const beginning : {"INT", "UINT", "FLT_", "DBL_", "LDBL_", "DECIMAL_", "M_", "FP_",
                                        "MATH_", "SIZE_", "PTRDIFF_", "WCHAR_", "WINT_", "SIG_"})
      if (name.starts_with(beginning)) return true;
  // gemm_float and other functions of the source
  for (const CHelper& one : c_helpers)
    for (std::size_t end = 0; (end = one.text.find("_@S", end)) != std::string_view::npos; ++end) {
      const std::size_t begin = one.text.find_last_of(" (\n", end) + 1;
      if (!name.starts_with(one.text.substr(begin, end + 1 - begin))) continue;
      const std::string type = name.substr(end + 1 - begin);
      if (type == "float" || among(" bool double ", type) || (type.ends_with("_t") && among(c_words, type)))
        return true;
    }
  return false;
}

// Names of the function and its parameters, each another one and none that the source uses itself.
inline CNames c_names(const std::string& stem, const Graph& graph, const SaveCOptions& options) {
  CNames names{options.name.empty() ? stem : options.name, options.inputs, options.outputs,
               options.text_bytes};
  std::set<std::string> used = {"scratch", "memory"};
  const auto add = [&](const std::string& name) {
    const auto is_letter = [](char c) {
      return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    bool fits =
        !name.empty() && is_letter(name[0]) &&
        (name.size() < 3 || name[1] != '_' || !is_digit(name[2]));  // b_0, w_1 and so on are the source's
    for (const char c : name) fits = fits && (is_letter(c) || is_digit(c));
    fits = fits && !is_word_of_c(name);
    if (!fits) raise<ValueError>({"save_c: no name of C's: ", name});
    if (!used.insert(name).second) raise<ValueError>({"save_c: a name is used twice: ", name});
  };
  const auto complete = [&](const char* what, std::vector<std::string>& own, char letter, std::size_t count) {
    if (own.empty())
      for (std::size_t i = 0; i < count; ++i) own.push_back(letter + std::to_string(i));
    if (own.size() != count)
      raise<ValueError>({"save_c: ", static_cast<std::int64_t>(own.size()), " names of ", what, " for ",
                         static_cast<std::int64_t>(count), " arrays"});
    for (const std::string& name : own) add(name);
  };
  add(names.function);
  if (c_library.find(' ' + names.function + ' ') != std::string_view::npos)
    raise<ValueError>({"save_c: no name of C's: ", names.function});
  used.insert({names.function + "_with", names.function + "_data", names.guard() + "_H",
               names.guard() + "_SCRATCH_BYTES"});
  complete("inputs", names.inputs, 'x', graph.arguments.size());
  complete("outputs", names.outputs, 'y', graph.results.size());
  return names;
}

NAX_ENGINE void write_c(const std::string& path, const Graph& graph, const SaveCOptions& options) {
  const std::size_t slash = path.find_last_of(os::separators);
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  std::string stem = path.substr(folder.size());
  stem = stem.substr(0, stem.rfind('.'));
  const CNames names = c_names(stem, graph, options);
  const std::string header = folder + names.function + ".h", bytes = folder + names.function + ".bin";
  if (path == header || path == bytes)
    raise<ValueError>(
        {"save_c: the source would be overwritten by its ", path == header ? "header" : "bytes", ": ", path});
  CWriter writer(graph, names);
  writer.write();
  const auto put = [](const std::string& to, const std::string& text) {
    NewFile file("save_c", to);
    file.write(text.data(), text.size());
    file.commit();
  };
  if (!writer.data().empty()) put(bytes, writer.data());
  put(header, writer.header());
  put(path, writer.source());
}

}  // namespace io::detail
NAX_END
