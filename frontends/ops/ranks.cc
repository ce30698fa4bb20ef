#include "frontends/ops/ranks.h"

namespace ember::ops {

std::string FindRankFault(const Tensor& x, int minimum, int maximum) {
  const int rank = x.rank();
  if (rank >= minimum && rank <= maximum) return "";
  std::string expected = std::to_string(minimum);
  if (maximum == kMaxRank)
    expected += " or more";
  else if (maximum != minimum)
    expected += " to " + std::to_string(maximum);
  return "expected rank " + expected + ", found " +
         graph::ShapeToString(x.shape());
}

}  // namespace ember::ops
