#include "jit/llvm/emit/lane_masks.h"

#include <algorithm>

#include "llvm/IR/Intrinsics.h"

namespace ember::jit::llvm_ir {

using llvm::Value;
using tensor::Interval;

namespace {

// A range of values that are so small that adding or subtracting a number of
// lanes does not overflow.
constexpr Interval kSmall = {-(int64_t{1} << 61), int64_t{1} << 61};

}  // namespace

// True if the node is rest + lane or rest - lane, without wrapping, where
// `rest` is the same in all lanes. Sets `index` to that sum.
bool LaneMasks::IsLaneStep(NodeId id, LinearIndex& index) {
  if (!pool_[id].range.Within(kSmall)) return false;
  index = linearizer_.Of(id);
  return index.HasConstantStride() &&
         (index.lane_constant == 1 || index.lane_constant == -1);
}

// Handles quotients, too: (x floordiv n) + c equals (x + c * n) floordiv n,
// which is less than an extent exactly if x + c * n is less than n * extent.
int64_t LaneMasks::LaneStepsOf(NodeId id, NodeId extent, LinearIndex& index) {
  if (IsLaneStep(id, index)) return 1;
  const std::optional<ShiftedQuotient> quotient = linearizer_.QuotientOf(id);
  if (!quotient) return 0;
  const int64_t divisor = quotient->divisor;
  const Interval small = {kSmall.low / divisor + 1, kSmall.high / divisor - 1};
  if (!pool_[id].range.Within(small) || !pool_[extent].range.Within(small) ||
      !IsLaneStep(quotient->dividend, index))
    return 0;
  for (const ScopedValue& term : quotient->rest.uniform) {
    index.uniform.push_back(
        linearizer_.ValueOf(linearizer_.Times(Factor{divisor, {}}, term)));
  }
  index.constant =
      static_cast<int64_t>(static_cast<uint64_t>(index.constant) +
                           static_cast<uint64_t>(divisor) *
                               static_cast<uint64_t>(quotient->rest.constant));
  return divisor;
}

Value* LaneMasks::BoundOf(NodeId id) {
  Value* value = emit_(id);
  if (pool_[id].range.Within(kSmall)) return value;
  const auto limit = [&](int64_t bound) {
    return b_.getInt64(static_cast<uint64_t>(2 * bound));
  };
  return scopes_.Once(scopes_.DepthOf(id), Made::kBound, value, nullptr, [&] {
    return b_.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin,
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value,
                                 limit(kSmall.low)),
        limit(kSmall.high));
  });
}

Value* LaneMasks::ExtentOf(NodeId id) {
  Value* value = emit_(id);
  if (pool_[id].range.low >= 0) return value;
  return scopes_.Once(scopes_.DepthOf(id), Made::kExtent, value, nullptr, [&] {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value,
                                    b_.getInt64(0));
  });
}

// Returns a - b clamped to 0..lanes. Both must be so small that the difference
// does not overflow.
Value* LaneMasks::ClampedDifference(Value* a, Value* b) {
  Value* difference = b_.CreateSub(a, b);
  Value* positive = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, difference,
                                             b_.getInt64(0));
  return b_.CreateBinaryIntrinsic(
      llvm::Intrinsic::smin, positive,
      b_.getInt64(static_cast<uint64_t>(scopes_.lanes())));
}

void LaneMasks::AddBelow(const LinearIndex& index, Value* bound, LaneSet& set) {
  Value* rest = linearizer_.Rest(index).value;
  if (index.lane_constant == 1) {
    // If the index is rest + lane, the condition index < bound holds in lanes
    // below bound - rest.
    Value* high = ClampedDifference(bound, rest);
    set.high = set.high ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                                   set.high, high)
                        : high;
    return;
  }
  // If the index is rest - lane, the condition index < bound holds in lanes
  // above rest - bound.
  Value* low = ClampedDifference(b_.CreateAdd(rest, b_.getInt64(1)), bound);
  set.low = set.low
                ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, set.low, low)
                : low;
}

