// Tests unusual dispatches that pass verification: a plan must compute what
// their definition says, or refuse them with a message.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/interrupt.h"
#include "base/testing/say_if_killed.h"
#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/testing/hostile_dispatch.h"
#include "tensor/text/text.h"
#include "tensor/verifier/verifier.h"
#include "vm/interpreter/plan.h"
#include "vm/interpreter/testing/compare.h"

namespace ember::vm {
namespace {

// Returns the error message of making a plan; "OK" if there is no error.
std::string PlanError(const std::string& text,
                      std::vector<int64_t> parameters = {},
                      MemoryBudget* budget = nullptr) {
  const StatusOr<tensor::Dispatch> dispatch = tensor::Parse(text);
  if (!dispatch.ok()) return std::string(dispatch.status().message());
  const Status verified = tensor::Verify(*dispatch);
  if (!verified.ok()) return std::string(verified.message());
  const auto plan = Plan::Make(*dispatch, parameters, {.budget = budget});
  return plan.ok() ? "OK" : std::string(plan.status().message());
}

TEST(HostileTest, IndicesThatWrapAreOutside) {
  ExpectMatchesDefinition(
      R"(dispatch @d(%x: i8[4, 4]) -> (%y: i8[2, 4]) {
        %y[i, j] = pad(%x[i * 2305843009213693952 - 2305843009213693952, j], 0)
      })");
  ExpectMatchesDefinition(
      R"(dispatch @d(%x: u8[4, 8]) -> (%y: u8[2, 2, 8]) {
        %y[i, m, j] = pad(%x[i * 2305843009213693952 - m * 1000
                             + -2305843009213692952, j], 0)
      })");
  ExpectMatchesDefinition(
      R"(dispatch @d(%x: f32[4, 4]) -> (%y: f32[8, 16]) {
        %y[i, j] = pad(%x[0, i * 2 + 4611686018427371520], 7.0)
      })");
  ExpectMatchesDefinition(
      R"(dispatch @d(%x: f32[4, 4]) -> (%y: f32[8, 16]) {
        %y[i, j] = pad(%x[min(max((i * 2147483648 + 2147483648), 0), 3),
                         (i * 3 + 2305843009213693952)], 0)
                 + pad(%x[j, (i * (-1) + 1 + i * 1)], 0)
      })");
}

TEST(HostileTest, IndicesThatWrapBackInside) {
  // The index wraps: the factor 4 * 2^62 is 0 modulo 2^64, so every index is
  // inside of the buffer again.
  ExpectMatchesDefinition(
      R"(dispatch @d(%x: f32[8]) -> (%y: f32[8, 2]) {
        %y[i, j] = pad(%x[(i * 4611686018427387904) * 4 + i + j], 7.0)
      })");
  ExpectMatchesDefinition(
      R"(dispatch @d(%x: f32[8]) -> (%y: f32[8]) {
        %y[i] = pad(%x[(i + 9223372036854775807) - 9223372036854775807], 7.0)
      })");
}

TEST(HostileTest, BuffersWithoutElementsHaveHugeStrides) {
  ExpectMatchesDefinition(
      R"(dispatch @d(%x: i8[0, 1048576, 1099511627776]) -> (%y: i8[8, 4]) {
        %y[i, j] = pad(%x[i - 1048576, i * 1099511627775, j * 1048576], 7)
      })");
}

