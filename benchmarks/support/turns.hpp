#pragma once

#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "clock.hpp"

namespace bench {

// Answers each line of the input, the name of a call, by the seconds that it took: nax's side of
// peers/turns.py.
inline void answer(const std::map<std::string, std::function<void()>>& calls) {
  std::cout << "ready" << std::endl;
  for (std::string name; std::getline(std::cin, name);) {
    const double start = now();
    calls.at(name)();
    std::cout << now() - start << std::endl;
  }
}

}  // namespace bench
