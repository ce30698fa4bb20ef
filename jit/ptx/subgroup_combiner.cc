#include "jit/ptx/subgroup_combiner.h"

#include "jit/loops/walk.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ember::jit::ptx {

using llvm_ir::MemoryType;
using llvm_ir::ToMemory;
using llvm_ir::ToRegister;

using llvm::Value;

namespace {

constexpr int kWarp = 32;
// Operands of shfl.sync, which exchanges values between the lanes of a warp:
// all 32 lanes take part, and the warp is not divided into segments.
constexpr uint32_t kAllLanes = 0xffffffff;
constexpr uint32_t kWholeWarp = 0x1f;

}  // namespace

Value* SubgroupCombiner::ShuffleXor(DType type, Value* value, int mask) {
  const auto bits = 8 * static_cast<unsigned>(DTypeByteSize(type));
  const auto shuffle = [&](Value* word) {
    return b_.CreateIntrinsic(
        llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {},
        {b_.getInt32(kAllLanes), word, b_.getInt32(static_cast<uint32_t>(mask)),
         b_.getInt32(kWholeWarp)});
  };
  // shfl.sync moves words of 32 bits, so the value is converted to its bits in
  // memory first.
  Value* const memory =
      b_.CreateBitCast(ToMemory(b_, type, value), b_.getIntNTy(bits));
  Value* other = nullptr;
  if (bits <= 32) {
    other = shuffle(b_.CreateZExt(memory, b_.getInt32Ty()));
    other = b_.CreateTrunc(other, b_.getIntNTy(bits));
  } else {
    Value* const low = shuffle(b_.CreateTrunc(memory, b_.getInt32Ty()));
    Value* const high =
        shuffle(b_.CreateTrunc(b_.CreateLShr(memory, 32), b_.getInt32Ty()));
    other = b_.CreateOr(b_.CreateZExt(low, b_.getInt64Ty()),
                        b_.CreateShl(b_.CreateZExt(high, b_.getInt64Ty()), 32));
  }
  other = b_.CreateBitCast(other, MemoryType(b_.getContext(), type));
  return ToRegister(b_, type, other);
}

Value* SubgroupCombiner::Combine(DType type, const loops::Store& store,
                                 Value* value) {
  loops::Store by = store;
  by.update = loops::UpdateOf(store.combining);
  for (int mask = kWarp / 2; mask > 0; mask /= 2)
    value = stores_.Combine(by, value, ShuffleXor(type, value, mask));
  return value;
}

}  // namespace ember::jit::ptx
