#include "jit/llvm/passes/masked_access.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace ember::jit::llvm_ir {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

bool IsMaskedAccess(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (call == nullptr) return false;
  return call->getIntrinsicID() == llvm::Intrinsic::masked_load ||
         call->getIntrinsicID() == llvm::Intrinsic::masked_store;
}

// Replaces one masked load or store by instructions that each access a register
// of 128 or 256 bits.
class MaskedAccess {
 public:
  MaskedAccess(llvm::IntrinsicInst& call, bool has_avx2)
      : call_(call), has_avx2_(has_avx2), b_(&call) {
    is_load_ = call.getIntrinsicID() == llvm::Intrinsic::masked_load;
    // The operands of LLVM's intrinsics are load(pointer, alignment, mask, off)
    // and store(value, pointer, alignment, mask). `off` is the result in lanes
    // that the mask disables.
    pointer_ = call.getArgOperand(is_load_ ? 0 : 1);
    alignment_ = call.getArgOperand(is_load_ ? 1 : 2);
    mask_ = call.getArgOperand(is_load_ ? 2 : 3);
    value_ = call.getArgOperand(is_load_ ? 3 : 0);
    auto* type = llvm::cast<llvm::FixedVectorType>(value_->getType());
    element_ = type->getElementType();
    lanes_ = static_cast<int>(type->getNumElements());
  }

  void Lower() {
    const int bits = static_cast<int>(element_->getScalarSizeInBits());
    if (bits != 32 && bits != 64) return;
    const int lanes =
        std::clamp(256 / bits, 128 / bits, std::max(lanes_, 128 / bits));
    std::vector<Value*> parts;
    for (int begin = 0; begin < lanes_; begin += lanes)
      parts.push_back(Part(begin, lanes));
    if (is_load_) call_.replaceAllUsesWith(Joined(std::move(parts)));
    call_.eraseFromParent();
  }

 private:
  // Returns `lanes` lanes of the vector, beginning with lane `begin`. Lanes
  // beyond the vector's end are filled with lane 0 of `rest`.
  Value* Slice(Value* vector, int begin, int lanes, Value* rest) {
    std::vector<int> which;
    for (int lane = begin; lane < begin + lanes; ++lane)
      which.push_back(std::min(lane, lanes_));
    return b_.CreateShuffleVector(vector, rest, which);
  }

  Value* Part(int begin, int lanes) {
    Value* mask = Slice(mask_, begin, lanes,
                        llvm::Constant::getNullValue(mask_->getType()));
    Value* value =
        Slice(value_, begin, lanes, llvm::PoisonValue::get(value_->getType()));
    Value* pointer =
        b_.CreateConstGEP1_64(element_, pointer_, static_cast<uint64_t>(begin));
    const auto* known = llvm::dyn_cast<llvm::Constant>(mask);
    if (known != nullptr && known->isNullValue()) return value;
    if (known != nullptr && known->isAllOnesValue())
      return Plain(pointer, value);
    if (is_load_) return Load(pointer, mask, value);
    if (known != nullptr) return Store(pointer, mask, value);
    return StoreWholeOrSome(pointer, mask, value);
  }

  // Emits a branch to a plain store if all lanes are active, and to a masked
  // store otherwise. On some machines (Zen 3) a masked store takes tens of
  // cycles. Most stores have all lanes, because a mask only cuts off the end of
  // a row.
  Value* StoreWholeOrSome(Value* pointer, Value* mask, Value* value) {
    llvm::Instruction* whole = nullptr;
    llvm::Instruction* some = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(b_.CreateAndReduce(mask), &call_,
                                        &whole, &some);
    b_.SetInsertPoint(whole);
    Plain(pointer, value);
    b_.SetInsertPoint(some);
    Store(pointer, mask, value);
    b_.SetInsertPoint(&call_);
    return value;
  }

  Value* Plain(Value* pointer, Value* value) {
    const auto* bytes = llvm::cast<llvm::ConstantInt>(alignment_);
    const llvm::Align alignment(bytes->getZExtValue());
    if (is_load_)
      return Marked(b_.CreateAlignedLoad(value->getType(), pointer, alignment));
    return Marked(b_.CreateAlignedStore(value, pointer, alignment));
  }

  Value* Load(Value* pointer, Value* mask, Value* off) {
    llvm::CallInst* loaded =
        b_.CreateIntrinsic(Instruction(off->getType()), {},
                           {pointer, Signs(mask, off->getType())});
    Value* value = b_.CreateBitCast(Marked(loaded), off->getType());
    // The instruction sets lanes that the mask disables to 0. If `off` is
    // another value, a select inserts it.
    const auto* known = llvm::dyn_cast<llvm::Constant>(off);
    const bool any = known != nullptr && (llvm::isa<llvm::UndefValue>(known) ||
                                          known->isNullValue());
    return any ? value : b_.CreateSelect(mask, value, off);
  }

