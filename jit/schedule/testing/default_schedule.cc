
#include "jit/schedule/testing/default_schedule.h"

#include <gtest/gtest.h>

#include <utility>

#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/order_axes.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/split_dims.h"
#include "jit/schedule/cpu/default_schedule.h"
#include "jit/target/cpu_model.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/testing/random_values.h"
#include "tensor/text/text.h"

namespace ember::schedule {

namespace {

std::string MakeSchedule(const char* target, const std::string& text,
                         bool is_known, bool is_evaluated, int constants = 1) {
  auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  if (!dispatch.ok()) return "";
  tensor::RandomCase random;
  random.seed = 1;
  random.dispatch = *std::move(dispatch);
  Computation computation = Disassemble(random.dispatch, {});
  if (is_known) MakeConstant(computation.buffers[1], random.MakeBuffers()[1]);
  for (int i = 1; i <= constants; ++i)
    computation.buffers[static_cast<size_t>(i)].is_constant = true;
  OrderAxes(computation);
  SplitDims(computation);
  Schedule schedule(std::move(computation));
  // Schedules that must be exact do not use Winograd's method, which rounds
  // differently.
  const Status status =
      ScheduleByModel(jit::CpuModel::Of(target), schedule, {.exact = true});
  EXPECT_TRUE(status.ok()) << status.ToString();
  if (!is_evaluated) return schedule.ToText();
  auto nest = Lower(schedule);
  EXPECT_TRUE(nest.ok()) << nest.status().ToString() << schedule.ToText();
  if (!nest.ok()) return "";
  EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::ToText(*nest);
  auto expected = random.MakeBuffers(), found = random.MakeBuffers();
  EXPECT_TRUE(
      tensor::Evaluate(random.dispatch, {}, tensor::Pointers(expected), {})
          .ok());
  EXPECT_TRUE(loops::Evaluate(*nest, {}, tensor::Pointers(found)).ok());
  EXPECT_EQ(tensor::FirstDifference(random, expected, found), "")
      << loops::ToText(*nest);
  return schedule.ToText();
}

}  // namespace

std::string ScheduleFor(const char* target, const std::string& dispatch,
                        int constants) {
  return MakeSchedule(target, dispatch, false, true, constants);
}

std::string ScheduleForKnown(const char* target, const std::string& dispatch) {
  return MakeSchedule(target, dispatch, true, true);
}

std::string ScheduleOfLarge(const char* target, const std::string& dispatch) {
  return MakeSchedule(target, dispatch, false, false);
}

}  // namespace ember::schedule
