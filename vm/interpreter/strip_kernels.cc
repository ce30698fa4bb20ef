// The strip kernels of one instruction set. This file is compiled several
// times. EMBER_SET_KERNELS is the name of the function that it defines. For
// instruction sets above the baseline EMBER_FAST_TYPES_ONLY is defined, too:
// types and functions that gain nothing from wide vectors then use the kernels
// of the baseline.
#include "tensor/instructions.h"
#include "vm/interpreter/arithmetic.h"
#include "vm/interpreter/kernel_types.h"
#include "vm/interpreter/loops.h"
#include "vm/interpreter/move_kernels.h"
#include "vm/interpreter/reduce_kernels.h"

namespace ember::vm {

// Sets the kernels for sums of products. micro_kernels.cc defines the function
// and is compiled separately, because a * b + c may be fused there, but not in
// strips.
void EMBER_SET_PRODUCTS(ProductKernels& products);

namespace {

using tensor::OperandKinds;

#ifdef EMBER_FAST_TYPES_ONLY
inline constexpr bool kFastTypesOnly = true;
#else
inline constexpr bool kFastTypesOnly = false;
#endif

template <typename T>
inline constexpr bool kIncluded =
    !kFastTypesOnly ||
    !(std::is_same_v<T, uint32_t> || std::is_same_v<T, uint64_t>);

template <typename T>
constexpr bool Accepts(OperandKinds kinds) {
  switch (kinds) {
    case OperandKinds::kAny:
      return true;
    case OperandKinds::kNumeric:
      return !kIsBool<T>;
    case OperandKinds::kFloatOnly:
      return kIsFloat<T>;
    case OperandKinds::kIntegerOnly:
      return !kIsFloat<T> && !kIsBool<T>;
    case OperandKinds::kBoolOrInteger:
      return !kIsFloat<T>;
  }
  return false;
}

template <typename Op, typename T>
void UnaryKernel(const TileArguments& t) {
  MapUnary<decltype(Op::template Do<T>(T())), T>(
      t, [](T a) { return Op::template Do<T>(a); });
}

// Computes sine or cosine. If all elements are within the polynomial's range,
// they are computed by a loop without calls of libm, which is vectorised.
template <int kQuadrant>
void TrigonometricKernel(const TileArguments& t) {
#ifndef __OPTIMIZE_SIZE__
  bool outside = false;
  for (int64_t r = 0; r < t.rows; ++r) {
    const float* a = Row<float>(t.a, r);
    const int64_t columns = t.a.column_stride == 0 ? 1 : t.columns;
    for (int64_t i = 0; i < columns; ++i)
      outside |= OutsideTrigonometricRange(a[i]);
  }
  if (!outside) {
    MapUnary<float, float>(t, [](float a) { return SinShifted(a, kQuadrant); });
    return;
  }
#endif
  MapUnary<float, float>(t, [](float a) {
    return OutsideTrigonometricRange(a)
               ? (kQuadrant == 0 ? __builtin_sinf(a) : __builtin_cosf(a))
               : SinShifted(a, kQuadrant);
  });
}

template <typename Op, typename T>
struct ShiftFunction {
  explicit ShiftFunction(const TileArguments& t) : bits(t.immediate[0]) {}
  T operator()(T a, T b) const { return Op::template Do<T>(a, b, bits); }
  int64_t bits;
};

template <typename Op, typename T>
void BinaryKernel(const TileArguments& t) {
  if constexpr (std::is_same_v<Op, ShiftLeftOp> ||
                std::is_same_v<Op, ShiftRightOp>) {
    MapBinary<T, T>(t, ShiftFunction<Op, T>(t));
  } else {
    MapBinary<decltype(Op::template Do<T>(T(), T())), T>(
        t, [](T a, T b) { return Op::template Do<T>(a, b); });
  }
}

// Kernels that call libm for each element are only compiled for the baseline,
// because they gain nothing from other instruction sets.
template <typename Op>
inline constexpr bool kCallsLibrary =
    std::is_same_v<Op, TanOp> || std::is_same_v<Op, AsinOp> ||
    std::is_same_v<Op, AcosOp> || std::is_same_v<Op, AtanOp> ||
    std::is_same_v<Op, SinhOp> || std::is_same_v<Op, CoshOp> ||
    std::is_same_v<Op, AsinhOp> || std::is_same_v<Op, AcoshOp> ||
    std::is_same_v<Op, AtanhOp>;

template <typename Op, OperandKinds kKinds, typename T>
constexpr TileKernel UnaryEntry() {
  if constexpr (!Accepts<T>(kKinds) || !kIncluded<T> ||
                (kFastTypesOnly && kCallsLibrary<Op>)) {
    return nullptr;
  } else if constexpr (std::is_same_v<T, float> && std::is_same_v<Op, SinOp>) {
    return &TrigonometricKernel<0>;
  } else if constexpr (std::is_same_v<T, float> && std::is_same_v<Op, CosOp>) {
    return &TrigonometricKernel<1>;
  } else {
    return &UnaryKernel<Op, T>;
  }
}

template <typename Op, OperandKinds kKinds, typename T>
constexpr TileKernel BinaryEntry() {
  constexpr bool kScalar =
      std::is_same_v<Op, DivideOp> || std::is_same_v<Op, FloorDivideOp> ||
      std::is_same_v<Op, RemainderOp> || std::is_same_v<Op, ModuloOp> ||
      std::is_same_v<Op, PowerOp> || std::is_same_v<Op, Atan2Op>;
  constexpr bool kVector = std::is_same_v<Op, DivideOp> && kIsFloat<T>;
  if constexpr (!Accepts<T>(kKinds) || !kIncluded<T> ||
                (kFastTypesOnly && kScalar && !kVector)) {
    return nullptr;
  } else {
    return &BinaryKernel<Op, T>;
  }
}

// Sets an entry of the table, unless the kernel is null: then this instruction
// set has no kernel of its own, and the entry of a lower one stays.
void SetEntry(TileKernel& entry, TileKernel kernel) {
  if (kernel != nullptr) entry = kernel;
}

void SetArithmeticKernels(TileKernelTable& table) {
#define EMBER_SET(name, entry, kinds)                                          \
  {                                                                            \
    TileKernel* row =                                                          \
        table.arithmetic[static_cast<int>(tensor::Opcode::k##name)];           \
    SetEntry(row[kTileBool], entry<name##Op, OperandKinds::kinds, uint8_t>()); \
    SetEntry(row[kTileI32], entry<name##Op, OperandKinds::kinds, int32_t>());  \
    SetEntry(row[kTileU32], entry<name##Op, OperandKinds::kinds, uint32_t>()); \
    SetEntry(row[kTileI64], entry<name##Op, OperandKinds::kinds, int64_t>());  \
    SetEntry(row[kTileU64], entry<name##Op, OperandKinds::kinds, uint64_t>()); \
    SetEntry(row[kTileF32], entry<name##Op, OperandKinds::kinds, float>());    \
    SetEntry(row[kTileF64], entry<name##Op, OperandKinds::kinds, double>());   \
  }
#define EMBER_ROW(name, text, kinds, doc) EMBER_SET(name, UnaryEntry, kinds)
  EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
#define EMBER_ROW(name, text, notation, kinds, doc) \
  EMBER_SET(name, BinaryEntry, kinds)
  EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
  EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
#undef EMBER_SET
}

static_assert(tensor::kOpcodeCount <= kOpcodeCapacity &&
              kDTypeCount <= kDTypeCapacity);

}  // namespace

void EMBER_SET_KERNELS(TileKernelTable& table);
void EMBER_SET_KERNELS(TileKernelTable& table) {
  table.name = EMBER_KERNEL_NAME;
  SetArithmeticKernels(table);
  SetMoveKernels(table);
  SetReduceKernels(table);
  EMBER_SET_PRODUCTS(table.products);
}

}  // namespace ember::vm
