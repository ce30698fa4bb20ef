// Tests sessions of unusual modules that pass verification: limits, Cancel, and
// that a run cannot read what another run has left.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "vm/isa/text.h"
#include "vm/runtime/default_limits.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

std::unique_ptr<Session> NewSession(const std::string& text,
                                    SessionOptions options = {},
                                    int threads = 1) {
  StatusOr<ModuleDefinition> definition = ParseModule(text);
  EXPECT_TRUE(definition.ok()) << definition.status().ToString();
  auto module = Module::FromDefinition(*std::move(definition));
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  options.device = *hal::CreateCpuDevice({.threads = threads});
  auto session = Session::Create(*module, std::move(options));
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  return *std::move(session);
}

std::string RunError(Session& session, std::span<const Tensor> inputs = {}) {
  std::vector<Tensor> results;
  const Status status = session.Run(inputs, &results);
  return status.ok() ? "OK" : std::string(status.message());
}

std::vector<float> RunOn(Session& session, std::vector<float> x) {
  Tensor input =
      *Tensor::Allocate(DType::kF32, {static_cast<int64_t>(x.size())});
  std::ranges::copy(x, input.elements<float>().begin());
  std::vector<Tensor> results;
  const Status status = session.Run({&input, 1}, &results);
  EXPECT_TRUE(status.ok()) << status.ToString();
  if (!status.ok()) return {};
  const auto elements = results[0].elements<float>();
  return {elements.begin(), elements.end()};
}

constexpr const char* kEndless = R"(module "m" from "test"
program main() -> (y: i64[]) {
  i0 = integer 1
  i1 = integer 8
  b0 = allocate i1
L3:
  branch_if i0, L3
  result y = b0 []
  return
})";

// Returns the text of a module whose dispatch computes 64 results. `value` is
// the expression of each result, such as a long sum.
std::string LongSum(const std::string& value) {
  return R"(module "m" from "test"
dispatch @d(%x: f32[8]) -> (%y: f32[64]) {
  %y[i] = )" +
         value + R"(
}
program main(x: f32[8]) -> (y: f32[64]) {
  b0 = input x
  i0 = integer 256
  i1 = integer 64
  b1 = allocate i0
  dispatch @d(b0 -> b1)
  result y = b1 [i1]
  return
})";
}

// Returns sums that the interpreter computes in different ways: horizontally,
// vertically, with several steps at once, as folds, with gathers, and as a
// contraction.
std::vector<std::string> LongSums() {
  return {
      LongSum("sum(k < 1099511627776, l < 64) f32(k + i + l)"),
      LongSum("maximum(k < 1099511627776, l < 64) %x[floordiv(i, 8)] * f32(k)"),
      LongSum("sum(k < 1099511627776) pad(%x[k - i], 0.0)"),
      LongSum("sum(k < 1099511627776) %x[mod(k * i, 8)]"),
      R"(module "m" from "test"
dispatch @d(%x: f32[8]) -> (%y: f32[262144, 64]) {
  %y[i, j] = sum(k < 4096) f32(i + k) * f32(k * j)
}
program main(x: f32[8]) -> (y: f32[262144, 64]) {
  b0 = input x
  i0 = integer 67108864
  i1 = integer 262144
  i2 = integer 64
  b1 = allocate i0
  dispatch @d(b0 -> b1)
  result y = b1 [i1, i2]
  return
})"};
}

Tensor Ones() {
  Tensor x = *Tensor::Allocate(DType::kF32, {8});
  std::ranges::fill(x.elements<float>(), 1.0f);
  return x;
}

TEST(LimitsTest, Jumps) {
  const auto session = NewSession(kEndless, {.step_limit = 1000});
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(RunError(*session),
              "program main: expected at most 1000 backward branches and calls "
              "(--max-steps), found more");
  }
}

