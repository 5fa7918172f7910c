#pragma once

#include <gtest/gtest.h>

#include <iostream>
#include <nax/arrow.hpp>
#include <nax/interpolate.hpp>
#include <nax/io/json.hpp>
#include <nax/mcmc.hpp>
#include <nax/modules/data/tokenizer.hpp>
#include <nax/modules/exporting/onnx.hpp>
#include <nax/modules/exporting/save_c.hpp>
#include <nax/modules/exporting/stablehlo.hpp>
#include <nax/neighbours.hpp>
#include <nax/signal.hpp>
#include <sstream>
#include <string>

#include "nax/backend/cpu/factor/eigen_core.hpp"

// Snippets may leave variables unused.
#pragma GCC diagnostic ignored "-Wunused"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wcomment"

// For the sources made from Markdown pages: catches std::cout and compares it with the page's ```text blocks.
namespace doc_test {

inline std::ostringstream* captured = nullptr;

class Capture {
 public:
  Capture() : previous_(std::cout.rdbuf(text_.rdbuf())) {
    format_.copyfmt(std::cout);
    captured = &text_;
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    std::cout.rdbuf(previous_);
    std::cout.copyfmt(format_);  // a block's manipulators, such as boolalpha, end with it
    captured = nullptr;
  }

 private:
  std::ostringstream text_;
  std::ios format_{nullptr};
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