// A sum over no points must not evaluate its values, even if they would load
// from outside of the buffers. Its result, 0, is stored nevertheless, and only
// to its own element.
TEST(HostileTest, SumsOfNothing) {
  ExpectMatchesDefinition(
      R"(dispatch @d(%x: f32[0], %z: f32[3]) -> (%y: f32[4]) {
        %y[i] = sum(k < 0) %x[i] + %x[k] + %z[i * 1000000]
      })");
  ExpectMatchesDefinition(
      R"(dispatch @d(%x: f32[1]) -> (%y: f32[4, 4]) {
        for (i < 4, j < 4)
          %y[mod(i * 5, 4), j] = sum(k < 0) %x[mod(i * 5, 4) + 1000000 + j]
      })");
  EXPECT_EQ(PlanError(R"(dispatch @d(%x: f32[1]) -> (%y: f32[4]) {
    for (i < 4) %y[i - 1000] = sum(k < 0) %x[k]
  })"),
            "dispatch @d: stage 0: buffer %y: index 0 runs from -1000 to -997, "
            "extent is 4");
}

TEST(HostileTest, SumsOverMoreThanCanBePackedAreNoContractions) {
  EXPECT_EQ(PlanError(R"(dispatch @d() -> (%y: f32[8, 8]) {
    %y[i, j] = sum(k0 < 65536, k1 < 1099511627776) f32(i) * f32(j)
  })"),
            "OK");
  EXPECT_EQ(PlanError(R"(dispatch @d() -> (%y: f32[1]) {
    %y[i] = sum(k0 < 1099511627776, k1 < 1099511627776) f32(k0)
  })"),
            "dispatch @d: axes of stage 0: expected a size of at most 2^62");
}

TEST(HostileTest, OneHeader) {
  EXPECT_EQ(PlanError(R"(dispatch @d<N>(%x: f32[0]) -> (%y: f32[8]) {
    %y[i] = sum(k < neg(N)) 1.0
  })",
                      {INT64_MIN}),
            "dispatch @d: the parameters make header register 3 overflow 64 "
            "bits");
  EXPECT_EQ(PlanError(R"(dispatch @d(%x: u8[0, 1099511627776, 1099511627776])
      -> (%y: f32[8]) {
    %y[i] = 1.0
  })"),
            "dispatch @d: buffer %x: expected a size of at most 2^62");
  EXPECT_EQ(PlanError(R"(dispatch @d(%x: u8[3145728, 1099511627776],
      %z: u8[3145728, 1099511627776]) -> (%y: f32[8]) {
    %y[i] = 1.0
  })"),
            "dispatch @d: buffer %z: expected at most 2^62 bytes in all "
            "buffers");
}

// Returns a dispatch of a chain of `length` instructions: %y[i] = neg(neg(...
// %x[i] ...)).
tensor::Dispatch ChainOf(int length) {
  tensor::Dispatch dispatch = *tensor::Parse(
      "dispatch @d(%x: i8[8]) -> (%y: i8[8]) { %y[i] = neg(%x[i]) }");
  for (int i = 1; i < length; ++i) {
    const auto last = static_cast<uint32_t>(dispatch.instructions.size()) - 1;
    dispatch.instructions.push_back(
        {tensor::Opcode::kNegate, DType::kI8, last});
    dispatch.stages[0].values[0] = last + 1;
    dispatch.stages[0].end = last + 2;
  }
  return dispatch;
}

// Returns a dispatch that computes the sum of %x[i] * 0, %x[i] * 1, ..., as a
// balanced tree.
tensor::Dispatch SumOfMany(uint32_t count) {
  tensor::Dispatch dispatch = *tensor::Parse(
      "dispatch @d(%x: i32[8]) -> (%y: i32[8]) { %y[i] = %x[i] }");
  const tensor::Register x = dispatch.stages[0].values[0];
  const auto add = [&](tensor::Instruction instruction) {
    dispatch.instructions.push_back(instruction);
    return static_cast<uint32_t>(dispatch.instructions.size()) - 1;
  };
  std::vector<uint32_t> values;
  for (uint32_t i = 0; i < count; ++i) {
    tensor::Instruction constant{tensor::Opcode::kConstant, DType::kI32};
    constant.immediate = i;
    values.push_back(
        add({tensor::Opcode::kMultiply, DType::kI32, x, add(constant)}));
  }
  while (values.size() > 1) {
    std::vector<uint32_t> next;
    for (size_t i = 0; i < values.size() / 2; ++i) {
      next.push_back(add({tensor::Opcode::kAdd, DType::kI32, values[i],
                          values[values.size() - 1 - i]}));
    }
    if (values.size() % 2 != 0) next.push_back(values[values.size() / 2]);
    values = std::move(next);
  }
  dispatch.stages[0].values[0] = values[0];
  dispatch.stages[0].end = static_cast<uint32_t>(dispatch.instructions.size());
  return dispatch;
}

