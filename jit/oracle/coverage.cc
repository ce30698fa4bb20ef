#include "jit/oracle/coverage.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace ember::jit {
namespace {

// Largest number of boxes that StoresEveryElement compares, because it compares
// each with all others.
constexpr size_t kMaxBoxes = 64;

// A box of elements: in each dim, the range of indices from low (included) to
// high (excluded).
struct Box {
  std::vector<int64_t> low, high;

  int64_t size() const {
    int64_t product = 1;
    for (size_t i = 0; i < low.size(); ++i) product *= high[i] - low[i];
    return product;
  }
  bool Overlaps(const Box& other) const {
    for (size_t i = 0; i < low.size(); ++i) {
      if (low[i] >= other.high[i] || other.low[i] >= high[i]) return false;
    }
    return true;
  }
};

// Returns the box of elements that the store writes, each once. Returns nullopt
// unless each index of the store is a constant, or one axis plus a constant.
std::optional<Box> BoxOf(const tensor::StageAnalysis& analysis,
                         const tensor::Store& store) {
  const std::span<const int64_t> extents = analysis.axis_extents();
  std::vector<bool> is_used(extents.size());
  Box box;
  for (const tensor::Register reg : store.indices) {
    const std::optional<tensor::AffineForm> form = analysis.ToAffine(reg);
    if (!form.has_value() || !form->IsAffine()) return std::nullopt;
    box.low.push_back(form->constant);
    box.high.push_back(form->constant + 1);
    for (size_t axis = 0; axis < form->coefficients.size(); ++axis) {
      if (form->coefficients[axis] == 0) continue;
      const bool is_alone = box.high.back() == box.low.back() + 1;
      if (form->coefficients[axis] != 1 || is_used[axis] || !is_alone)
        return std::nullopt;
      is_used[axis] = true;
      box.high.back() = box.low.back() + extents[axis];
    }
  }
  return box;
}

}  // namespace

bool StoresEveryElement(const tensor::Dispatch& dispatch,
                        const tensor::ConcreteHeader& header, uint32_t buffer) {
  std::vector<Box> boxes;
  int64_t stored = 0;
  for (const tensor::Stage& stage : dispatch.stages) {
    for (const tensor::Store& store : stage.stores) {
      if (store.buffer != buffer || store.update != tensor::Update::kAssign)
        continue;
      const tensor::StageAnalysis analysis(dispatch, stage, header);
      std::optional<Box> box = BoxOf(analysis, store);
      if (!box.has_value()) continue;
      if (boxes.size() == kMaxBoxes) return false;
      const bool is_new = std::ranges::none_of(
          boxes, [&](const Box& other) { return other.Overlaps(*box); });
      if (!is_new) continue;
      stored += box->size();
      boxes.push_back(*std::move(box));
    }
  }
  return stored == header.ElementCount(dispatch.buffers[buffer]);
}

}  // namespace ember::jit
