#include "jit/llvm/conversions.h"

#include <cmath>

#include "llvm/ADT/APInt.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"

namespace ember::jit {
namespace {

bool IsHalf(DType type) { return type == DType::kF16 || type == DType::kBF16; }

llvm::Constant* Bits(llvm::Value* like, uint64_t bits) {
  return llvm::ConstantInt::get(like->getType(), bits);
}

}  // namespace

llvm::Value* Conversions::Widen(DType type, llvm::Value* value) {
  if (type == DType::kF16)
    return Opaque(b_.CreateFPExt(value, ShapedAs(b_.getFloatTy(), value)));
  if (type != DType::kBF16) return value;
  llvm::Value* bits = b_.CreateZExt(value, ShapedAs(b_.getInt32Ty(), value));
  bits = b_.CreateShl(bits, 16);
  return b_.CreateBitCast(bits, ShapedAs(b_.getFloatTy(), value));
}

llvm::Value* Conversions::Narrow(DType type, llvm::Value* value) {
  if (type == DType::kBF16) return NarrowToBFloat(value);
  if (type != DType::kF16) return value;
  return b_.CreateFPTrunc(Opaque(value), ShapedAs(b_.getHalfTy(), value));
}

// Where there is no arithmetic of f16, LLVM must not turn that of floats into
// it: minima then are library calls.
llvm::Value* Conversions::Opaque(llvm::Value* value) {
  if (target_.has_half_arithmetic) return value;
  return b_.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence,
                            {value->getType()}, {value});
}

// In integers: the instruction for it (AVX512-BF16) takes subnormals for zero.
llvm::Value* Conversions::NarrowToBFloat(llvm::Value* value) {
  llvm::Value* bits = b_.CreateBitCast(value, ShapedAs(b_.getInt32Ty(), value));
  llvm::Value* high = b_.CreateLShr(bits, 16);
  llvm::Value* odd = b_.CreateAnd(high, 1);
  llvm::Value* half = b_.CreateAdd(b_.CreateAdd(bits, Bits(bits, 0x7fff)), odd);
  llvm::Value* rounded = b_.CreateLShr(half, 16);
  llvm::Value* quiet = b_.CreateOr(high, Bits(high, 0x40));
  llvm::Value* result =
      b_.CreateSelect(b_.CreateFCmpUNO(value, value), quiet, rounded);
  return b_.CreateTrunc(result, ShapedAs(b_.getInt16Ty(), value));
}

llvm::Value* Conversions::Bitcast(DType to, llvm::Value* value) {
  return b_.CreateBitCast(value,
                          ShapedAs(RegisterType(b_.getContext(), to), value));
}

llvm::Value* Conversions::Cast(DType from, DType to, llvm::Value* value) {
  if (from == to) return value;
  llvm::Type* type = ShapedAs(RegisterType(b_.getContext(), to), value);
  if (to == DType::kBool) {
    value = Widen(from, value);
    llvm::Constant* zero = llvm::Constant::getNullValue(value->getType());
    return IsFloat(from) ? b_.CreateFCmpUNE(value, zero)
                         : b_.CreateICmpNE(value, zero);
  }
  if (IsFloat(from))
    return IsFloat(to) ? FloatToFloat(from, to, value)
                       : FloatToInteger(to, Widen(from, value));
  if (IsFloat(to)) return IntegerToFloat(from, to, value);
  return b_.CreateIntCast(value, type, IsSigned(from));
}