TEST(HostileTest, LongChainsAreNoRecursion) {
  const tensor::Dispatch chain = ChainOf(50000);
  const Status verified = tensor::Verify(chain);
  ASSERT_TRUE(verified.ok()) << verified.ToString();
  ExpectMatchesDefinition(chain);
}

TEST(HostileTest, MoreValuesThanSixteenBitsCount) {
  const tensor::Dispatch many = SumOfMany(30000);
  const Status verified = tensor::Verify(many);
  ASSERT_TRUE(verified.ok()) << verified.ToString();
  ExpectMatchesDefinition(many);
}

// The dispatch has the largest allowed number of stages, and each stage reads
// the results of the previous ones. A plan must examine each access to a buffer
// only a few times: comparing all pairs of accesses would take minutes and
// could not be interrupted.
TEST(HostileTest, ThousandsOfStagesOverThousandsOfBuffers) {
  constexpr int kStages = 4000;
  constexpr int kReads = 12;
  for (const bool are_rows_alike : {true, false}) {
    std::string temporaries, stages;
    for (int i = 1; i <= kStages; ++i) {
      const std::string name = i < kStages ? Concat({"%t", i}) : "%y";
      const bool is_longer = !are_rows_alike && i % 2 == 0 && i < kStages;
      if (i < kStages)
        temporaries +=
            Concat({"temp ", name, ": f32[", is_longer ? 40 : 20, "]\n"});
      std::string value = "%x[i]";
      for (int read = std::max(1, i - kReads); read < i; ++read)
        value = Concat({"max(", value, ", %t", read, "[i])"});
      stages += Concat({"for (i < 20) ", name, "[i] = ", value, "\n"});
    }
    ExpectMatchesDefinition(
        Concat({"dispatch @d(%x: f32[20]) -> (%y: f32[20]) {\n", temporaries,
                stages, "}"}));
  }
}

// A memory budget that counts the bytes with which it is charged.
class Budget final : public MemoryBudget {
 public:
  explicit Budget(int64_t limit) : limit_(limit) {}
  ~Budget() override { EXPECT_EQ(used_, 0); }
  Status Charge(int64_t bytes) override {
    if (bytes > limit_ - used_) return ResourceExhaustedError("too much");
    used_ += bytes;
    return OkStatus();
  }
  void Discharge(int64_t bytes) override { used_ -= bytes; }

 private:
  const int64_t limit_;
  int64_t used_ = 0;
};

TEST(HostileTest, AllMemoryIsCharged) {
  Budget budget(int64_t{1} << 20);
  EXPECT_EQ(PlanError(R"(dispatch @d(%x: f32[1]) -> (%y: f32[4, 8]) {
    %y[i, j] = sum(k < 16777216) f32(i) * f32(j + k)
  })",
                      {}, &budget),
            "dispatch @d: packed operand of stage 0: too much");
  EXPECT_EQ(PlanError(R"(dispatch @d(%x: f32[8]) -> (%y: f32[8]) {
    temp %t: f32[1048576]
    %t[i] = f32(i)
    %y[i] = sum(k < 1048576) %t[k] * %x[i]
  })",
                      {}, &budget),
            "dispatch @d: temporary %t: too much");
}

