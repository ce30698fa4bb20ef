#include "jit/ptx/combiner.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ember::jit::ptx {

using llvm_ir::MemoryType;
using llvm_ir::ToMemory;
using llvm_ir::ToRegister;

using llvm::Value;

namespace {

constexpr int kWarp = 32;
constexpr uint64_t kPartBytes = 8;
// Operands of shfl.sync: all lanes take part, and the warp is one segment.
constexpr uint32_t kAllLanes = 0xffffffff;
constexpr uint32_t kWholeWarp = 0x1f;

}  // namespace

Value* Combiner::ShuffleXor(DType type, Value* value, int mask) {
  const auto bits = 8 * static_cast<unsigned>(DTypeByteSize(type));
  const auto shuffle = [&](Value* word) {
    return b_.CreateIntrinsic(
        llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {},
        {b_.getInt32(kAllLanes), word, b_.getInt32(static_cast<uint32_t>(mask)),
         b_.getInt32(kWholeWarp)});
  };
  // The value as it would be in memory, in words of 32 bits.
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

Value* Combiner::PartAt(Value* parts, Value* warp) {
  return b_.CreateGEP(b_.getInt8Ty(), parts,
                      b_.CreateMul(warp, b_.getInt64(kPartBytes)));
}

Value* Combiner::Combine(DType type, const loops::Store& store, Value* value,
                         Value* thread, int64_t warps, Value* parts,
                         const std::function<void()>& synchronize) {
  for (int mask = kWarp / 2; mask > 0; mask /= 2)
    value = stores_.Combine(store, value, ShuffleXor(type, value, mask));
  if (warps < 2) return value;
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, &function_);
  };
  const auto branch = [&](Value* condition, auto&& emit) {
    llvm::BasicBlock* const then = block("part");
    llvm::BasicBlock* const after = block("parts");
    b_.CreateCondBr(condition, then, after);
    b_.SetInsertPoint(then);
    emit();
    llvm::BasicBlock* const end = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    return end;
  };
  const llvm::Align alignment(static_cast<uint64_t>(DTypeByteSize(type)));
  Value* const lane = b_.CreateAnd(thread, b_.getInt64(kWarp - 1));
  branch(b_.CreateICmpEQ(lane, b_.getInt64(0)), [&] {
    Value* const warp = b_.CreateUDiv(thread, b_.getInt64(kWarp));
    b_.CreateAlignedStore(ToMemory(b_, type, value), PartAt(parts, warp),
                          alignment);
  });
  synchronize();
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  Value* all = value;
  llvm::BasicBlock* const end =
      branch(b_.CreateICmpEQ(thread, b_.getInt64(0)), [&] {
        for (int64_t i = 1; i < warps; ++i) {
          Value* const part = b_.CreateAlignedLoad(
              MemoryType(b_.getContext(), type),
              PartAt(parts, b_.getInt64(static_cast<uint64_t>(i))), alignment);
          all = stores_.Combine(store, all, ToRegister(b_, type, part));
        }
      });
  llvm::PHINode* const result = b_.CreatePHI(value->getType(), 2);
  result->addIncoming(value, before);
  result->addIncoming(all, end);
  return result;
}

}  // namespace ember::jit::ptx
