#include "jit/loops/evaluator/mark_checker.h"

#include <cstddef>

#include "base/concat.h"
#include "base/dtype.h"
#include "jit/loops/walk.h"
#include "tensor/instructions.h"

namespace ember::loops {

bool MarkChecker::IsShort(NodeId id) const {
  return options_.checks_integers && nest_.pool[id].type == DType::kI64 &&
         !IsWide(nest_, id);
}

Status MarkChecker::CheckShort(const tensor::Node& node, uint64_t value) const {
  const auto integer = static_cast<int64_t>(value);
  if (integer == static_cast<int32_t>(integer)) return OkStatus();
  return InternalError(
      Concat({"expected an integer of 32 bits or a mark, found ", integer,
              " for ", tensor::InfoOf(node.opcode).text}));
}

Status MarkChecker::CheckLoad(const tensor::Node& load, int64_t position,
                              int64_t elements, std::span<const int64_t> lane) {
  const int64_t width = VectorOf(load);
  if (!options_.checks_marks || width == 0) return OkStatus();
  // Emitted code must know the element's position in its vector at compile
  // time. So the position may depend only on the variables of loops that are
  // written out.
  std::vector<int64_t> known;
  for (const NodeId variable : written_out_)
    known.push_back(lane[nest_.pool[variable].immediate]);
  const auto place =
      places_.emplace(std::pair(&load, std::move(known)), position % width)
          .first;
  const bool is_whole = (position / width + 1) * width <= elements;
  if (place->second == position % width && is_whole) return OkStatus();
  return InternalError(Concat(
      {"buffer %", nest_.buffers[load.buffer].name, ": element ", position,
       is_whole ? " is not at a known position of its vector of "
                : " is in no whole vector of ",
       width}));
}

Status MarkChecker::CheckStore(const Store& store,
                               std::span<const int64_t> positions) const {
  const int64_t width = store.vector;
  if (!options_.checks_marks || width == 0 || is_masked_) return OkStatus();
  for (size_t i = 0; i < positions.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) % width;
    const int64_t lane = options_.backwards ? width - 1 - at : at;
    const int64_t begin = positions[i] - lane;
    const bool is_with_others =
        at == 0 || positions[i - 1] / width == positions[i] / width;
    if (begin % width == 0 && is_with_others) continue;
    return InternalError(Concat({"buffer %", nest_.buffers[store.buffer].name,
                                 ": element ", positions[i], " is not lane ",
                                 lane, " of a vector of ", width}));
  }
  return OkStatus();
}

bool MarkChecker::Misses(const Statement& check, int64_t index) const {
  return options_.checks_marks &&
         (check.test == BoundsTest::kNone ||
          (check.test == BoundsTest::kUpper && index < 0));
}

}  // namespace ember::loops
