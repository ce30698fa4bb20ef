#include "hal/cuda/emulated/tensor_map.h"

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hal/cuda/api/result.h"

namespace ember::hal::cuda {
namespace {

// Arguments for EncodeTensorMap. The default values are correct, and each test
// case changes one of them.
struct Arguments {
  alignas(128) uint8_t bytes[256] = {};
  size_t offset = 0;  // Offset in `bytes` at which the map is written.
  CUtensorMapDataType type = kTensorMapUint16;
  uint32_t rank = 3;
  uint64_t address = 0x7f0000000010;
  std::vector<uint64_t> extents = {40, 7, 3, 1, 1};
  std::vector<uint64_t> strides = {80, 560, 1680, 1680};
  std::vector<uint32_t> box = {64, 256, 1, 1, 1};
  std::vector<uint32_t> element_strides = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = kTensorMapInterleaveNone;
  CUtensorMapSwizzle swizzle = kTensorMapSwizzle128;
  CUtensorMapL2promotion promotion = kTensorMapL2Promotion128;
  CUtensorMapFloatOOBfill fill = kTensorMapFillZeros;

  CUresult Encode() {
    return EncodeTensorMap(
        reinterpret_cast<CUtensorMap*>(bytes + offset), type, rank,
        reinterpret_cast<void*>(static_cast<uintptr_t>(address)),
        extents.data(), strides.data(), box.data(), element_strides.data(),
        interleave, swizzle, promotion, fill);
  }
};

TEST(TensorMapTest, ReadsWhatIsEncoded) {
  Arguments arguments;
  TensorMap map;
  EXPECT_FALSE(ReadTensorMap(arguments.bytes, map));
  ASSERT_EQ(arguments.Encode(), kSuccess);
  // ReadTensorMap must accept a copy of the map at an unaligned address,
  // because kernels may have such copies.
  std::vector<uint8_t> moved(sizeof(CUtensorMap) + 1);
  std::memcpy(moved.data() + 1, arguments.bytes, sizeof(CUtensorMap));
  ASSERT_TRUE(ReadTensorMap(moved.data() + 1, map));
  EXPECT_EQ(map.address, 0x7f0000000010u);
  EXPECT_EQ(map.element_bytes, 2u);
  EXPECT_EQ(map.rank, 3u);
  EXPECT_EQ(map.is_swizzled, 1u);
  EXPECT_EQ(map.extents, (std::array<uint64_t, 5>{40, 7, 3, 1, 1}));
  EXPECT_EQ(map.strides, (std::array<uint64_t, 5>{2, 80, 560, 0, 0}));
  EXPECT_EQ(map.box, (std::array<uint32_t, 5>{64, 256, 1, 1, 1}));
}

TEST(TensorMapTest, TakesWhatIsJustAllowed) {
  const std::vector<std::function<void(Arguments&)>> changes = {
      [](Arguments& a) { a.offset = 64; },
      [](Arguments& a) { a.rank = 1; },
      [](Arguments& a) { a.rank = 5; },
      [](Arguments& a) { a.type = kTensorMapUint8; },
      [](Arguments& a) { a.extents[2] = uint64_t{1} << 32; },
      [](Arguments& a) { a.strides[1] = (uint64_t{1} << 40) - 16; },
      [](Arguments& a) { a.strides = {96, 688, 0, 0}; },
      // Dims may have strides in another order than the dims themselves; a dim
      // of one element may have any stride.
      [](Arguments& a) { a.strides = {240, 80, 0, 0}; },
      [](Arguments& a) {
        a.rank = 4;
        a.extents = {40, 7, 1, 3, 1};
        a.strides = {240, 16, 80, 0};
      },
      [](Arguments& a) {
        a.swizzle = kTensorMapSwizzleNone;
        a.box[0] = 256;
      },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Arguments arguments;
    changes[i](arguments);
    EXPECT_EQ(arguments.Encode(), kSuccess) << i;
  }
}

TEST(TensorMapTest, RefusesWhatTheDriverRefuses) {
  const std::vector<std::function<void(Arguments&)>> changes = {
      [](Arguments& a) { a.offset = 32; },
      [](Arguments& a) { a.type = 3; },
      [](Arguments& a) { a.type = 16; },
      [](Arguments& a) { a.rank = 0; },
      [](Arguments& a) { a.rank = 6; },
      [](Arguments& a) { a.address = 0; },
      [](Arguments& a) { a.address += 8; },
      [](Arguments& a) { a.extents[2] = 0; },
      [](Arguments& a) { a.extents[2] = (uint64_t{1} << 32) + 1; },
      [](Arguments& a) { a.strides = {88, 704, 0, 0}; },
      [](Arguments& a) { a.strides[1] = uint64_t{1} << 40; },
      // Strides that are smaller than the inner dims require are refused,
      // because elements would overlap.
      [](Arguments& a) { a.strides[0] = 64; },
      [](Arguments& a) { a.strides[1] = 544; },
      [](Arguments& a) { a.strides = {224, 80, 0, 0}; },
      [](Arguments& a) { a.box[1] = 0; },
      [](Arguments& a) { a.box[1] = 257; },
      // A box is refused if its rows are too short (8 bytes), or too long for a
      // swizzled box (136 bytes).
      [](Arguments& a) { a.box[0] = 4; },
      [](Arguments& a) { a.box[0] = 72; },
      [](Arguments& a) { a.type = kTensorMapUint32; },
      [](Arguments& a) { a.element_strides[2] = 0; },
      [](Arguments& a) { a.element_strides[2] = 2; },
      [](Arguments& a) { a.interleave = 1; },
      [](Arguments& a) { a.swizzle = 1; },
      [](Arguments& a) { a.swizzle = -1; },
      [](Arguments& a) { a.promotion = 4; },
      [](Arguments& a) { a.fill = 1; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Arguments arguments;
    changes[i](arguments);
    EXPECT_EQ(arguments.Encode(), kInvalidValue) << i;
    TensorMap map;
    EXPECT_FALSE(ReadTensorMap(arguments.bytes + arguments.offset, map)) << i;
  }
}

}  // namespace
}  // namespace ember::hal::cuda
