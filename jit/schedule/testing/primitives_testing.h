// What tests of primitives share: tiny dispatches, and what a line of a
// schedule makes of them.
//
//   ExpectNest(kAdd, "split %y j 3 -> j0 j1", "for i < 4 { for j0 < 2 {");
#ifndef EMBER_JIT_SCHEDULE_TESTING_PRIMITIVES_TESTING_H_
#define EMBER_JIT_SCHEDULE_TESTING_PRIMITIVES_TESTING_H_

#include <string>
#include <string_view>

#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

Schedule ScheduleOf(std::string_view text);

// The nest's statements: what stands in the phases.
void ExpectNest(std::string_view dispatch, std::string_view lines,
                std::string_view expected);

// The last line is refused, and changes nothing.
void ExpectRefused(std::string_view dispatch, std::string_view before,
                   const std::string& line, const std::string& reason);

inline constexpr std::string_view kAdd = R"(
  dispatch @add(%x: f32[4, 6]) -> (%y: f32[4, 6]) {
    %y[i, j] = %x[i, j] + 1.0
  })";

inline constexpr std::string_view kProduct = R"(
  dispatch @product(%a: f32[4, 5], %b: f32[5, 6]) -> (%y: f32[4, 6]) {
    temp %acc: f32[4, 6]
    %acc[i, j] = sum(k < 5) %a[i, k] * %b[k, j]
    %y[i, j] = max(%acc[i, j], 0.0)
  })";

inline constexpr std::string_view kArgmax = R"(
  dispatch @argmax(%x: f32[4, 6, 5]) -> (%y: i64[4]) {
    for (i < 4) fold (j < 6, k < 5) {
      element %e0: i64 = j * 5 + k from 0
      element %e1: f32 = %x[i, j, k] from -inf
      let %less = %a1 < %e1
      next %a0 = select(%less, %e0, %a0)
      next %a1 = select(%less, %e1, %a1)
      %y[i] = %a0
    }
  })";

inline constexpr std::string_view kBytes = R"(
  dispatch @bytes(%a: u8[4, 8], %b: i8[8, 6]) -> (%y: i32[4, 6]) {
    %y[i, j] = sum(k < 8) i32(%a[i, k]) * i32(%b[k, j])
  })";

inline constexpr std::string_view kGather = R"(
  dispatch @gather(%x: f32[4], %p: i64[6]) -> (%y: f32[4]) {
    %y[i] = 0.0
    for (i < 6) %y[%p[i]] += %x[%p[i]]
  })";

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_TESTING_PRIMITIVES_TESTING_H_
