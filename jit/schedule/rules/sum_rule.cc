
#include "jit/schedule/rules/sum_rule.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jit/schedule/rules/stage_shape.h"
#include "tensor/sum_error.h"

namespace ember::schedule {
namespace {

using tensor::kSumBlock;

// Smallest number of terms per iteration for which a condition in each
// iteration costs almost nothing.
constexpr int64_t kManyTerms = 64;

// The loop of a long sum that is to be split, and the factor; factor 0: nothing
// is to be split.
struct Long {
  LoopRef loop;
  int64_t factor = 0;
};

// Returns the largest divisor of the extent that is at most `most`; 0 if that
// is less than about a quarter of `most`, for which a split is not worth it.
int64_t FactorOf(int64_t extent, int64_t most) {
  for (int64_t factor = most; factor * 4 > most; --factor) {
    if (extent % factor == 0) return factor;
  }
  return 0;
}

Long LongSumOf(const ScheduleWriter& writer, int number) {
  const Computation& c = writer.computation();
  const ComputationStage& stage = c.stages[number];
  const StagePlan& plan = writer.schedule().plan(number);
  if (stage.combiner != tensor::Combiner::kSum ||
      !IsFloat(c.pool[stage.values[0]].type) || plan.MultipliesMatrices()) {
    return {};
  }
  const StageShape shape(c, number);
  int64_t terms = 1;  // number of terms that the loops inside the visited loop
                      // add to one accumulator
  for (size_t i = plan.order.size(); i-- > 0;) {
    const Loop& loop = plan.loops[plan.order[i]];
    if (!loop.is_reduction || loop.mark == LoopMark::kVector ||
        IsBound(loop.mark)) {
      continue;
    }
    const std::optional<int64_t> iterations = plan.IterationsOf(
        plan.order[i], [&](int axis) { return shape.Extent(axis); });
    if (!iterations || *iterations < 1 || terms >= kManyTerms) return {};
    if (*iterations > kSumBlock / terms) {
      const bool is_free = loop.mark == LoopMark::kSerial;
      return {{{stage.name}, loop.name},
              is_free ? FactorOf(*iterations, kSumBlock / terms) : 0};
    }
    terms *= *iterations;
  }
  return {};
}

}  // namespace

void SplitLongSums(ScheduleWriter& writer) {
  std::vector<StageRef> stages;
  for (const ComputationStage& stage : writer.computation().stages)
    stages.push_back({stage.name});
  for (const StageRef& stage : stages) {
    const Long sum = LongSumOf(writer, writer.NumberOf(stage));
    if (sum.factor < 2) continue;
    // The split is refused if another stage is attached to the loop; the loop
    // then keeps its condition.
    writer.Try(Split{.loop = sum.loop,
                     .factor = sum.factor,
                     .outer = sum.loop.name + "_sums",
                     .inner = sum.loop.name + "_terms"});
  }
}

}  // namespace ember::schedule