void LaneMasks::AddNotBelow(const LinearIndex& index, Value* bound,
                            LaneSet& set) {
  Value* rest = linearizer_.Rest(index).value;
  if (index.lane_constant == 1) {
    // If the index is rest + lane, the condition index >= bound holds in lanes
    // from bound - rest on.
    Value* low = ClampedDifference(bound, rest);
    set.low =
        set.low ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, set.low, low)
                : low;
    return;
  }
  // If the index is rest - lane, the condition index >= bound holds in lanes up
  // to rest - bound.
  Value* high = ClampedDifference(b_.CreateAdd(rest, b_.getInt64(1)), bound);
  set.high =
      set.high ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, set.high, high)
               : high;
}

Value* LaneMasks::Compare(NodeId a, NodeId b, bool or_equal) {
  LaneSet set;
  set.depth = kHere;
  LinearIndex index;
  const auto one_more = [&](Value* value) {
    return b_.CreateAdd(value, b_.getInt64(1));
  };
  // Finds the lanes in which rest +- lane < b, or < b + 1 if or_equal.
  if (!scopes_.VariesByLane(b)) {
    if (!IsLaneStep(a, index)) return nullptr;
    Value* bound = BoundOf(b);
    AddBelow(index, or_equal ? one_more(bound) : bound, set);
    // Finds the lanes in which b >= a + 1, or b >= a if or_equal, where b
    // varies by lane.
  } else if (!scopes_.VariesByLane(a)) {
    if (!IsLaneStep(b, index)) return nullptr;
    Value* bound = BoundOf(a);
    AddNotBelow(index, or_equal ? bound : one_more(bound), set);
  } else {
    return nullptr;
  }
  return MaskOf(set);
}

void LaneMasks::And(Value*& all, Value* one) {
  all = all == nullptr ? one : b_.CreateAnd(all, one);
}

void LaneMasks::AddInBounds(NodeId index_id, NodeId extent_id, LaneSet& set) {
  const Interval range = pool_[index_id].range;
  const bool not_below = range.low >= 0;
  const bool not_above = range.high < pool_[extent_id].range.low;
  if (not_below && not_above) return;
  set.depth = std::max(set.depth, std::max(scopes_.DepthOf(index_id),
                                           scopes_.DepthOf(extent_id)));
  LinearIndex index;
  const bool varies = scopes_.VariesByLane(index_id);
  const int64_t scale = varies ? LaneStepsOf(index_id, extent_id, index) : 0;
  if (scale != 0) {
    Value* bound = not_above ? nullptr : BoundOf(extent_id);
    const Scopes::At at(scopes_, set.depth);
    if (scale != 1 && bound != nullptr)
      bound = b_.CreateMul(bound, b_.getInt64(static_cast<uint64_t>(scale)));
    if (!not_below) AddNotBelow(index, b_.getInt64(0), set);
    if (!not_above) AddBelow(index, bound, set);
    return;
  }
  // One unsigned comparison tests both bounds: the extent is not negative, and
  // a negative index is larger than any extent as an unsigned number.
  Value* extent = ExtentOf(extent_id);
  Value* value = emit_(index_id);
  const Scopes::At at(scopes_, set.depth);
  if (IsVector(value)) {
    And(set.mask, b_.CreateICmpULT(value, Splat(b_, extent, scopes_.lanes())));
  } else {
    And(set.uniform, b_.CreateICmpULT(value, extent));
  }
}

Value* LaneMasks::MaskOf(const LaneSet& set) {
  const Scopes::At at(scopes_, set.depth);
  const int lanes = scopes_.lanes();
  Value* all = b_.getInt64(static_cast<uint64_t>(lanes));
  Value* none = b_.getInt64(0);
  Value* result = set.mask;
  if (set.low != nullptr || set.high != nullptr) {
    Value* high = set.high ? set.high : all;
    if (set.uniform != nullptr) high = b_.CreateSelect(set.uniform, high, none);
    And(result, LaneRange(b_, set.low ? set.low : none, high, lanes));
  } else if (set.uniform != nullptr) {
    And(result, Splat(b_, set.uniform, lanes));
  }
  return result;
}

}  // namespace ember::jit::llvm_ir