// A plan must charge the memory of its own lists before it allocates them.
TEST(HostileTest, PlansAreCharged) {
  std::string text = R"(dispatch @d(%x: f32[8]) -> (%y: f32[8]) {
    for (i < 8) {
      let %v0 = %x[i] + 1
)";
  constexpr int kLets = 1000;
  for (int i = 1; i < kLets; ++i) {
    const std::string last = std::to_string(i - 1);
    text += "let %v" + std::to_string(i) + " = %v" + last + " * %v" + last +
            " + %x[mod(i * " + std::to_string(i) + ", 8)]\n";
  }
  text += "%y[i] = %v" + std::to_string(kLets - 1) + "\n}\n}";
  Budget small(int64_t{1} << 18);
  EXPECT_EQ(PlanError(text, {}, &small), "dispatch @d: plan: too much");
  Budget budget(int64_t{1} << 24);
  EXPECT_EQ(PlanError(text, {}, &budget), "OK");
}

// One point with a hundred thousand instructions takes as long as a hundred
// thousand points, so the interrupt must be checked in between.
TEST(HostileTest, AnInterruptEndsPointsOfManyInstructions) {
  for (const bool sums : {false, true}) {
    // The interrupt is checked each time a number of points has been computed,
    // and this dispatch has too few points (4096) for one check. Its many
    // instructions must count as well; otherwise the run could not be stopped.
    std::string text = R"(dispatch @d(%x: f64[8]) -> (%y: f64[64]) {
      for (i < 64)" + std::string(sums ? "" : ", k < 64") +
                       ") {\n";
    // The stage is a reduction if `sums`: most of its points are then terms of
    // the sum, which must count, too.
    if (sums) {
      text = R"(dispatch @d(%x: f64[8]) -> (%y: f64[64]) {
        for (i < 64) fold (k < 64) {
)";
    }
    constexpr int kLets = 50'000;
    text += "let %v0 = %x[mod(k, 8)] + f64(i)\n";
    for (int i = 1; i < kLets; ++i) {
      text += "let %v" + std::to_string(i) + " = sin(%v" +
              std::to_string(i - 1) + ")\n";
    }
    const std::string last = "%v" + std::to_string(kLets - 1);
    text += sums ? "element %e0: f64 = " + last +
                       " from 0.0\nnext %a0 = %a0 + %e0\n%y[i] = %a0\n}\n}"
                 : "%y[i] = " + last + "\n}\n}";
    const StatusOr<tensor::Dispatch> dispatch = tensor::Parse(text);
    ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
    const auto plan = Plan::Make(*dispatch, {}, {});
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    std::vector<double> x(8, 1.0), y(64, 100.0);
    const std::vector<void*> buffers = {x.data(), y.data()};
    Interrupt interrupt;
    const std::chrono::nanoseconds now =
        std::chrono::steady_clock::now().time_since_epoch();
    // On a busy machine the deadline may pass before the run begins, which is
    // also correct.
    interrupt.Start((now + std::chrono::milliseconds(1)).count(), 0.001);
    SerialRunner runner(&interrupt);
    EXPECT_EQ((*plan)->Run(buffers, runner).code(),
              StatusCode::kResourceExhausted)
        << "sums: " << sums;
    EXPECT_EQ(y.back(), 100.0) << "sums: " << sums;
  }
}

TEST(HostileTest, ScratchIsCharged) {
  Budget budget(int64_t{1} << 20);
  const StatusOr<tensor::Dispatch> dispatch = tensor::Parse(
      R"(dispatch @d() -> (%y: f32[8]) {
        temp %t: f32[8, 8589934592]
        %t[i, j] = f32(i + j)
        %y[i] = sum(k < 8589934592) %t[i, k]
      })");
  ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  const auto plan = Plan::Make(*dispatch, {}, {.budget = &budget});
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  float y[8];
  void* const buffers[] = {y};
  SerialRunner runner;
  EXPECT_EQ((*plan)->Run(buffers, runner).message(),
            "dispatch @d: scratch: too much");
}

