#include "tune/space/code_size.h"

#include <algorithm>
#include <optional>

#include "base/rounding.h"

namespace ember::tune {
namespace {

constexpr int64_t kLanesOfVector = 16;
// Code sizes are limited to this number, so that multiplying them cannot
// overflow.
constexpr int64_t kMax = int64_t{1} << 40;

int64_t SizeOf(const loops::LoopNest& nest, const loops::Block& block) {
  int64_t size = 0;
  for (const loops::Statement& statement : block) {
    int64_t copies = 1;
    if (statement.kind == loops::Statement::Kind::kFor) {
      const int64_t extent =
          nest.pool.IntegerConstant(nest.pool[statement.variable].operands[0])
              .value_or(1);
      if (statement.loop == loops::LoopKind::kUnrolled) {
        copies = std::max<int64_t>(extent, 1);
      } else if (statement.loop == loops::LoopKind::kVector) {
        copies = DivideRoundingUp(extent, kLanesOfVector);
      }
    }
    const int64_t body = 1 + SizeOf(nest, statement.body);
    size = std::min(size + std::min(body, kMax / copies) * copies, kMax);
  }
  return size;
}

}  // namespace

int64_t CodeSize(const loops::LoopNest& nest) {
  int64_t size = 0;
  for (const auto* phases : {&nest.prologue, &nest.phases}) {
    for (const loops::Phase& phase : *phases)
      size = std::min(size + SizeOf(nest, phase.body), kMax);
  }
  return size;
}

}  // namespace ember::tune
