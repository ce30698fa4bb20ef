#include "jit/c_like/element_number.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "jit/c/language.h"

namespace ember::jit::c_like {
namespace {

TEST(ElementNumber, OfConstantExtentsIsOneSum) {
  ElementNumber number(c::kLanguage);
  EXPECT_EQ(number.Text(), "0");
  number.Add("i", 1);
  number.Add(-1);
  number.MultiplyBy(28);
  number.Add("j", 2);
  number.Add("k", -1);
  EXPECT_EQ(number.Text(), "i * 28 + j * 2 - k - 28");
}

TEST(ElementNumber, OfOpenExtentsIsAProduct) {
  ElementNumber number(c::kLanguage);
  number.MultiplyBy("n");
  number.Add("i", 3);
  number.MultiplyBy("n");
  number.Add(1);
  EXPECT_EQ(number.Text(), "((i * 3) * n) + 1");
}

TEST(ElementNumber, WhatIsSubtractedFirstIsSubtractedFrom0) {
  ElementNumber number(c::kLanguage);
  number.Add("i", -4);
  EXPECT_EQ(number.Text(), "(size_t)0 - i * 4");
}

TEST(ElementNumber, Wraps) {
  ElementNumber number(c::kLanguage);
  number.Add(INT64_MAX);
  number.Add(2);
  number.Add("i", INT64_MIN);
  EXPECT_EQ(number.Text(),
            "(size_t)0 - i * (size_t)(-INT64_C(9223372036854775807) - 1) - "
            "(size_t)INT64_C(9223372036854775807)");
}

}  // namespace
}  // namespace ember::jit::c_like