// LLVM's saturating conversions of vectors go through their lanes one by one on
// some machines (x86).
llvm::Value* Conversions::FloatToInteger(DType to, llvm::Value* value) {
  llvm::Type* type = ShapedAs(RegisterType(b_.getContext(), to), value);
  const bool is_signed = IsSigned(to);
  const auto convert = [&](llvm::Value* from, llvm::Type* as) {
    return is_signed ? b_.CreateFPToSI(from, as) : b_.CreateFPToUI(from, as);
  };
  const unsigned bits = type->getScalarSizeInBits();
  const double low =
      is_signed ? -std::ldexp(1.0, static_cast<int>(bits) - 1) : 0;
  const double above =
      std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits));
  const auto constant = [&](double number) {
    return llvm::ConstantFP::get(value->getType(), number);
  };
  llvm::Value* is_number = b_.CreateFCmpORD(value, value);
  if (bits < 32) {
    // Floats hold the bounds. NaN is not greater than the lower one.
    llvm::Value* clamped =
        is_signed ? b_.CreateSelect(is_number, value, constant(0)) : value;
    clamped = b_.CreateMinNum(b_.CreateMaxNum(clamped, constant(low)),
                              constant(above - 1));
    // Machines convert to 32 bits, signed.
    llvm::Value* whole =
        b_.CreateFPToSI(clamped, ShapedAs(b_.getInt32Ty(), value));
    return b_.CreateTrunc(whole, type);
  }
  const bool has_conversion = bits < 64 || target_.has_long_integers;
  if (!value->getType()->isVectorTy() && has_conversion) {
    return b_.CreateIntrinsic(
        is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
        {type, value->getType()}, {value});
  }
  const auto bound = [&](const llvm::APInt& number) {
    return llvm::ConstantInt::get(type, number);
  };
  llvm::Value* result = b_.CreateSelect(is_number, convert(value, type),
                                        llvm::Constant::getNullValue(type));
  result =
      b_.CreateSelect(b_.CreateFCmpOLT(value, constant(low)),
                      bound(is_signed ? llvm::APInt::getSignedMinValue(bits)
                                      : llvm::APInt::getMinValue(bits)),
                      result);
  return b_.CreateSelect(b_.CreateFCmpOGE(value, constant(above)),
                         bound(is_signed ? llvm::APInt::getSignedMaxValue(bits)
                                         : llvm::APInt::getMaxValue(bits)),
                         result);
}

llvm::Value* Conversions::FloatToFloat(DType from, DType to,
                                       llvm::Value* value) {
  if (from == DType::kF64)
    return IsHalf(to)
               ? Narrow(to, ToOddFloat(value))
               : b_.CreateFPTrunc(value, ShapedAs(b_.getFloatTy(), value));
  value = Widen(from, value);
  if (to == DType::kF64)
    return b_.CreateFPExt(value, ShapedAs(b_.getDoubleTy(), value));
  return Narrow(to, value);
}

llvm::Value* Conversions::IntegerToFloat(DType from, DType to,
                                         llvm::Value* value) {
  const auto convert = [&](llvm::Type* element) {
    llvm::Type* type = ShapedAs(element, value);
    return IsSigned(from) ? b_.CreateSIToFP(value, type)
                          : b_.CreateUIToFP(value, type);
  };
  if (to == DType::kF64) return convert(b_.getDoubleTy());
  if (to == DType::kF32 || DTypeByteSize(from) < 4)
    return Narrow(to, convert(b_.getFloatTy()));
  return Narrow(to, ToOddFloat(IntegerToOddDouble(from, value)));
}

llvm::Value* Conversions::IntegerToOddDouble(DType from, llvm::Value* value) {
  llvm::Type* type = ShapedAs(b_.getDoubleTy(), value);
  if (DTypeByteSize(from) < 8) {
    return IsSigned(from) ? b_.CreateSIToFP(value, type)
                          : b_.CreateUIToFP(value, type);
  }
  llvm::Value* zero = Bits(value, 0);
  llvm::Value* negative = IsSigned(from) ? b_.CreateICmpSLT(value, zero)
                                         : b_.CreateICmpNE(zero, zero);
  llvm::Value* magnitude =
      b_.CreateSelect(negative, b_.CreateNeg(value), value);
  llvm::Value* result = b_.CreateUIToFP(GatherLostBits(b_, magnitude), type);
  return b_.CreateSelect(negative, b_.CreateFNeg(result), result);
}

// A float with its last bit set whenever anything was lost.
llvm::Value* Conversions::ToOddFloat(llvm::Value* value) {
  llvm::Value* nearest =
      b_.CreateFPTrunc(value, ShapedAs(b_.getFloatTy(), value));
  llvm::Value* back = b_.CreateFPExt(nearest, value->getType());
  llvm::Value* back_size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back);
  llvm::Value* size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  llvm::Value* infinity = llvm::ConstantFP::getInfinity(value->getType());
  llvm::Value* is_inexact = b_.CreateAnd(b_.CreateFCmpONE(back, value),
                                         b_.CreateFCmpOLT(back_size, infinity));
  llvm::Value* is_above = b_.CreateFCmpOGT(back_size, size);
  llvm::Value* bits =
      b_.CreateBitCast(nearest, ShapedAs(b_.getInt32Ty(), value));
  llvm::Value* below =
      b_.CreateSub(bits, b_.CreateZExt(is_above, bits->getType()));
  llvm::Value* odd = b_.CreateOr(below, Bits(bits, 1));
  return b_.CreateBitCast(b_.CreateSelect(is_inexact, odd, bits),
                          nearest->getType());
}

}  // namespace ember::jit
