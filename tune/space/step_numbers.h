// Visits the numbers in a step of a schedule that the search may change:
// factors of splits and layouts, sizes of tiles, slots of ring buffers.
//
//   ForEachNumber(step, [](int64_t& number) { number *= 2; });
//
// Numbers of dims, which layouts also contain, are not visited.
#ifndef EMBER_TUNE_SPACE_STEP_NUMBERS_H_
#define EMBER_TUNE_SPACE_STEP_NUMBERS_H_

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "jit/schedule/core/steps.h"

namespace ember::tune {

namespace internal {

template <typename Operand, typename Visitor>
void VisitNumbers(Operand& operand, Visitor&& visit) {
  using schedule::LayoutDim;
  using schedule::LoopDigit;
  if constexpr (std::is_same_v<Operand, int64_t>) {
    visit(operand);
  } else if constexpr (std::is_same_v<Operand, std::vector<LayoutDim>>) {
    for (LayoutDim& dim : operand) {
      if (dim.part != LayoutDim::Part::kWhole) visit(dim.factor);
    }
  } else if constexpr (std::is_same_v<Operand, LoopDigit>) {
    if (operand.kind != LoopDigit::Kind::kWhole) visit(operand.factor);
  } else if constexpr (std::is_same_v<Operand, schedule::LoopPieces>) {
    visit(operand.size);
  } else if constexpr (std::is_same_v<Operand,
                                      std::vector<schedule::LoopPieces>>) {
    for (schedule::LoopPieces& pieces : operand) visit(pieces.size);
  } else if constexpr (std::is_same_v<Operand, schedule::LoadAhead>) {
    if (operand.buffering == schedule::Buffering::kAsync) visit(operand.slots);
  }
}

}  // namespace internal

template <typename Visitor>
void ForEachNumber(schedule::Step& step, Visitor&& visit) {
  std::visit(
      [&](auto& primitive) {
        std::apply(
            [&](auto... members) {
              (internal::VisitNumbers(primitive.*members, visit), ...);
            },
            primitive.kOperands);
      },
      step);
}

}  // namespace ember::tune

#endif  // EMBER_TUNE_SPACE_STEP_NUMBERS_H_
