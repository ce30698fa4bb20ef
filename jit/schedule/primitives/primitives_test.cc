// Tests primitives with facts that no text of a dispatch expresses.
// tests/cases/primitives tests them on texts of dispatches.
#include "jit/schedule/primitives/primitives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "jit/loops/text/text.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/lowering/lowering.h"
#include "jit/schedule/primitives/replay.h"
#include "tensor/text/text.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kAdd = R"(
  dispatch @add(%x: f32[4, 6]) -> (%y: f32[4, 6]) {
    %y[i, j] = %x[i, j] + 1.0
  })";

constexpr std::string_view kBytes = R"(
  dispatch @bytes(%a: u8[4, 8], %b: i8[8, 6]) -> (%y: i32[4, 6]) {
    %y[i, j] = sum(k < 8) i32(%a[i, k]) * i32(%b[k, j])
  })";

Schedule ScheduleOf(std::string_view text) {
  auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  return Schedule(Disassemble(*dispatch, {}));
}

// The range of a constant's elements is known if its contents are.
TEST(Primitives, PackKeepsRanges) {
  Computation computation = ScheduleOf(kBytes).computation();
  computation.buffers[1].values = {-3, 64};
  Schedule schedule(std::move(computation));
  ASSERT_TRUE(Apply("pack %y %b i16 -64..64 1 0 -> w", schedule).ok());
  // The recorded text contains the range, and replays without the contents.
  EXPECT_THAT(schedule.ToText(), HasSubstr("pack %y %b i16 -64..64 1 0 -> w"));
  const auto nest = Lower(schedule);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  EXPECT_THAT(loops::ToText(*nest),
              HasSubstr("= i16(min(max(%b[p1, p0], -64), 64))"));
  EXPECT_FALSE(Apply("pack %y %b -2..64 1 0 -> v", schedule).ok());
}

TEST(Primitives, OnlineSoftmaxRounds) {
  Schedule schedule = ScheduleOf(R"(
    dispatch @attention(%x: f32[3, 8], %v: f32[8, 2]) -> (%y: f32[3, 2]) {
      temp %most: f32[3]
      temp %power: f32[3, 8]
      temp %total: f32[3]
      temp %p: f32[3, 8]
      %most[i] = maximum(k < 8) %x[i, k]
      %power[i, j] = exp(%x[i, j] - %most[i])
      %total[i] = sum(k < 8) %power[i, k]
      %p[i, j] = %power[i, j] / %total[i]
      %y[i, j] = sum(k < 8) %p[i, k] * %v[k, j]
    })");
  EXPECT_TRUE(KeepsRounding(schedule));
  ASSERT_TRUE(Apply("online_softmax %y 4 -> sum whole", schedule).ok());
  EXPECT_FALSE(KeepsRounding(schedule));
}

TEST(Primitives, MatricesRoundOnTheirWay) {
  Schedule schedule = ScheduleOf(R"(
    dispatch @halves(%a: f16[16, 24], %b: f16[24, 16]) -> (%y: f32[16, 16]) {
      %y[i, j] = sum(k < 24) f32(%a[i, k]) * f32(%b[k, j])
    })");
  constexpr std::string_view kSplit =
      "split %y i 8 -> s m\n split %y j 8 -> j0 n\n split %y k 8 -> k0 k1\n"
      "reorder %y k0 s j0 m n k1\n unroll %y j0\n";
  EXPECT_TRUE(Replay(kSplit, schedule).ok());
  EXPECT_TRUE(KeepsRounding(schedule));
  EXPECT_TRUE(Apply("multiply_matrices %y s m n k1", schedule).ok());
  EXPECT_FALSE(KeepsRounding(schedule));
}

TEST(ScheduleText, WordsOfDoubleBuffer) {
  Schedule schedule = ScheduleOf(kAdd);
  const auto message_of = [&](std::string_view line) {
    return std::string(Apply(line, schedule).message());
  };
  EXPECT_THAT(message_of("double_buffer %y async 3 soon"),
              HasSubstr("expected 'late' or nothing behind the slots, found "
                        "'soon'"));
  EXPECT_THAT(message_of("double_buffer %y async 3 late soon"),
              HasSubstr("expected 'spare' or nothing behind 'late', found "
                        "'soon'"));
  EXPECT_THAT(message_of("double_buffer %y soon"),
              HasSubstr("expected 'registers', 'async' or nothing, found "
                        "'soon'"));
}

// A line that is only a primitive's name gives an error with its usage. Tests
// every row of the table.
TEST(ScheduleText, Usage) {
  for (const PrimitiveInfo& info : Primitives()) {
    const std::string name(info.name);
    SCOPED_TRACE(name);
    Schedule schedule = ScheduleOf(kAdd);
    const Status status = Apply(name, schedule);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), name + ": expected '" + name + " " +
                                    std::string(info.usage) + "'");
    EXPECT_EQ(schedule.ToText(), "schedule @add {\n}\n");
  }
}

}  // namespace
}  // namespace ember::schedule
