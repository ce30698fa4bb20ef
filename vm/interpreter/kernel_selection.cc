#include "vm/interpreter/kernel_selection.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "base/float_format.h"

namespace ember::vm {

using tensor::Combiner;
using tensor::Instruction;
using tensor::InstructionGroup;
using tensor::Opcode;

void SetBaselineKernels(TileKernelTable& table);
#ifdef EMBER_HAVE_X86_KERNELS
void SetAvx2Kernels(TileKernelTable& table);
void SetAvx512Kernels(TileKernelTable& table);
#endif

namespace {

TileKernelTable MakeHostKernels() {
  TileKernelTable table = {};
  SetBaselineKernels(table);
#ifdef EMBER_HAVE_X86_KERNELS
  const char* wanted = std::getenv("EMBER_ISA");
  const std::string_view limit = wanted == nullptr ? "avx512" : wanted;
  __builtin_cpu_init();
  const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (avx512 && limit == "avx512") {
    SetAvx512Kernels(table);
  } else if (avx2 && limit != "baseline") {
    SetAvx2Kernels(table);
  }
#endif
  return table;
}

struct TypeRow {
  ComputeType compute;
  int8_t narrow;  // narrow type (NarrowType) to which results are wrapped or
                  // rounded; -1: none
};

constexpr TypeRow kTypes[] = {
    {kTileBool, -1},          // DType bool
    {kTileI32, kNarrowI8},    // DType i8
    {kTileI32, kNarrowI16},   // DType i16
    {kTileI32, -1},           // DType i32
    {kTileI64, -1},           // DType i64
    {kTileI32, kNarrowU8},    // DType u8
    {kTileI32, kNarrowU16},   // DType u16
    {kTileU32, -1},           // DType u32
    {kTileU64, -1},           // DType u64
    {kTileF32, kNarrowF16},   // DType f16
    {kTileF32, kNarrowBF16},  // DType bf16
    {kTileF32, -1},           // DType f32
    {kTileF64, -1},           // DType f64
    {kTileF32, kNarrowF8E4M3FN},
    {kTileF32, kNarrowF8E5M2},
};
static_assert(sizeof(kTypes) / sizeof(kTypes[0]) == kDTypeCount);

constexpr const TypeRow& TypeRowOf(DType type) {
  return kTypes[static_cast<int>(type)];
}

KernelSteps SelectCast(DType from, DType to) {
  const TileKernelTable& table = HostKernels();
  KernelSteps steps;
  const TypeRow source = TypeRowOf(from), target = TypeRowOf(to);
  if (IsNarrowFloat(to)) {
    if (source.compute != kTileF32) steps.Add(table.cast_odd[source.compute]);
    steps.Add(table.narrow[target.narrow]);
    return steps;
  }
  steps.Add(table.cast[source.compute][target.compute]);
  if (target.narrow >= 0) {
    // The cast from float to i32 saturates at the limits of i32. The result
    // must saturate at those of the narrow type, so it is clamped.
    if (IsFloat(from)) {
      const int bits = DTypeByteSize(to) * 8;
      if (IsSigned(to)) {
        steps.Add(table.clamp, -(int64_t{1} << (bits - 1)),
                  (int64_t{1} << (bits - 1)) - 1);
      } else {
        steps.Add(table.clamp, 0, (int64_t{1} << bits) - 1);
      }
    } else {
      steps.Add(table.narrow[target.narrow]);
    }
  }
  return steps;
}

KernelSteps SelectBitcast(DType from, DType to) {
  const TileKernelTable& table = HostKernels();
  KernelSteps steps;
  if (from == DType::kBool || to == DType::kBool) {
    steps.Add(table.cast[TypeRowOf(from).compute][TypeRowOf(to).compute]);
  } else if (IsNarrowFloat(from)) {
    steps.Add(table.float_bits[TypeRowOf(from).narrow]);
  } else {
    steps.Add(table.load[static_cast<int>(
        DTypeByteSize(from) == 8 ? DType::kI64 : DType::kI32)]);
  }
  if (IsNarrowFloat(to)) {
    steps.Add(table.float_from_bits[TypeRowOf(to).narrow]);
  } else if (TypeRowOf(to).narrow >= 0) {
    steps.Add(table.narrow[TypeRowOf(to).narrow]);
  }
  return steps;
}

}  // namespace

const TileKernelTable& HostKernels() {
  static const TileKernelTable table = MakeHostKernels();
  return table;
}

ComputeType ComputeTypeOf(DType type) { return TypeRowOf(type).compute; }

int TileElementSize(ComputeType type) {
  switch (type) {
    case kTileBool:
      return 1;
    case kTileI64:
    case kTileU64:
    case kTileF64:
      return 8;
    default:
      return 4;
  }
}

bool IsUsableInPlace(DType type) {
  return TypeRowOf(type).narrow < 0 && type != DType::kBool;
}

KernelSteps SelectKernels(const Instruction& instruction, DType operand) {
  const TileKernelTable& table = HostKernels();
  const Opcode opcode = instruction.opcode;
  if (opcode == Opcode::kCast) return SelectCast(operand, instruction.type);
  if (opcode == Opcode::kBitcast)
    return SelectBitcast(operand, instruction.type);
  KernelSteps steps;
  const ComputeType compute = ComputeTypeOf(operand);
  if (opcode == Opcode::kSelect) {
    steps.Add(table.select[compute]);
    return steps;
  }
  steps.Add(table.arithmetic[static_cast<int>(opcode)][compute],
            DTypeByteSize(operand) * 8);
  EMBER_CHECK(steps.steps[0].kernel != nullptr)
      << "no kernel for " << tensor::InfoOf(opcode).text << " on "
      << DTypeName(operand);
  const InstructionGroup group = tensor::InfoOf(opcode).group;
  const int8_t narrow = TypeRowOf(instruction.type).narrow;
  const bool keeps_type =
      group == InstructionGroup::kUnary || group == InstructionGroup::kBinary;
  const bool stays_inside =
      opcode == Opcode::kMinimum || opcode == Opcode::kMaximum;
  if (keeps_type && narrow >= 0 && !stays_inside)
    steps.Add(table.narrow[narrow]);
  return steps;
}

TileKernel NarrowingKernel(DType type) {
  const int8_t narrow = TypeRowOf(type).narrow;
  return narrow >= 0 ? HostKernels().narrow[narrow] : nullptr;
}

TileKernel CombineKernel(Combiner combiner, DType type) {
  Opcode opcode = Opcode::kAdd;
  if (combiner == Combiner::kProduct) opcode = Opcode::kMultiply;
  if (combiner == Combiner::kMinimum) opcode = Opcode::kMinimum;
  if (combiner == Combiner::kMaximum) opcode = Opcode::kMaximum;
  return HostKernels()
      .arithmetic[static_cast<int>(opcode)][ComputeTypeOf(type)];
}

uint64_t ReductionIdentity(Combiner combiner, DType type) {
  const int bits = DTypeByteSize(type) * 8;
  uint64_t value = combiner == Combiner::kProduct ? 1 : 0;
  if (IsFloat(type)) {
    if (combiner == Combiner::kMinimum || combiner == Combiner::kMaximum) {
      const FloatFormat format = FloatFormatOf(type);
      const uint64_t largest = format.past_finite - !format.has_infinity();
      const bool is_negative = combiner == Combiner::kMaximum;
      return ConstantTile(largest | (is_negative ? format.sign_bit() : 0),
                          type);
    }
    const double number = static_cast<double>(value);
    uint64_t result = 0;
    if (type == DType::kF64) {
      std::memcpy(&result, &number, sizeof(number));
    } else {
      const float single = static_cast<float>(number);
      std::memcpy(&result, &single, sizeof(single));
    }
    return result;
  }
  if (type == DType::kBool) return combiner == Combiner::kMinimum ? 1 : value;
  const uint64_t ones = ~uint64_t{0} >> (64 - bits);
  const uint64_t sign = uint64_t{1} << (bits - 1);
  if (combiner == Combiner::kMinimum)
    value = IsSigned(type) ? ones ^ sign : ones;
  if (combiner == Combiner::kMaximum) value = IsSigned(type) ? sign : 0;
  return ConstantTile(value, type);
}

uint64_t ConstantTile(uint64_t bits, DType type) {
  uint64_t tile = 0;
  TileArguments arguments = {};
  arguments.rows = arguments.columns = 1;
  arguments.destination = {reinterpret_cast<char*>(&tile), 0, 1};
  arguments.a = {reinterpret_cast<char*>(&bits), 0, 1};
  HostKernels().load[static_cast<int>(type)](arguments);
  return tile;
}

}  // namespace ember::vm
