#include "frontends/tf_common/reduction.h"

namespace ember::tf_common {

std::optional<std::vector<int64_t>> ReducedAxes(OperatorBase& c) {
  if (!c.CheckRank(0, 0)) return std::nullopt;
  const auto given = c.ConstantIntegers(1, "axes");
  if (!given) return std::nullopt;
  std::vector<int64_t> axes = c.Axes(*given, c.Input(0).rank());
  if (!c.ok()) return std::nullopt;
  return axes;
}

void ImportReduced(OperatorBase& c, std::string_view combiner, bool keep) {
  const auto axes = ReducedAxes(c);
  if (axes) c.SetOutput(0, Reduce(c.Input(0), combiner, *axes, keep));
}

void ImportReducedBool(OperatorBase& c, std::string_view combiner, bool keep) {
  const auto axes = ReducedAxes(c);
  if (!axes) return;
  const Tensor x = Cast(Cast(c.Input(0), DType::kBool), DType::kU8);
  c.SetOutput(0, Cast(Reduce(x, combiner, *axes, keep), DType::kBool));
}

}  // namespace ember::tf_common
