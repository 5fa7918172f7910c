#include <gtest/gtest.h>

#include <nax/nax.hpp>
#include <sstream>

namespace config_test {

TEST(ShowConfig, NamesEveryPart) {
  std::ostringstream out;
  nax::show_config(out);
  const std::string text = out.str();
  for (const char* part : {"nax ", "compiler", "instructions  compiled for ", "; found: ", "processor",
                           "Eigen", "products", "formulas", "threads", "devices       cpu: ", "memory"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  EXPECT_NE(text.find(std::to_string(NAX_VERSION_MAJOR) + '.' + std::to_string(NAX_VERSION_MINOR)),
            std::string::npos);
}

}  // namespace config_test
