#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/seeds.h"
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
  // The two ranges of a copy must not overlap, not even by one byte; adjacent
  // ranges are accepted.
  EXPECT_EQ(list->Copy(good, {buffer.get(), 15, 16}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(list->Copy({buffer.get(), 15, 16}, good).code(),
            StatusCode::kInvalidArgument);
  EMBER_EXPECT_OK(list->Copy(good, {buffer.get(), 16, 16}));
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
  // The same list is submitted twice, because a list may be submitted any
  // number of times.
  for (int run = 0; run < 2; ++run) {
    std::memset(b->host_data(), 0, 64);
    EMBER_REQUIRE(fence, device().Submit(*list), "command lists");
    EMBER_EXPECT_OK(fence->Wait());
    const uint8_t* bytes = static_cast<const uint8_t*>(b->host_data());
    for (int i = 0; i < 64; ++i) {
      EXPECT_EQ(bytes[i], i >= 32 ? 0 : (i >= 8 && i < 16 ? 9 : 7)) << i;
    }
  }
}

// Performs fills and copies of any offset and length on memory that the host
// may not access, and compares the results with the same operations on an
// array.
TEST_F(Conformance, FillsAndCopiesAnyBytes) {
  constexpr int64_t kBytes = 200;
  EMBER_REQUIRE(probe, device().Allocate(1, MemoryKind::kHostVisible),
                "host-visible memory");
  EMBER_REQUIRE(a, device().Allocate(kBytes, MemoryKind::kDeviceLocal),
                "device memory");
  EMBER_REQUIRE(b, device().Allocate(kBytes, MemoryKind::kDeviceLocal),
                "device memory");
  Buffer* const buffers[] = {a.get(), b.get()};
  std::vector<uint8_t> expected[2] = {std::vector<uint8_t>(kBytes),
                                      std::vector<uint8_t>(kBytes)};
  const auto seed = static_cast<uint32_t>(TestSeeds(1).begin);
  SCOPED_TRACE("replay: EMBER_SEED=" + std::to_string(seed) +
               " bazel test --test_env=EMBER_SEED //hal/...");
  std::mt19937 random(seed);
  const auto below = [&](int64_t bound) {
    return std::uniform_int_distribution<int64_t>(0, bound - 1)(random);
  };
  for (int round = 0; round < 10; ++round) {
    EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
    for (int command = 0; command < 40; ++command) {
      // Three of four ranges are at most 11 bytes long, because short ranges
      // find most bugs.
      const int64_t length = below(command % 4 == 0 ? kBytes : 12);
      const size_t to = static_cast<size_t>(below(2));
      const int64_t offset = below(kBytes - length + 1);
      const auto target = expected[to].begin() + offset;
      if (command % 2 == 0) {
        const uint8_t value = static_cast<uint8_t>(below(256));
        EMBER_EXPECT_OK(list->Fill({buffers[to], offset, length}, value));
        std::fill_n(target, length, value);
      } else {
        const int64_t from = below(kBytes - length + 1);
        EMBER_EXPECT_OK(list->Copy({buffers[1 - to], from, length},
                                   {buffers[to], offset, length}));
        std::copy_n(expected[1 - to].begin() + from, length, target);
      }
      EMBER_EXPECT_OK(list->Barrier());
    }
    EMBER_REQUIRE(fence, device().Submit(*list), "command lists");
    EMBER_EXPECT_OK(fence->Wait());
    for (size_t i = 0; i < 2; ++i) {
      EMBER_REQUIRE(found, Read(*buffers[i]), "command lists");
      ASSERT_EQ(found, expected[i]) << "round " << round << ", buffer " << i;
    }
  }
}

// Several threads use one device at the same time; each makes its own list,
// submits it and waits.
TEST_F(Conformance, ServesThreads) {
  EMBER_REQUIRE(probe, device().Allocate(1, MemoryKind::kHostVisible),
                "host-visible memory");
  constexpr int kThreads = 4, kRuns = 25;
  std::vector<Status> statuses(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const auto run = [&](int64_t bytes) -> Status {
        EMBER_ASSIGN_OR_RETURN(
            auto buffer, device().Allocate(bytes, MemoryKind::kDeviceLocal));
        EMBER_ASSIGN_OR_RETURN(auto list, device().CreateCommandList());
        const uint8_t value = static_cast<uint8_t>(thread + 1);
        EMBER_RETURN_IF_ERROR(list->Fill({buffer.get(), 0, bytes}, value));
        EMBER_ASSIGN_OR_RETURN(auto fence, device().Submit(*list));
        while (!fence->done()) std::this_thread::yield();
        EMBER_ASSIGN_OR_RETURN(auto found, Read(*buffer));
        if (found == std::vector<uint8_t>(static_cast<size_t>(bytes), value))
          return OkStatus();
        return InternalError("wrong bytes");
      };
      Status& status = statuses[static_cast<size_t>(thread)];
      for (int i = 0; i < kRuns && status.ok(); ++i)
        status = run(int64_t{1} << (i % 18));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& outcome : statuses) EMBER_EXPECT_OK(outcome);
}

// Once a submission is complete, the list and then the objects that it used may
// be destroyed, while the fence still exists.
TEST_F(Conformance, FencesOutliveTheirLists) {
  EMBER_REQUIRE(buffer, device().Allocate(64, MemoryKind::kDeviceLocal),
                "device memory");
  EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
  EMBER_EXPECT_OK(list->Fill({buffer.get(), 0, 64}, 1));
  EMBER_REQUIRE(fence, device().Submit(*list), "command lists");
  EMBER_EXPECT_OK(fence->Wait());
  list.reset();
  buffer.reset();
  device_.reset();
  EMBER_EXPECT_OK(fence->Wait());
  EXPECT_TRUE(fence->done());
}

}  // namespace
}  // namespace ember::hal