  Value* Store(Value* pointer, Value* mask, Value* value) {
    Value* signs = Signs(mask, value->getType());
    llvm::Type* type = InstructionType(value->getType());
    return Marked(
        b_.CreateIntrinsic(Instruction(value->getType()), {},
                           {pointer, signs, b_.CreateBitCast(value, type)}));
  }

  // Returns the mask as the instructions take it: integers as wide as the
  // elements, whose sign bits are the mask.
  Value* Signs(Value* mask, llvm::Type* like) {
    return b_.CreateSExt(
        mask, llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(like)));
  }

  bool IsOfFloats() const {
    return element_->isFloatingPointTy() || !has_avx2_;
  }
  // Returns the vector type of the instruction's operand for a vector of the
  // given type: floats if there are only instructions for floats.
  llvm::Type* InstructionType(llvm::Type* type) {
    if (!IsOfFloats()) return type;
    llvm::Type* element = element_->getScalarSizeInBits() == 32
                              ? b_.getFloatTy()
                              : b_.getDoubleTy();
    return llvm::VectorType::get(
        element, llvm::cast<llvm::VectorType>(type)->getElementCount());
  }

  ID Instruction(llvm::Type* type) const {
    // The table's indices are: integers or floats, load or store, 32 or 64 bits
    // per element, 128 or 256 bits per register.
    using namespace llvm::Intrinsic;  // NOLINT: the table below uses its names
    static constexpr ID kTable[2][2][2][2] = {
        {{{x86_avx2_maskload_d, x86_avx2_maskload_d_256},
          {x86_avx2_maskload_q, x86_avx2_maskload_q_256}},
         {{x86_avx2_maskstore_d, x86_avx2_maskstore_d_256},
          {x86_avx2_maskstore_q, x86_avx2_maskstore_q_256}}},
        {{{x86_avx_maskload_ps, x86_avx_maskload_ps_256},
          {x86_avx_maskload_pd, x86_avx_maskload_pd_256}},
         {{x86_avx_maskstore_ps, x86_avx_maskstore_ps_256},
          {x86_avx_maskstore_pd, x86_avx_maskstore_pd_256}}}};
    const unsigned bits = type->getPrimitiveSizeInBits().getFixedValue();
    return kTable[IsOfFloats()][!is_load_]
                 [element_->getScalarSizeInBits() == 64][bits == 256];
  }

  template <typename Instruction>
  Instruction* Marked(Instruction* instruction) {
    instruction->copyMetadata(call_);
    return instruction;
  }

  // Joins the vectors of all registers, and returns as many lanes as the
  // original access has.
  Value* Joined(std::vector<Value*> parts) {
    while (parts.size() > 1) {
      std::vector<Value*> pairs;
      for (size_t i = 0; i < parts.size(); i += 2)
        pairs.push_back(Concatenated(parts[i], parts[i + 1]));
      parts = std::move(pairs);
    }
    std::vector<int> first(static_cast<size_t>(lanes_));
    std::iota(first.begin(), first.end(), 0);
    return b_.CreateShuffleVector(parts[0], first);
  }

  Value* Concatenated(Value* a, Value* b) {
    const auto* type = llvm::cast<llvm::FixedVectorType>(a->getType());
    std::vector<int> all(2 * type->getNumElements());
    std::iota(all.begin(), all.end(), 0);
    return b_.CreateShuffleVector(a, b, all);
  }

  llvm::IntrinsicInst& call_;
  bool has_avx2_;
  llvm::IRBuilder<> b_;
  bool is_load_;
  Value* pointer_;
  Value* alignment_;
  Value* mask_;
  // For a store: the value to store. For a load: the result in lanes that the
  // mask disables.
  Value* value_;
  llvm::Type* element_;
  int lanes_;
};

}  // namespace

void LowerMaskedAccesses(llvm::Module& module, bool has_avx2) {
  std::vector<llvm::IntrinsicInst*> accesses;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) {
        if (IsMaskedAccess(instruction))
          accesses.push_back(llvm::cast<llvm::IntrinsicInst>(&instruction));
      }
    }
  }
  for (llvm::IntrinsicInst* access : accesses)
    MaskedAccess(*access, has_avx2).Lower();
}

}  // namespace ember::jit::llvm_ir
