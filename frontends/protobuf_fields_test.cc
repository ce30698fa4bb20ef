#include "frontends/protobuf_fields.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ember::frontends {
namespace {

std::span<const uint8_t> Bytes(const std::vector<uint8_t>& bytes) {
  return bytes;
}

TEST(ProtobufFields, AllWireTypes) {
  const std::vector<uint8_t> message = {
      0x08, 0x96, 0x01,                          // 1: 150
      0x12, 0x02, 'h',  'i',                     // 2: "hi"
      0x1d, 0x00, 0x00, 0x80, 0x3f,              // 3: 1.0f
      0x21, 1,    2,    3,    4,    5, 6, 7, 8,  // 4: fixed64
      0xa2, 0x06, 0x00,                          // 100: ""
  };
  ProtobufFields fields(Bytes(message));
  ProtobufField field;
  ASSERT_TRUE(fields.Next(field));
  EXPECT_EQ(field.number, 1u);
  EXPECT_EQ(field.value, 150u);
  EXPECT_EQ(field.encoding.size(), 3u);
  ASSERT_TRUE(fields.Next(field));
  EXPECT_EQ(field.type, WireType::kBytes);
  EXPECT_EQ(std::string(field.bytes.begin(), field.bytes.end()), "hi");
  ASSERT_TRUE(fields.Next(field));
  EXPECT_EQ(field.type, WireType::kI32);
  EXPECT_EQ(field.value, 0x3f800000u);
  ASSERT_TRUE(fields.Next(field));
  EXPECT_EQ(field.value, 0x0807060504030201u);
  ASSERT_TRUE(fields.Next(field));
  EXPECT_EQ(field.number, 100u);
  EXPECT_TRUE(field.bytes.empty());
  EXPECT_FALSE(fields.Next(field));
  EXPECT_FALSE(fields.damaged());
}

TEST(ProtobufFields, WhatIsNoFieldIsDamage) {
  const std::vector<std::vector<uint8_t>> damaged = {
      {0x08},                  // no value
      {0x12, 0x03, 'h', 'i'},  // too short
      {0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
      {0x00, 0x01},  // number 0
      {0x0b, 0x0c},  // a group
      // The tag 0x1d announces a number of four bytes, but only three follow.
      {0x1d, 0x00, 0x00, 0x00},
      {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01},
  };
  for (const std::vector<uint8_t>& message : damaged) {
    ProtobufFields fields(Bytes(message));
    ProtobufField field;
    EXPECT_FALSE(fields.Next(field));
    EXPECT_TRUE(fields.damaged());
    EXPECT_FALSE(fields.Next(field));
  }
}

}  // namespace
}  // namespace ember::frontends
