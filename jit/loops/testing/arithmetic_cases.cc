#include "jit/loops/testing/arithmetic_cases.h"

#include <cmath>
#include <limits>
#include <random>

#include "jit/math/expand.h"
#include "tensor/scalar.h"

namespace ember::loops {

using tensor::InfoOf;
using tensor::InstructionGroup;
using tensor::Opcode;

namespace {

constexpr DType kTypes[] = {
#define EMBER_ROW(name, ...) DType::k##name,
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
};

std::string Name(DType type) { return std::string(DTypeName(type)); }

std::string CallOf(Opcode opcode) {
  const tensor::InstructionInfo& info = InfoOf(opcode);
  const std::string text(info.text);
  const bool is_unary = tensor::RegisterOperandCount(opcode) == 1;
  if (is_unary) return text + "(%a[$])";
  if (info.notation == tensor::Notation::Infix)
    return "%a[$] " + text + " %b[$]";
  return text + "(%a[$], %b[$])";
}

std::vector<uint64_t> MakeBitPatterns(DType type) {
  std::vector<uint64_t> patterns;
  if (type == DType::kBool) return {0, 1};
  std::mt19937_64 random(7);
  const int bits = 8 * DTypeByteSize(type);
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  for (int i = 0; i < 12; ++i) patterns.push_back(random() & mask);
  if (!IsFloat(type)) {
    for (int64_t value : {0, 1, 2, 3, 7, 8, 100, -1, -2, -3, -7, -8, bits - 1,
                          bits, bits + 1, 65535, 65536, 16777217}) {
      patterns.push_back(tensor::IntegerToBits(value, type));
    }
    const uint64_t sign = uint64_t{1} << (bits - 1);
    for (uint64_t value : {sign, sign + 1, sign - 1, sign - 2, mask, mask - 1})
      patterns.push_back(value & mask);
    return patterns;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (double value : {0.0,
                       0.5,
                       1.0,
                       1.5,
                       2.5,
                       3.0,
                       0.49999997,
                       127.5,
                       128.0,
                       255.5,
                       256.0,
                       32767.5,
                       448.0,
                       464.0,
                       465.0,
                       61439.0,
                       61440.0,
                       0x1p-10,
                       0x1.8p-10,
                       0x1p-17,
                       65504.0,
                       65519.99,
                       65520.0,
                       8388609.0,
                       2147483648.0,
                       4294967296.0,
                       9223372036854775808.0,
                       18446744073709551616.0,
                       1e-8,
                       3.4e38,
                       1e300,
                       1e-300,
                       1e-40,
                       infinity}) {
    patterns.push_back(tensor::DoubleToBits(value, type));
    patterns.push_back(tensor::DoubleToBits(-value, type));
  }
  patterns.push_back(tensor::DoubleToBits(std::nan(""), type));
  const uint64_t one = 1;
  patterns.push_back(one);  // the smallest positive subnormal number
  patterns.push_back(one | one << (bits - 1));
  return patterns;
}

}  // namespace

bool IsSubnormal(DType type, uint64_t bits) {
  if (type != DType::kF32 && type != DType::kF64 && type != DType::kBF16)
    return false;
  return std::fpclassify(tensor::BitsToDouble(bits, type)) == FP_SUBNORMAL ||
         (type != DType::kF64 &&
          std::fpclassify(static_cast<float>(
              tensor::BitsToDouble(bits, type))) == FP_SUBNORMAL);
}

const std::vector<uint64_t>& BitPatterns(DType type) {
  // The patterns are made once and kept, because tests call this function for
  // each element that they compare.
  static const auto* const patterns = [] {
    auto* const all = new std::vector<std::vector<uint64_t>>(kDTypeCount);
    for (const DType each : kTypes)
      (*all)[static_cast<size_t>(each)] = MakeBitPatterns(each);
    return all;
  }();
  return (*patterns)[static_cast<size_t>(type)];
}

std::string ArithmeticCase::ExpressionAt(const std::string& index) const {
  std::string text = expression;
  for (size_t at; (at = text.find('$')) != std::string::npos;)
    text.replace(at, 1, index);
  return text;
}

bool IsForOthers(Opcode opcode, DType type) {
  const bool is_remainder =
      opcode == Opcode::kModulo || opcode == Opcode::kRemainder;
  return jit::IsExpanded(opcode, type) || (is_remainder && IsFloat(type));
}

std::vector<ArithmeticCase> RowCases(InstructionGroup group) {
  std::vector<ArithmeticCase> cases;
  const bool is_bool = group == InstructionGroup::kClassify ||
                       group == InstructionGroup::kCompare;
  for (int i = 0; i < tensor::kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    if (InfoOf(opcode).group != group) continue;
    for (DType type : kTypes) {
      if (!AcceptsType(InfoOf(opcode).kinds, type)) continue;
      if (IsForOthers(opcode, type)) continue;
      const DType result = is_bool ? DType::kBool : type;
      cases.push_back({type, type, DType::kBool, result, CallOf(opcode),
                       [=](uint64_t a, uint64_t b, uint64_t) {
                         return tensor::EvaluateScalar(opcode, type, result,
                                                       {a, b});
                       }});
    }
  }
  return cases;
}

std::vector<ArithmeticCase> CastCases() {
  std::vector<ArithmeticCase> cases;
  for (DType from : kTypes) {
    for (DType to : kTypes) {
      cases.push_back(
          {from, DType::kBool, DType::kBool, to, Name(to) + "(%a[$])",
           [=](uint64_t a, uint64_t, uint64_t) {
             return tensor::EvaluateScalar(Opcode::kCast, from, to, {a});
           }});
    }
  }
  return cases;
}

std::vector<ArithmeticCase> BitcastCases() {
  std::vector<ArithmeticCase> cases;
  for (DType from : kTypes) {
    for (DType to : kTypes) {
      if (from == DType::kBool || to == DType::kBool) continue;
      if (DTypeByteSize(from) != DTypeByteSize(to)) continue;
      cases.push_back({from, DType::kBool, DType::kBool, to,
                       "bitcast_" + Name(to) + "(%a[$])",
                       [](uint64_t a, uint64_t, uint64_t) { return a; }});
    }
  }
  return cases;
}

std::vector<ArithmeticCase> SelectCases() {
  std::vector<ArithmeticCase> cases;
  for (DType type : kTypes) {
    cases.push_back(
        {type, type, DType::kBool, type, "select(%c[$], %a[$], %b[$])",
         [](uint64_t a, uint64_t b, uint64_t c) { return c ? a : b; }});
  }
  return cases;
}

std::vector<ArithmeticCase> ConstantDivisionCases() {
  std::vector<ArithmeticCase> cases;
  for (const char* operation : {"floordiv", "mod", "rem"}) {
    for (const char* constant :
         {"0", "1", "-1", "2", "-2", "7", "-7", "64", "-9223372036854775808"}) {
      const Opcode opcode = operation[0] == 'f'   ? Opcode::kFloorDivide
                            : operation[0] == 'm' ? Opcode::kModulo
                                                  : Opcode::kRemainder;
      const uint64_t b = std::stoull(constant);
      cases.push_back({DType::kI64, DType::kBool, DType::kBool, DType::kI64,
                       std::string(operation) + "(%a[$], " + constant + ")",
                       [=](uint64_t a, uint64_t, uint64_t) {
                         return tensor::EvaluateScalar(opcode, DType::kI64,
                                                       DType::kI64, {a, b});
                       }});
    }
  }
  return cases;
}

std::vector<ArithmeticCase> ConstantExtremeCases() {
  std::vector<ArithmeticCase> cases;
  for (const char* operation : {"min", "max"}) {
    const Opcode opcode =
        operation[1] == 'i' ? Opcode::kMinimum : Opcode::kMaximum;
    for (DType type : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64,
                       DType::kF8E4M3FN, DType::kF8E5M2}) {
      for (double constant : {0.0, -0.0, 6.0}) {
        const uint64_t bits = tensor::DoubleToBits(constant, type);
        const std::string literal =
            std::signbit(constant) ? "-0.0" : std::to_string(constant);
        for (bool is_first : {false, true}) {
          const std::string operands =
              is_first ? literal + ", %a[$]" : "%a[$], " + literal;
          cases.push_back({type, DType::kBool, DType::kBool, type,
                           operation + ("(" + operands + ")"),
                           [=](uint64_t a, uint64_t, uint64_t) {
                             return tensor::EvaluateScalar(
                                 opcode, type, type,
                                 {is_first ? bits : a, is_first ? a : bits});
                           }});
        }
      }
    }
  }
  return cases;
}

}  // namespace ember::loops
