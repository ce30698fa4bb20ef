#include "jit/ptx/exponential.h"

#include <vector>

#include "jit/llvm/emit/ir.h"
#include "jit/ptx/device_functions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace ember::jit::ptx {

using llvm_ir::Builder;
namespace {

using llvm::Value;

// 1 / ln 2 rounded to f32, and the rounding error, so that their sum is 1 / ln
// 2 with more bits.
constexpr double kLog2E = 0x1.715476p+0;
constexpr double kRestOfLog2E = 0x1.4ae0bfp-26;

// Adding this number to a float rounds the float to a whole number n, and the
// low bits of the sum are n + 127: the biased exponent of 2^n.
constexpr double kMagic = 0x1.8p+23 + 127;

// Emits e^x as 2^n * 2^(x / ln 2 - n). n is x / ln 2 rounded to an integer and
// clamped to -126..127. Without clamping, the second exponent is at most one
// half in magnitude; with clamping, the second power makes the product
// subnormal, 0 or infinite. If x is a NaN, so is the second power.
Value* Exponential(Builder& b, Value* x) {
  llvm::Type* const type = x->getType();
  const auto constant = [&](double value) {
    return llvm::ConstantFP::get(type, value);
  };
  const auto fused = [&](Value* factor, double by, Value* sum) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {type},
                             {factor, constant(by), sum});
  };
  Value* sum = fused(x, kLog2E, constant(kMagic));
  // If x is a NaN, CreateMaxNum and CreateMinNum return the limit, so n is
  // valid; the NaN comes back through `rest`.
  sum = b.CreateMaxNum(sum, constant(kMagic - 126));
  sum = b.CreateMinNum(sum, constant(kMagic + 127));
  Value* const minus_n = b.CreateFSub(constant(kMagic), sum);
  Value* rest = fused(x, kLog2E, minus_n);
  rest = fused(x, kRestOfLog2E, rest);
  Value* power = nullptr;
  if (auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    power = llvm::PoisonValue::get(type);
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      power = b.CreateInsertElement(
          power, EmitPowerOfTwo(b, b.CreateExtractElement(rest, i)), i);
    }
  } else {
    power = EmitPowerOfTwo(b, rest);
  }
  llvm::Type* const integer = type->getWithNewType(b.getInt32Ty());
  Value* const exponent = b.CreateShl(b.CreateBitCast(sum, integer),
                                      llvm::ConstantInt::get(integer, 23));
  return b.CreateFMul(power, b.CreateBitCast(exponent, type));
}

}  // namespace

void ExpandExponentials(llvm::Module& module) {
  std::vector<llvm::IntrinsicInst*> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::exp &&
          call->getType()->getScalarType()->isFloatTy())
        calls.push_back(call);
    }
  }
  for (llvm::IntrinsicInst* call : calls) {
    Builder builder(call->getContext(),
                    llvm::InstSimplifyFolder(module.getDataLayout()));
    builder.SetInsertPoint(call);
    call->replaceAllUsesWith(Exponential(builder, call->getArgOperand(0)));
    call->eraseFromParent();
  }
}

}  // namespace ember::jit::ptx