// Returns the description of the plan of a convolution over a large image with
// this stride.
std::string StridedConvolution(const std::string& stride,
                               const std::string& out) {
  const StatusOr<tensor::Dispatch> dispatch = tensor::Parse(
      "dispatch @d(%x: f32[200, 200, 4], %w: f32[3, 3, 4, 8]) -> (%y: f32[" +
      out + ", " + out + R"(, 8]) {
        %y[h, w, o] = sum(i < 3, j < 3, c < 4)
            pad(%x[h * )" +
      stride + " + i - 1, w * " + stride +
      R"( + j - 1, c], 0.0) * %w[i, j, c, o]
      })");
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  if (!dispatch.ok()) return "";
  return (*Plan::Make(*dispatch, {}, {}))->Describe();
}

// A convolution with a large stride reads few points of its input. It must not
// get a padded copy, because copying would take more work than reading these
// points.
TEST(HostileTest, LittleIsReadOfNoPaddedCopy) {
  EXPECT_NE(StridedConvolution("2", "100").find("padded"), std::string::npos);
  EXPECT_EQ(StridedConvolution("100", "2").find("padded"), std::string::npos)
      << StridedConvolution("100", "2");
}

// Runs the hostile case of a seed twice at tier 0, and compares the results
// with those of the definition.
void ExpectHostileCase(uint64_t seed) {
  const tensor::HostileCase hostile = tensor::MakeHostileCase(seed);
  const tensor::Dispatch& dispatch = hostile.random.dispatch;
  const std::string where = "replay: EMBER_SEED=" + std::to_string(seed) +
                            " bazel run //vm/interpreter:hostile_test\n";
  const Status verified = tensor::Verify(dispatch);
  ASSERT_TRUE(verified.ok()) << where << verified.ToString();
  Plan::Options options;
  options.scratch_target = seed % 2 == 0 ? 4096 : 512 * 1024;
  options.constant_inputs.assign(dispatch.input_count(), seed % 3 == 0);
  Budget budget(int64_t{1} << 28);
  options.budget = &budget;
  const auto plan = Plan::Make(dispatch, hostile.random.parameters, options);
  if (!hostile.is_evaluable) {
    EXPECT_FALSE(plan.ok()) << where;
    return;
  }
  std::vector<std::vector<uint8_t>> expected = hostile.random.MakeBuffers();
  const Status defined = tensor::Evaluate(dispatch, hostile.random.parameters,
                                          tensor::Pointers(expected), {});
  // Making the plan may fail for two reasons: an access out of bounds, for
  // which the definition fails, too, or lack of memory.
  if (!plan.ok()) {
    EXPECT_TRUE(!defined.ok() ||
                plan.status().code() == StatusCode::kResourceExhausted)
        << where << plan.status().ToString() << "\n"
        << tensor::Print(dispatch);
    return;
  }
  SerialRunner runner;
  for (int run = 0; run < 2; ++run) {
    std::vector<std::vector<uint8_t>> found = hostile.random.MakeBuffers();
    const Status status = (*plan)->Run(tensor::Pointers(found), runner);
    EXPECT_EQ(status.ok(), defined.ok())
        << where << status.ToString() << " / " << defined.ToString() << "\n"
        << tensor::Print(dispatch);
    if (!status.ok() || !defined.ok()) return;
    EXPECT_EQ(tensor::FirstDifference(hostile.random, expected, found), "")
        << where << (*plan)->Describe() << tensor::Print(dispatch);
  }
}

TEST(HostileTest, RandomDispatches) {
  const SeedRange seeds = TestSeeds(400);
  for (uint64_t seed = seeds.begin; seed < seeds.end && !HasFailure(); ++seed) {
    SayIfKilled(ReplayOf(seed, "//vm/interpreter:hostile_test") + "\n");
    ExpectHostileCase(seed);
  }
}

}  // namespace
}  // namespace ember::vm