TEST(LimitsTest, Calls) {
  std::string text = "module \"m\" from \"test\"\n";
  for (int i = 0; i < 60; ++i) {
    const std::string name = i == 0 ? "main" : "p" + std::to_string(i);
    const std::string next = "p" + std::to_string(i + 1);
    text += "program " + name + "(x: f32[1]) -> (y: f32[1]) {\n" +
            "  b0 = input x\n  i0 = integer 1\n";
    if (i < 59) {
      text += "  call_program " + next + "(b0 -> b1 [i1])\n";
      text += "  call_program " + next + "(b0 -> b1 [i1])\n";
      text += "  result y = b1 [i0]\n";
    } else {
      text += "  result y = b0 [i0]\n";
    }
    text += "  return\n}\n";
  }
  const auto session = NewSession(text, {.step_limit = 100});
  const Tensor x = Tensor::Borrow(DType::kF32, {1}, Ones().data);
  Tensor one = *Tensor::Allocate(DType::kF32, {1});
  EXPECT_NE(RunError(*session, {&one, 1}).find("(--max-steps)"),
            std::string::npos);
}

TEST(LimitsTest, ProgramsOfAModule) {
  std::string text = "module \"m\" from \"test\"\n";
  for (int i = 0; i < 20000; ++i) {
    text += "program p" + std::to_string(i) +
            "(x: f32[1]) -> (y: f32[1]) {\n  b0 = input x\n"
            "  i0 = integer 1\n  result y = b0 [i0]\n  return\n}\n";
  }
  EXPECT_EQ(ParseModule(text).status().message(),
            "module: expected at most 16384 programs, found more");
}

TEST(LimitsTest, PointsAreCountedBeforeTheyAreEvaluated) {
  const Tensor x = Ones();
  for (const std::string& text : LongSums()) {
    const auto session = NewSession(text, {.work_limit = 1 << 20});
    const std::string error = RunError(*session, {&x, 1});
    EXPECT_TRUE(error.starts_with(
        "dispatch @d: expected at most 1048576 points that the run may still "
        "evaluate (--max-work), found "))
        << error;
  }
}

// A kernel iterates over the loops around an empty loop although it evaluates
// nothing, so such iterations must count.
TEST(LimitsTest, LoopsAroundEmptyOnesCount) {
  const Tensor x = Ones();
  const auto session =
      NewSession(LongSum("sum(k < 1099511627776, l < 0) f32(k + i + l)"),
                 {.work_limit = 1 << 20});
  EXPECT_EQ(RunError(*session, {&x, 1}),
            "dispatch @d: expected at most 1048576 points that the run may "
            "still evaluate (--max-work), found 70368744177664");
}

TEST(LimitsTest, MemoryOfPlansCounts) {
  const auto session = NewSession(R"(module "m" from "test"
dispatch @d(%x: f32[1]) -> (%y: f32[4, 8]) {
  %y[i, j] = sum(k < 16777216) f32(i) * f32(j + k)
}
program main(x: f32[1]) -> (y: f32[4, 8]) {
  b1 = input x
  i0 = integer 128
  i1 = integer 4
  i2 = integer 8
  b0 = allocate i0
  dispatch @d(b1 -> b0)
  result y = b0 [i1, i2]
  return
})",
                                  {.memory_limit = 1 << 20});
  const Tensor x = *Tensor::Allocate(DType::kF32, {1});
  for (int run = 0; run < 2; ++run) {
    const std::string error = RunError(*session, {&x, 1});
    EXPECT_TRUE(error.starts_with(
        "dispatch @d: packed operand of stage 0: session: expected at most "))
        << error;
    EXPECT_NE(error.find("(--max-memory)"), std::string::npos) << error;
  }
}

