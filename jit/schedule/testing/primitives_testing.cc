#include "jit/schedule/testing/primitives_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jit/loops/text.h"
#include "jit/schedule/lowering/lowering.h"
#include "jit/schedule/primitives/replay.h"
#include "tensor/text.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;

// White space between words as one blank.
std::string Words(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ' && c != '\n')
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  if (result.ends_with(' ')) result.pop_back();
  return result;
}

}  // namespace

Schedule ScheduleOf(std::string_view text) {
  auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  return Schedule(Disassemble(*dispatch, {}));
}

void ExpectNest(std::string_view dispatch, std::string_view lines,
                std::string_view expected) {
  SCOPED_TRACE(lines);
  Schedule schedule = ScheduleOf(dispatch);
  const Status replayed = Replay(lines, schedule);
  ASSERT_TRUE(replayed.ok()) << replayed.ToString();
  auto nest = Lower(schedule);
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  const std::string text = loops::ToText(*nest);
  EXPECT_THAT(Words(text), HasSubstr(Words(expected))) << text;
}

void ExpectRefused(std::string_view dispatch, std::string_view before,
                   const std::string& line, const std::string& reason) {
  SCOPED_TRACE(line);
  Schedule schedule = ScheduleOf(dispatch);
  const Status replayed = Replay(before, schedule);
  ASSERT_TRUE(replayed.ok()) << replayed.ToString();
  const std::string text = schedule.ToText();
  const Status status = Apply(line, schedule);
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), line + ": " + reason);
  EXPECT_EQ(schedule.ToText(), text);
}

}  // namespace ember::schedule
