#include <cstring>
#include <memory>
#include <vector>

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
                // The buffer is filled with ones before it is freed: a buffer
                // that reuses its memory must contain zeros nevertheless.
                static_cast<size_t>(size));
  }
}

// Allocates buffers of many sizes, some of which reuse memory of freed buffers.
// Their contents must be zeros, and the buffers must not overlap.
TEST_F(Conformance, GivesTheDeviceZeros) {
  EMBER_REQUIRE(probe, device().Allocate(1, MemoryKind::kHostVisible),
                "host-visible memory");
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<Buffer>> buffers;
    for (int64_t size : {0, 1, 3, 4, 100, 4096, 100000, 5000000}) {
      EMBER_REQUIRE(buffer, device().Allocate(size, MemoryKind::kDeviceLocal),
                    "device memory");
      EMBER_REQUIRE(bytes, Read(*buffer), "command lists");
      EXPECT_EQ(bytes, std::vector<uint8_t>(static_cast<size_t>(size))) << size;
      buffers.push_back(std::move(buffer));
    }
    for (size_t i = 0; i < buffers.size(); ++i) {
      EMBER_EXPECT_OK(
          Write(*buffers[i],
                std::vector<uint8_t>(static_cast<size_t>(buffers[i]->size()),
                                     static_cast<uint8_t>(i + 1))));
    }
    for (size_t i = 0; i < buffers.size(); ++i) {
      EMBER_REQUIRE(bytes, Read(*buffers[i]), "command lists");
      EXPECT_EQ(bytes,
                std::vector<uint8_t>(static_cast<size_t>(buffers[i]->size()),
                                     static_cast<uint8_t>(i + 1)));
    }
  }
}

TEST_F(Conformance, ManySmallBuffersAreApart) {
  constexpr int kCount = 500;
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (int i = 0; i < kCount; ++i) {
    EMBER_REQUIRE(buffer,
                  device().Allocate(1 + i % 200, MemoryKind::kHostVisible),
                  "host-visible memory");
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->host_data()) % 64, 0u);
    std::memset(buffer->host_data(), i % 251,
                static_cast<size_t>(buffer->size()));
    buffers.push_back(std::move(buffer));
    if (i % 3 == 0) buffers[static_cast<size_t>(i) / 2].reset();
  }
  for (int i = 0; i < kCount; ++i) {
    const Buffer* const buffer = buffers[static_cast<size_t>(i)].get();
    if (buffer == nullptr) continue;
    const uint8_t* const data =
        static_cast<const uint8_t*>(buffer->host_data());
    for (int64_t at = 0; at < buffer->size(); ++at)
      ASSERT_EQ(data[at], i % 251) << i;
  }
}

TEST_F(Conformance, SharesMemoryIfItSaysSo) {
  EMBER_REQUIRE(probe, device().Allocate(1, MemoryKind::kHostVisible),
                "host-visible memory");
  EMBER_REQUIRE(buffer, device().Allocate(64, MemoryKind::kDeviceLocal),
                "device memory");
  EXPECT_EQ(buffer->host_data() != nullptr, device().limits().shares_memory);
  EXPECT_FALSE(conformance_options().separate_memory &&
               device().limits().shares_memory);
}

}  // namespace
}  // namespace ember::hal