TEST(LimitsTest, MemoryHasADefault) {
  const auto session = NewSession(R"(module "m" from "test"
dispatch @d() -> (%y: f32[8]) {
  temp %t: f32[8, 1099511627776]
  %t[i, j] = f32(i + j)
  %y[i] = sum(k < 1099511627776) %t[i, k]
}
program main() -> (y: f32[8]) {
  i0 = integer 32
  i1 = integer 8
  b0 = allocate i0
  dispatch @d( -> b0)
  result y = b0 [i1]
  return
})");
  EXPECT_NE(RunError(*session).find("(--max-memory)"), std::string::npos);
}

// The dispatch evaluates only one point, but 32 MiB of memory must be cleared
// for it, which must count as work.
TEST(LimitsTest, ClearedMemoryIsWork) {
  const auto session = NewSession(R"(module "m" from "test"
dispatch @d(%x: f32[8388608]) -> (%y: f32[1]) {
  %y[i] = %x[i]
}
program main() -> (y: f32[1]) {
  i0 = integer 33554432
  i1 = integer 4
  i2 = integer 1
  b0 = allocate i0
  b1 = allocate i1
  dispatch @d(b0 -> b1)
  result y = b1 [i2]
  return
})",
                                  {.work_limit = 100000});
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(RunError(*session),
              "clearing memory that nothing has written: expected work of at "
              "most 100000 points in the run (--max-work), found more");
  }
}

// The dispatch has one point per stage, but 32 MiB of memory are allocated and
// cleared for its temporary, which must count as work.
TEST(LimitsTest, TemporariesAreWork) {
  const auto session = NewSession(R"(module "m" from "test"
dispatch @d() -> (%y: f32[1]) {
  temp %t: f32[8388608]
  for (i < 1) %t[i] = 1.0
  %y[i] = %t[i + 8000000]
}
program main() -> (y: f32[1]) {
  i0 = integer 4
  i1 = integer 1
  b0 = allocate i0
  dispatch @d(-> b0)
  result y = b0 [i1]
  return
})",
                                  {.work_limit = 100000});
  EXPECT_EQ(RunError(*session),
            "dispatch @d: expected at most 100000 points that the run may "
            "still evaluate (--max-work), found 524290");
}

// The library function reads 100,000 rows without values, but writes one number
// per row, which must count as work.
TEST(LimitsTest, ResultsOfLibraryFunctionsAreWork) {
  const auto session = NewSession(R"(module "m" from "test"
program main() -> (y: i64[100000]) {
  i0 = integer 11
  i1 = integer 100000
  i2 = integer 0
  b0 = allocate i2
  call unique(i0, i1, i2, i2, b0, b1, b2, b3, b4, i3)
  result y = b3 [i1]
  return
})",
                                  {.work_limit = 100000});
  EXPECT_EQ(RunError(*session),
            "call unique: expected work of at most 100000 points in the run "
            "(--max-work), found more");
}

TEST(LimitsTest, Deadline) {
  const Tensor x = Ones();
  std::vector<std::string> texts = LongSums();
  for (const std::string& text : texts) {
    const auto session =
        NewSession(text, {.work_limit = -1, .max_seconds = 0.02});
    EXPECT_EQ(RunError(*session, {&x, 1}),
              "run: expected it to end within 20 ms (--max-seconds), found it "
              "still running");
  }
  const auto session =
      NewSession(kEndless, {.step_limit = -1, .max_seconds = 0.02});
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(RunError(*session),
              "run: expected it to end within 20 ms (--max-seconds), found it "
              "still running");
  }
}

// Returns a program of the largest length, without jumps and dispatches, whose
// copies or small stores would take hours.
std::string ManyCopies(const std::string& copy, int count) {
  std::string text = R"(module "m" from "test"
program main() -> (y: i64[1]) {
  i0 = integer 0
  i1 = integer 33554432
  i2 = integer 33554431
  i3 = integer 1
  i4 = integer 8
  b0 = allocate i1
  b1 = allocate i1
  b3 = allocate i4
)";
  for (int i = 0; i < count; ++i) {
    std::string line = copy;
    if (const size_t place = line.find("OFFSET"); place != std::string::npos)
      line.replace(place, 6, std::to_string(16 * (count - i)));
    text += line;
  }
  return text + "  result y = b3 [i3]\n  return\n}\n";
}

