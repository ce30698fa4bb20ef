#include "vm/runtime/devices/command_stream.h"

#include <cstring>
#include <tuple>

#include "gtest/gtest.h"
#include "tensor/text/text.h"
#include "vm/runtime/testing/fake_device.h"

namespace ember::vm {
namespace {

// Tests a stream of commands, each of which computes %y[0] = %x[0] + 1 on
// floats of one buffer.
class CommandStreamTest : public testing::Test {
 protected:
  CommandStreamTest()
      : dispatch_(*tensor::Parse("dispatch @increment(%x: f32[1]) -> (%y: "
                                 "f32[1]) {\n  %y[i] = %x[i] + 1.0\n}\n")),
        kernel_(NewFakeKernel(dispatch_)),
        device_(std::make_shared<FakeDevice>(
            FakeDeviceOptions{.limits = {.shares_memory = true}})),
        buffer_(*device_->Allocate(1024, hal::MemoryKind::kHostVisible)),
        stream_(device_) {}

  float* values() { return static_cast<float*>(buffer_->host_data()); }
  hal::BufferRange At(int64_t index) { return {buffer_.get(), 4 * index, 4}; }

  // Appends a command that computes values[to] = values[from] + 1.
  void Increment(int64_t from, int64_t to) {
    const hal::BufferRange ranges[] = {At(from), At(to)};
    const Status status = stream_.Append({.kernel = kernel_->recorded(),
                                          .site = 7,
                                          .input_count = 1,
                                          .ranges = ranges});
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void Copy(int64_t from, int64_t to) {
    const hal::BufferRange ranges[] = {At(from), At(to)};
    ASSERT_TRUE(stream_.Append({.input_count = 1, .ranges = ranges}).ok());
  }
  void Flush() { ASSERT_TRUE(stream_.Flush().ok()); }

  const tensor::Dispatch dispatch_;
  const std::unique_ptr<Kernel> kernel_;
  const std::shared_ptr<FakeDevice> device_;
  const std::unique_ptr<hal::Buffer> buffer_;
  CommandStream stream_;
};

TEST_F(CommandStreamTest, ReplaysWhatIsTheSame) {
  for (int run = 1; run <= 5; ++run) {
    stream_.Restart();
    Increment(0, 1);
    Increment(1, 0);
    Copy(0, 2);
    // The appended commands run only in Flush, so values()[0] is that of the
    // run before.
    EXPECT_EQ(values()[0], 2.0f * static_cast<float>(run - 1));
    Flush();
    EXPECT_EQ(values()[2], 2.0f * static_cast<float>(run));
  }
  EXPECT_EQ(stream_.counters().recorded, 3);
  EXPECT_EQ(stream_.counters().submissions, 5);
  EXPECT_EQ(stream_.counters().commands, 15);
  EXPECT_EQ(stream_.counters().barriers, 10);
  EXPECT_EQ(stream_.segment_count(), 1);
}

TEST_F(CommandStreamTest, PutsBarriersWhereRangesConflictOnly) {
  stream_.Restart();
  Increment(0, 1);
  Increment(0, 2);  // Both commands only read the value 0, so no barrier must
                    // be recorded between them.
  Increment(3, 4);
  Flush();
  EXPECT_EQ(stream_.counters().barriers, 0);
  stream_.Restart();
  Increment(5, 6);
  Increment(6, 7);  // This command reads the value that a pending command
                    // writes, so it needs a barrier.
  Increment(5, 7);  // This command writes the value that a pending command
                    // writes, so it needs a barrier.
  Increment(8, 5);  // This command writes a value that a pending command reads,
                    // so it needs a barrier.
  Flush();
  EXPECT_EQ(stream_.counters().barriers, 3);
  EXPECT_EQ(values()[7], 1.0f);
  EXPECT_EQ(values()[5], 1.0f);
}

TEST_F(CommandStreamTest, ADifferenceIsRecordedFromThereOn) {
  const auto run = [&](int64_t last) {
    stream_.Restart();
    Increment(0, 1);
    Increment(1, last);
    Flush();
  };
  run(2);
  EXPECT_EQ(values()[2], 2);
  run(3);
  EXPECT_EQ(values()[3], 2);
  EXPECT_EQ(stream_.counters().recorded, 4);
  // Both segments are recorded already, so alternating between them must not
  // record anything.
  for (int64_t last : {2, 3, 3, 2, 2, 3}) {
    values()[last] = 0;
    run(last);
    EXPECT_EQ(values()[last], 2);
  }
  EXPECT_EQ(stream_.counters().recorded, 4);
}

TEST_F(CommandStreamTest, ShorterAndLongerSegments) {
  const auto run = [&](int count) {
    stream_.Restart();
    values()[0] = 0;
    for (int i = 0; i < count; ++i) Increment(0, 0);
    Flush();
    EXPECT_EQ(values()[0], static_cast<float>(count));
  };
  for (const int count : {3, 2, 3, 4, 0, 2, 4, 1, 3}) run(count);
  EXPECT_EQ(stream_.counters().recorded, 3 + 2 + 4 + 1);
}

TEST_F(CommandStreamTest, IterationsOfALoopAreOneSegment) {
  stream_.Restart();
  for (int iteration = 0; iteration < 10; ++iteration) {
    Increment(0, 1);
    Increment(1, 0);
    Flush();
  }
  EXPECT_EQ(values()[0], 20);
  EXPECT_EQ(stream_.counters().recorded, 2);
  EXPECT_EQ(stream_.counters().submissions, 10);
}

// A kernel whose calls only take a number of bytes of temporaries.
class ScratchKernel final : public RecordedKernel {
 public:
  explicit ScratchKernel(int64_t bytes = 1000) : bytes_(bytes) {}
  StatusOr<std::unique_ptr<Recording>> Record(
      const RecordCall& call) const override {
    EMBER_ASSIGN_OR_RETURN(const hal::BufferRange range,
                           call.scratch->Take(bytes_));
    ranges_.push_back(range);
    return std::unique_ptr<Recording>();
  }
  int tier() const override { return 2; }
  bool Accepts(std::span<const int64_t>) const override { return true; }
  std::string Describe() const override { return "scratch"; }

