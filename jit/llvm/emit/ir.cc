#include "jit/llvm/emit/ir.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"

namespace ember::jit::llvm_ir {

llvm::Type* RegisterType(llvm::LLVMContext& context, DType type) {
  switch (type) {
    case DType::kBool:
      return llvm::Type::getInt1Ty(context);
    case DType::kF16:
      return llvm::Type::getHalfTy(context);
    case DType::kF32:
      return llvm::Type::getFloatTy(context);
    case DType::kF64:
      return llvm::Type::getDoubleTy(context);
    default:
      return llvm::Type::getIntNTy(context, 8 * DTypeByteSize(type));
  }
}

llvm::Type* MemoryType(llvm::LLVMContext& context, DType type) {
  if (type == DType::kBool || type == DType::kF16)
    return llvm::Type::getIntNTy(context, 8 * DTypeByteSize(type));
  return RegisterType(context, type);
}

llvm::Value* ToRegister(Builder& builder, DType type, llvm::Value* memory) {
  if (type == DType::kBool)
    return builder.CreateICmpNE(
        memory, llvm::Constant::getNullValue(memory->getType()));
  if (type == DType::kF16)
    return builder.CreateBitCast(memory, ShapedAs(builder.getHalfTy(), memory));
  return memory;
}

llvm::Value* ToMemory(Builder& builder, DType type, llvm::Value* value) {
  if (type == DType::kBool)
    return builder.CreateZExt(value, ShapedAs(builder.getInt8Ty(), value));
  if (type == DType::kF16)
    return builder.CreateBitCast(value, ShapedAs(builder.getInt16Ty(), value));
  return value;
}

llvm::Type* ShapedAs(llvm::Type* element, const llvm::Value* like) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector == nullptr
             ? element
             : llvm::FixedVectorType::get(element, vector->getNumElements());
}

llvm::Value* Splat(Builder& builder, llvm::Value* value, int lanes) {
  if (IsVector(value)) return value;
  return builder.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

llvm::Value* LaneRange(Builder& builder, llvm::Value* low, llvm::Value* high,
                       int lanes) {
  // Lane numbers get an integer type so narrow that a vector of them fits one
  // register, so that one instruction compares them.
  llvm::Type* type = lanes <= 16 ? builder.getInt32Ty() : builder.getInt8Ty();
  llvm::Constant* ramp = Ramp(type, lanes);
  const auto splat = [&](llvm::Value* bound) {
    return Splat(builder, builder.CreateTrunc(bound, type), lanes);
  };
  llvm::Value* below = builder.CreateICmpULT(ramp, splat(high));
  const auto* start = llvm::dyn_cast<llvm::ConstantInt>(low);
  if (start != nullptr && start->isZero()) return below;
  return builder.CreateAnd(below, builder.CreateICmpUGE(ramp, splat(low)));
}

llvm::Value* GatherLostBits(Builder& builder, llvm::Value* value) {
  const auto bits = [&](uint64_t number) {
    return llvm::ConstantInt::get(value->getType(), number);
  };
  llvm::Value* lost =
      builder.CreateICmpNE(builder.CreateAnd(value, bits(0x7ff)), bits(0));
  llvm::Value* gathered =
      builder.CreateOr(builder.CreateAnd(value, bits(~uint64_t{0x7ff})),
                       builder.CreateSelect(lost, bits(0x800), bits(0)));
  llvm::Value* is_large =
      builder.CreateICmpNE(builder.CreateLShr(value, 53), bits(0));
  return builder.CreateSelect(is_large, gathered, value);
}

llvm::Constant* Ramp(llvm::Type* element, int lanes, int64_t step) {
  llvm::SmallVector<llvm::Constant*, 64> values;
  for (int lane = 0; lane < lanes; ++lane) {
    values.push_back(llvm::ConstantInt::getSigned(element, step * lane));
  }
  return llvm::ConstantVector::get(values);
}

}  // namespace ember::jit::llvm_ir
