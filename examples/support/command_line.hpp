#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

// The options of a program: each is asked for once, with its default and a line of help, and done() has the
// last word.
//
//   CommandLine args(argc, argv, "adds things up");
//   const int times = args.integer("--times", 3, "how often");
//   args.done();
//
// `--name value` and `--name=value` are the same. What is wrong is said on stderr, and the program ends with
// status 2.
namespace examples {

class CommandLine {
 public:
  CommandLine(int argc, char** argv, const char* purpose) : program_(argv[0]), purpose_(purpose) {
    program_ = program_.substr(program_.find_last_of('/') + 1);
    for (int i = 1; i < argc; ++i) {
      std::string name = argv[i];
      if (name == "--help" || name == "-h") {
        help_ = true;
        continue;
      }
      if (name.rfind("--", 0) != 0) fail("an option must begin with --, not '" + name + "'");
      const std::size_t equals = name.find('=');
      if (equals != std::string::npos)
        given_.push_back({name.substr(0, equals), name.substr(equals + 1), true});
      else if (i + 1 < argc && std::string(argv[i + 1]).rfind("--", 0) != 0)
        given_.push_back({name, argv[++i], true});
      else
        given_.push_back({name, "", false});
    }
  }

  std::string text(const char* name, const std::string& otherwise, const std::string& help) {
    usage_.push_back({name, help + (otherwise.empty() ? "" : " [" + otherwise + "]")});
    std::string value = otherwise;
    for (Given& option : given_) {
      if (option.name != name) continue;
      if (!option.has_value || option.value.empty()) fail(option.name + " wants a value");
      value = option.value;
      option.known = true;
    }
    return value;
  }

  std::string choice(const char* name, std::initializer_list<const char*> choices, const std::string& help) {
    std::string all;
    for (const char* one : choices) all.append(all.empty() ? "" : "|").append(one);
    const std::string value = text(name, *choices.begin(), help + ": " + all);
    for (const char* one : choices)
      if (value == one) return value;
    fail(std::string(name) + " is one of " + all + ", not '" + value + "'");
  }

  std::int64_t integer(const char* name, std::int64_t otherwise, const std::string& help,
                       std::int64_t least = 0, std::int64_t most = many) {
    return to_integer(name, text(name, std::to_string(otherwise), help), least, most);
  }

  double number(const char* name, const std::string& otherwise, const std::string& help, double least = 0) {
    const std::string value = text(name, otherwise, help);
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (end == value.c_str() || *end != '\0' || !(number >= least) || number > 1e30)
      fail(std::string(name) + " wants a number of at least " + short_text(least) + ", not '" + value + "'");
    return number;
  }

  // Integers with commas between them.
  std::vector<std::int64_t> integers(const char* name, const std::string& otherwise, const std::string& help,
                                     std::int64_t least = 0) {
    std::vector<std::int64_t> values;
    std::string rest = text(name, otherwise, help);
    for (std::size_t comma = 0; comma != std::string::npos; rest.erase(0, comma + 1)) {
      comma = rest.find(',');
      values.push_back(to_integer(name, rest.substr(0, comma), least, many));
      if (comma == std::string::npos) break;
    }
    return values;
  }

  // Call after the last option: shows the help, and refuses unknown options.
  void done() const {
    if (help_) {
      std::printf("%s: %s\n\n", program_.c_str(), purpose_);
      for (const auto& [name, help] : usage_) std::printf("  %-14s %s\n", name.c_str(), help.c_str());
      std::exit(0);
    }
    for (const Given& option : given_)
      if (!option.known) fail("there is no option " + option.name);
  }

  [[noreturn]] void fail(const std::string& what) const {
    std::fprintf(stderr, "%s: %s (--help lists the options)\n", program_.c_str(), what.c_str());
    std::exit(2);
  }

 private:
  struct Given {
    std::string name, value;
    bool has_value;
    bool known = false;
  };

  static constexpr std::int64_t many = 1'000'000'000;

  std::int64_t to_integer(const char* name, const std::string& value, std::int64_t least,
                          std::int64_t most) const {
    char* end = nullptr;
    errno = 0;
    const long long number = std::strtoll(value.c_str(), &end, 10);
    if (end != value.c_str() && *end == '\0' && errno == 0 && number >= least && number <= most)
      return number;
    std::string range = most < many ? " between " : " of at least ";
    range += std::to_string(least);
    if (most < many) range.append(" and ").append(std::to_string(most));
    fail(std::string(name) + " wants an integer" + range + ", not '" + value + "'");
  }
  static std::string short_text(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
  }

  std::string program_;
  const char* purpose_;
  bool help_ = false;
  std::vector<Given> given_;
  std::vector<std::pair<std::string, std::string>> usage_;
};

}  // namespace examples
