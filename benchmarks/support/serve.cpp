#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "clock.hpp"
#include "row.hpp"

namespace bench {
namespace {

double seconds(const std::function<void(std::int64_t)>& loop, std::int64_t calls) {
  const double start = now();
  loop(calls);
  return now() - start;
}

struct Prepared {
  Work work;
  std::int64_t calls = 0;  // as many as the clock can tell apart
};

Prepared prepare(const Row& row) {
  Prepared p{row.prepare(), 1};
  p.work.loop(1);
  while (seconds(p.work.loop, p.calls) < 50e-6 && p.calls < (1 << 20)) p.calls *= 2;
  return p;
}

std::string measure(Prepared& p, double budget) {
  std::vector<double> samples;
  double total = 0;
  p.work.loop(1);
  while (samples.size() < 3 || total < budget) {
    const double sample = seconds(p.work.loop, p.calls);
    total += sample;
    samples.push_back(sample / static_cast<double>(p.calls));
  }
  std::sort(samples.begin(), samples.end());
  std::ostringstream text;
  text.precision(9);
  text << samples[samples.size() / 2] << ' ' << samples.front();
  return text.str();
}

std::string answer(const Rows& rows, std::map<std::string, Prepared>& prepared, std::istringstream& line) {
  std::string command, name;
  line >> command >> name;
  if (command == "list") {
    std::string names;
    for (const Row& row : rows) names += row.name + ' ';
    return names;
  }
  if (command == "drop") return prepared.clear(), "ok";
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == name; });
  if (row == rows.end()) throw std::runtime_error("no row " + name);
  if (command == "run") {
    double budget = 0;
    line >> budget;
    auto at = prepared.find(name);
    if (at == prepared.end()) at = prepared.emplace(name, prepare(*row)).first;
    return measure(at->second, budget);
  }
  if (command == "result") {
    std::string path;
    line >> path;
    const std::vector<float> values = row->prepare().result();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
    return "ok";
  }
  throw std::runtime_error("no command " + command);
}

}  // namespace

int serve(const Rows& rows) {
  std::map<std::string, Prepared> prepared;
  for (std::string text; std::getline(std::cin, text) && text != "quit";) {
    std::istringstream line(text);
    try {
      std::cout << answer(rows, prepared, line) << std::endl;
    } catch (const std::exception& error) {
      std::cout << "error " << error.what() << std::endl;
    }
  }
  return 0;
}

}  // namespace bench
