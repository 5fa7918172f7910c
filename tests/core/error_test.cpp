#include <gtest/gtest.h>

#include <nax/core/error.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace error_test {

template <class Kind>
class ErrorKind : public testing::Test {};

using Kinds = testing::Types<nax::ShapeError, nax::TypeError, nax::IndexError, nax::ValueError,
                             nax::DeviceError, nax::IoError>;
TYPED_TEST_SUITE(ErrorKind, Kinds);

TYPED_TEST(ErrorKind, IsCaughtAsNaxErrorWithText) {
  try {
    throw TypeParam("matmul: inner dimensions differ: (128, 784) x (512, 10)");
  } catch (const nax::Error& error) {
    EXPECT_STREQ(error.what(), "matmul: inner dimensions differ: (128, 784) x (512, 10)");
  }
}

TYPED_TEST(ErrorKind, IsCaughtAsStdRuntimeError) {
  EXPECT_THROW(throw TypeParam(std::string("add: x")), std::runtime_error);
}

TEST(ErrorKinds, AreDistinct) {
  static_assert(!std::is_base_of_v<nax::IndexError, nax::ShapeError>);
  static_assert(!std::is_base_of_v<nax::ShapeError, nax::ValueError>);
}

}  // namespace error_test
