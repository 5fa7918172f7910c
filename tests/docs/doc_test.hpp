#pragma once

#include <gtest/gtest.h>

#include <iostream>
#include <sstream>
#include <string>

// A reader's snippet may well leave a variable unused, and is read more often than it is warned about.
#pragma GCC diagnostic ignored "-Wunused"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wcomment"

// What the sources made from Markdown pages call: std::cout is caught, and compared with the page's ```text
// blocks.
namespace doc_test {

inline std::ostringstream* captured = nullptr;

class Capture {
 public:
  Capture() : previous_(std::cout.rdbuf(text_.rdbuf())) { captured = &text_; }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    std::cout.rdbuf(previous_);
    captured = nullptr;
  }

 private:
  std::ostringstream text_;
  std::streambuf* previous_;
};

// what was printed since the last call; a page need not show a last newline
inline void expect(const char* page, int line, const std::string& text) {
  if (!captured) return;
  std::string printed = captured->str();
  captured->str("");
  if (printed.empty() || printed.back() != '\n') printed += '\n';
  EXPECT_EQ(printed, text) << "printed by the block before " << page << ":" << line;
}

}  // namespace doc_test