  const std::vector<hal::BufferRange>& ranges() const { return ranges_; }

 private:
  const int64_t bytes_;
  mutable std::vector<hal::BufferRange> ranges_;
};

TEST_F(CommandStreamTest, CallsShareTemporariesAcrossBarriersOnly) {
  const ScratchKernel kernel;
  const auto call = [&](int64_t from, int64_t to) {
    const hal::BufferRange ranges[] = {At(from), At(to)};
    ASSERT_TRUE(
        stream_.Append({.kernel = &kernel, .input_count = 1, .ranges = ranges})
            .ok());
  };
  call(0, 1);
  call(2, 3);
  // This call reads what the first call wrote, so a barrier is recorded before
  // it.
  call(1, 4);
  Flush();
  call(5, 6);  // The call after a flush is in another segment, and may use the
               // same temporaries.
  Flush();
  ASSERT_EQ(kernel.ranges().size(), 4u);
  const auto& [first, second, third, fourth] =
      std::tie(kernel.ranges()[0], kernel.ranges()[1], kernel.ranges()[2],
               kernel.ranges()[3]);
  EXPECT_EQ(first.buffer, second.buffer);
  EXPECT_GE(second.offset, first.offset + first.length);
  EXPECT_EQ(third.buffer, first.buffer);
  EXPECT_EQ(third.offset, first.offset);
  EXPECT_EQ(fourth.buffer, first.buffer);
  EXPECT_EQ(fourth.offset, first.offset);
  EXPECT_EQ(stream_.scratch_bytes(), first.buffer->size());
}

// Temporaries must have a limit, because on some devices they are in the host's
// memory.
TEST_F(CommandStreamTest, TemporariesHaveALimit) {
  const ScratchKernel kernel;
  const hal::BufferRange ranges[] = {At(0), At(1)};
  const StreamCommand command = {
      .kernel = &kernel, .input_count = 1, .ranges = ranges};
  stream_.set_scratch_limit(500);
  const Status status = stream_.Append(command);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "session: expected at most 500 more bytes of temporaries on the "
            "device under its memory limit of 500 (--max-memory), found a "
            "request for 1000");
  EXPECT_EQ(stream_.scratch_bytes(), 0);
  stream_.set_scratch_limit(1500);
  EXPECT_TRUE(stream_.Append(command).ok());
  Flush();
  EXPECT_EQ(stream_.scratch_bytes(), 1500);
}

// The limit is for the temporaries of all calls together; a single call may use
// all of it.
TEST_F(CommandStreamTest, TemporariesOfManyCallsKeepTheLimit) {
  stream_.set_scratch_limit(4000);
  std::vector<std::unique_ptr<ScratchKernel>> kernels;
  for (int64_t bytes = 200; bytes <= 4000; bytes += 200)
    kernels.push_back(std::make_unique<ScratchKernel>(bytes));
  for (int run = 0; run < 3; ++run) {
    stream_.Restart();
    values()[0] = 0;
    for (const auto& kernel : kernels) {
      const hal::BufferRange ranges[] = {At(2), At(3)};
      const Status status = stream_.Append(
          {.kernel = kernel.get(), .input_count = 1, .ranges = ranges});
      EXPECT_TRUE(status.ok()) << status.ToString();
      Increment(0, 1);
      Increment(1, 0);
      EXPECT_LE(stream_.scratch_bytes(), 4000);
    }
    Flush();
    EXPECT_EQ(values()[0], 2.0f * static_cast<float>(kernels.size()));
  }
}

TEST_F(CommandStreamTest, TouchesTellsWhatIsPending) {
  stream_.Restart();
  EXPECT_FALSE(stream_.is_pending());
  for (int run = 0; run < 2; ++run) {
    Increment(0, 1);
    EXPECT_TRUE(stream_.Touches(At(1), false));
    EXPECT_TRUE(stream_.Touches(At(0), true));
    EXPECT_FALSE(stream_.Touches(At(0), false));
    EXPECT_FALSE(stream_.Touches(At(2), true));
    Increment(1, 2);
    EXPECT_TRUE(stream_.Touches(At(2), false));
    Flush();
    EXPECT_FALSE(stream_.Touches(At(1), true));
    stream_.Restart();
  }
}

TEST_F(CommandStreamTest, ForgetsBeforeMemoryIsFreed) {
  stream_.Restart();
  Increment(0, 1);
  stream_.Forget();
  EXPECT_EQ(values()[1], 1);  // Forget must execute the pending command before
                              // it drops the recordings.
  EXPECT_EQ(stream_.segment_count(), 0);
  EXPECT_EQ(device_->lists_alive(), 0);
  Increment(1, 2);
  Flush();
  EXPECT_EQ(values()[2], 2);
}

TEST_F(CommandStreamTest, OldSegmentsAreDropped) {
  for (int run = 0; run < 3000; ++run) {
    stream_.Restart();
    Increment(0, 1 + run % 200);
    Increment(1, 2 + run / 200);
    Flush();
  }
  EXPECT_LE(stream_.segment_count(), 1024);
  EXPECT_LE(device_->lists_alive(), 1024);
}

TEST_F(CommandStreamTest, ALostDeviceLeavesNothingBehind) {
  stream_.Restart();
  Increment(0, 1);
  device_->set_is_lost(true);
  EXPECT_EQ(stream_.Flush().message(), "fake device: lost");
  EXPECT_EQ(stream_.failed_site(), -1);
  EXPECT_FALSE(stream_.is_pending());
  device_->set_is_lost(false);
  stream_.Restart();
  Increment(0, 1);
  Flush();
  EXPECT_EQ(values()[1], 1);
}

}  // namespace
}  // namespace ember::vm