// Returns the texts of instructions that copy memory: append in place; append
// to a new block, because another register shares the old one; and slice_at at
// an offset that is not aligned, so that the slice is copied.
std::vector<std::string> Copies() {
  return {"  append b0, i0, b1, i1\n",
          "  b2 = move_buffer b0\n  append b2, i1, b3, i4\n",
          "  b2 = slice_at b0, i3, i2\n"};
}

TEST(LimitsTest, DeadlineOfCopies) {
  std::vector<std::string> texts;
  for (const std::string& copy : Copies())
    texts.push_back(ManyCopies(copy, 100'000));
  texts.push_back(ManyCopies("  store_integer b0, i3, OFFSET\n", 1'000'000));
  for (const std::string& text : texts) {
    const auto session =
        NewSession(text, {.work_limit = -1, .max_seconds = 0.02});
    EXPECT_EQ(RunError(*session),
              "run: expected it to end within 20 ms (--max-seconds), found it "
              "still running");
  }
}

// The two sizes of blocks differ, and the limit allows only one block at a
// time. So each allocation frees the other block and comes from the system,
// which takes time.
TEST(LimitsTest, DeadlineOfAllocations) {
  std::string text = R"(module "m" from "test"
program main() -> (y: i64[1]) {
  i0 = integer 1
  i1 = integer 8
  i2 = integer 41943040
  i3 = integer 50331648
  b0 = allocate i1
)";
  for (int i = 0; i < 20'000; ++i)
    text += "  b1 = allocate i2\n  b1 = allocate i3\n";
  text += "  result y = b0 [i0]\n  return\n}\n";
  const auto session =
      NewSession(text, {.memory_limit = 80 << 20, .max_seconds = 0.02});
  EXPECT_EQ(RunError(*session),
            "run: expected it to end within 20 ms (--max-seconds), found it "
            "still running");
}

TEST(LimitsTest, CopiesAreWork) {
  for (const std::string& copy : Copies()) {
    const auto session =
        NewSession(ManyCopies(copy, 4), {.work_limit = 2097147});
    for (int run = 0; run < 2; ++run) {
      EXPECT_EQ(RunError(*session),
                "program main: expected work of at most 2097147 points in the "
                "run (--max-work), found more");
    }
    // The limit is just enough for four copies and for the memory that is
    // cleared before the first of them.
    EXPECT_EQ(RunError(*NewSession(ManyCopies(copy, 4),
                                   {.work_limit = 2097152 + 524288})),
              "OK");
  }
}

// Runs the session while another thread cancels the run. The thread calls
// Cancel repeatedly until the run has ended, because Cancel has no effect
// before the run begins.
std::string RunCancelled(Session& session, std::span<const Tensor> inputs) {
  std::atomic<bool> has_ended = false;
  std::thread other([&] {
    while (!has_ended) {
      session.Cancel();
      std::this_thread::yield();
    }
  });
  std::string error = RunError(session, inputs);
  has_ended = true;
  other.join();
  return error;
}

TEST(CancelTest, EndsWhatTierZeroDoes) {
  const Tensor x = Ones();
  for (const std::string& text : LongSums()) {
    for (int threads : {1, 2}) {
      const auto session = NewSession(text, {.work_limit = -1}, threads);
      EXPECT_EQ(RunCancelled(*session, {&x, 1}), "run: cancelled");
      EXPECT_EQ(RunCancelled(*session, {&x, 1}), "run: cancelled");
    }
  }
  const auto session = NewSession(kEndless, {.step_limit = -1});
  EXPECT_EQ(RunCancelled(*session, {}), "run: cancelled");
}

constexpr const char* kCopy = R"(module "m" from "test"
dispatch @copy(%x: f32[8]) -> (%y: f32[8]) {
  %y[i] = %x[i]
}
program main(x: f32[8]) -> (y: f32[8]) {
  b0 = input x
  i0 = integer 32
  i1 = integer 8
  b1 = allocate i0
  dispatch @copy(b0 -> b1)
  result y = b1 [i1]
  return
})";

TEST(CancelTest, SessionsGoOnAfterwards) {
  const auto session = NewSession(kCopy);
  session->Cancel();  // Cancel is called while no run is in progress, so it
                      // must not affect the next run.
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(RunOn(*session, x), x);
  const Tensor ones = Ones();
  // The result of this run is not checked, because the run succeeds if it ends
  // before the cancellation.
  RunCancelled(*session, {&ones, 1});
  EXPECT_EQ(RunOn(*session, x), x);
}

// Constants are packed only once. If the run that packs them is cancelled, the
// next run must pack the rest.
TEST(CancelTest, ConstantsArePackedWhenARunIsCancelledMeanwhile) {
  std::string text = R"(module "m" from "test"
constant w: f32[4096, 64] = [)";
  for (int i = 0; i < 4096 * 64; ++i) text += i == 0 ? "1" : ", 1";
  text += R"(]
dispatch @d(%x: f32[64, 64], %w: f32[4096, 64]) -> (%y: f32[64, 4096]) {
  %y[i, j] = sum(k < 64) %x[i, k] * %w[j, k]
}
program main(x: f32[64, 64]) -> (y: f32[64, 4096]) {
  b0 = input x
  b2 = constant 0 (w)
  i0 = integer 1048576
  i1 = integer 64
  i2 = integer 4096
  b1 = allocate i0
  dispatch @d(b0, b2 -> b1)
  result y = b1 [i1, i2]
  return
})";
  const auto session = NewSession(text);
  Tensor x = *Tensor::Allocate(DType::kF32, {64, 64});
  std::ranges::fill(x.elements<float>(), 1.0f);
  RunCancelled(*session, {&x, 1});
  std::vector<Tensor> results;
  const Status status = session->Run({&x, 1}, &results);
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (float value : results[0].elements<float>()) ASSERT_EQ(value, 64.0f);
}

const std::vector<float> kFirst = {1, 2, 3, 4, 5, 6, 7, 8};
const std::vector<float> kSecond = {9, 9, 9, 9, 9, 9, 9, 9};
const std::vector<float> kZeros(8, 0.0f);

// The program reads the memory in b1 without having written it, and must read
// zeros.
TEST(StaleMemoryTest, Allocations) {
  const auto session = NewSession(R"(module "m" from "test"
dispatch @copy(%x: f32[8]) -> (%y: f32[8]) {
  %y[i] = %x[i]
}
program main(x: f32[8]) -> (y: f32[8]) {
  i0 = integer 32
  i1 = integer 8
  b3 = input x
  b1 = allocate i0
  b2 = allocate i0
  dispatch @copy(b1 -> b2)
  dispatch @copy(b3 -> b1)
  result y = b2 [i1]
  return
})");
  for (int run = 0; run < 4; ++run)
    EXPECT_EQ(RunOn(*session, run % 2 == 0 ? kFirst : kSecond), kZeros);
}

TEST(StaleMemoryTest, Arenas) {
  const auto session = NewSession(R"(module "m" from "test"
dispatch @copy(%x: f32[8]) -> (%y: f32[8]) {
  %y[i] = %x[i]
}
program main(x: f32[8]) -> (y: f32[8]) {
  b0 = arena 128
  i0 = integer 32
  i1 = integer 8
  b3 = input x
  b1 = view b0, i0, 0
  b2 = view b0, i0, 64
  dispatch @copy(b1 -> b2)
  dispatch @copy(b3 -> b1)
  result y = b2 [i1]
  return
})");
  for (int run = 0; run < 4; ++run)
    EXPECT_EQ(RunOn(*session, run % 2 == 0 ? kFirst : kSecond), kZeros);
}

// Tests outputs of which only a part is written, and results that are not
// written at all.
TEST(StaleMemoryTest, PartsOfOutputs) {
  const auto session = NewSession(R"(module "m" from "test"
dispatch @half(%x: f32[8]) -> (%y: f32[8]) {
  for (i < 4) %y[i * 2] = %x[i]
}
program main(x: f32[8]) -> (y: f32[8]) {
  i0 = integer 32
  i1 = integer 8
  b0 = input x
  b1 = allocate i0
  dispatch @half(b0 -> b1)
  result y = b1 [i1]
  return
})");
  const std::vector<float> first = {1, 0, 2, 0, 3, 0, 4, 0};
  const std::vector<float> second = {9, 0, 9, 0, 9, 0, 9, 0};
  for (int run = 0; run < 4; ++run) {
    EXPECT_EQ(RunOn(*session, run % 2 == 0 ? kFirst : kSecond),
              run % 2 == 0 ? first : second);
  }
}

TEST(StaleMemoryTest, Results) {
  const auto session = NewSession(R"(module "m" from "test"
dispatch @copy(%x: f32[8]) -> (%y: f32[8]) {
  %y[i] = %x[i]
}
program main(x: f32[8]) -> (y: f32[8]) {
  i0 = integer 32
  i1 = integer 8
  b0 = input x
  b1 = allocate i0
  dispatch @copy(b0 -> b1)
  release b1
  b2 = allocate i0
  result y = b2 [i1]
  return
})");
  for (int run = 0; run < 3; ++run) EXPECT_EQ(RunOn(*session, kFirst), kZeros);
}

TEST(OverlapTest, OutputsAreApartFromWhatIsReadElsewhere) {
  const std::string begin = R"(module "m" from "test"
dispatch @shift(%x: f32[8]) -> (%y: f32[8]) {
  %y[i] = pad(%x[i - 1], 0.0)
}
dispatch @add(%x: f32[8]) -> (%y: f32[8]) {
  %y[i] = %x[i] + 1.0
}
dispatch @two(%x: f32[8]) -> (%y: f32[8], %z: f32[8]) {
  %y[i] = %x[i]
  %z[i] = %x[i]
}
program main(x: f32[8]) -> (y: f32[8]) {
  i0 = integer 32
  i1 = integer 8
  b0 = input x
  b1 = arena 256
  b2 = view b1, i0, 0
  dispatch @add(b0 -> b2)
)";
  const std::string end = "  result y = b2 [i1]\n  return\n}\n";
  const Tensor x = Ones();
  const auto error = [&](const std::string& body) {
    return RunError(*NewSession(begin + body + end), {&x, 1});
  };
  EXPECT_EQ(error("  dispatch @add(b2 -> b2)\n"), "OK");
  EXPECT_EQ(error("  dispatch @shift(b2 -> b2)\n"),
            "program main: instruction 6 (dispatch): dispatch @shift: expected "
            "output 'y' apart from 'x', found shared memory");
  EXPECT_EQ(error("  dispatch @two(b0 -> b2, b2)\n"),
            "program main: instruction 6 (dispatch): dispatch @two: expected "
            "output 'z' apart from 'y', found shared memory");
  EXPECT_EQ(error("  i2 = integer 96\n  b3 = view b1, i2, 0\n"
                  "  b4 = slice_at b3, i0, i0\n  dispatch @add(b4 -> b3)\n"),
            "OK");
  EXPECT_EQ(error("  i3 = integer 16\n  i2 = integer 96\n"
                  "  b3 = view b1, i2, 0\n  b4 = slice_at b3, i3, i0\n"
                  "  dispatch @add(b4 -> b3)\n"),
            "program main: instruction 10 (dispatch): dispatch @add: expected "
            "output 'y' apart from 'x', found shared memory");
}

}  // namespace
}  // namespace ember::vm
