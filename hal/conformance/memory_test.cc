#include <cstring>

#include "hal/conformance/suite.h"

namespace ember::hal {
namespace {

TEST_F(Conformance, AllocatesAndCountsDeviceMemory) {
  const MemoryStatistics before = device().memory_statistics();
  {
    EMBER_REQUIRE(buffer, device().Allocate(1000, MemoryKind::kDeviceLocal),
                  "device memory");
    EXPECT_EQ(buffer->size(), 1000);
    EXPECT_GE(device().memory_statistics().live_bytes,
              before.live_bytes + 1000);
    EXPECT_EQ(device().memory_statistics().allocations, before.allocations + 1);
  }
  EXPECT_EQ(device().memory_statistics().live_bytes, before.live_bytes);
  EXPECT_GE(device().memory_statistics().peak_bytes, before.live_bytes + 1000);
}

TEST_F(Conformance, AllocatesNothing) {
  EMBER_REQUIRE(buffer, device().Allocate(0, MemoryKind::kDeviceLocal),
                "device memory");
  EXPECT_EQ(buffer->size(), 0);
}

TEST_F(Conformance, RefusesNegativeSizes) {
  const auto buffer = device().Allocate(-1, MemoryKind::kDeviceLocal);
  EXPECT_EQ(buffer.status().code(), StatusCode::kInvalidArgument);
}

TEST_F(Conformance, RefusesMoreThanItsLimit) {
  for (int64_t size : {int64_t{1} << 25, INT64_MAX}) {
    const auto buffer = device().Allocate(size, MemoryKind::kDeviceLocal);
    EXPECT_EQ(buffer.status().code(), StatusCode::kResourceExhausted) << size;
  }
  EMBER_REQUIRE(buffer, device().Allocate(1 << 23, MemoryKind::kDeviceLocal),
                "device memory");
  const auto second =
      device().Allocate((1 << 23) + 1, MemoryKind::kDeviceLocal);
  EXPECT_EQ(second.status().code(), StatusCode::kResourceExhausted);
}

TEST_F(Conformance, GivesTheHostAlignedZeros) {
  for (int64_t size : {1, 64, 100000}) {
    EMBER_REQUIRE(buffer, device().Allocate(size, MemoryKind::kHostVisible),
                  "host-visible memory");
    ASSERT_NE(buffer->host_data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->host_data()) % 64, 0u);
    const uint8_t* data = static_cast<const uint8_t*>(buffer->host_data());
    for (int64_t i = 0; i < size; ++i) ASSERT_EQ(data[i], 0) << i;
    std::memset(buffer->host_data(), 0xff,
                static_cast<size_t>(size));  // the next one is zero too
  }
}

}  // namespace
}  // namespace ember::hal
