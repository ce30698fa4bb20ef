#include <cstring>

#include "hal/conformance/suite.h"

namespace ember::hal {
namespace {

TEST_F(Conformance, SubmitsAnEmptyList) {
  EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
  EMBER_REQUIRE(fence, device().Submit(*list), "command lists");
  EMBER_EXPECT_OK(fence->Wait());
  EXPECT_TRUE(fence->done());
  EMBER_EXPECT_OK(fence->Wait());
}

TEST_F(Conformance, RefusesRangesOutsideOfBuffers) {
  EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
  EMBER_REQUIRE(buffer, device().Allocate(64, MemoryKind::kDeviceLocal),
                "device memory");
  const BufferRange good = {buffer.get(), 0, 16};
  const BufferRange wrong[] = {{nullptr, 0, 16},
                               {buffer.get(), 56, 16},
                               {buffer.get(), -8, 16},
                               {buffer.get(), 0, -1},
                               {buffer.get(), INT64_MAX, 16}};
  for (const BufferRange& range : wrong) {
    EXPECT_EQ(list->Fill(range, 0).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(list->Copy(range, good).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(list->Copy(good, range).code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(list->Copy(good, {buffer.get(), 32, 8}).code(),
            StatusCode::kInvalidArgument);
}

TEST_F(Conformance, FillsAndCopiesInOrder) {
  EMBER_REQUIRE(a, device().Allocate(64, MemoryKind::kHostVisible),
                "host-visible memory");
  EMBER_REQUIRE(b, device().Allocate(64, MemoryKind::kHostVisible),
                "host-visible memory");
  EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
  EMBER_EXPECT_OK(list->Fill({a.get(), 0, 64}, 7));
  EMBER_EXPECT_OK(list->Barrier());
  EMBER_EXPECT_OK(list->Fill({a.get(), 16, 8}, 9));
  EMBER_EXPECT_OK(list->Barrier());
  EMBER_EXPECT_OK(list->Copy({a.get(), 8, 32}, {b.get(), 0, 32}));
  for (int run = 0; run < 2; ++run) {  // a list can be submitted again
    std::memset(b->host_data(), 0, 64);
    EMBER_REQUIRE(fence, device().Submit(*list), "command lists");
    EMBER_EXPECT_OK(fence->Wait());
    const uint8_t* bytes = static_cast<const uint8_t*>(b->host_data());
    for (int i = 0; i < 64; ++i) {
      EXPECT_EQ(bytes[i], i >= 32 ? 0 : (i >= 8 && i < 16 ? 9 : 7)) << i;
    }
  }
}

}  // namespace
}  // namespace ember::hal
