// Stores the elements of a tile at computed positions, one after the other,
// because two elements may have the same position. This file is compiled only
// once, because its loops gain nothing from wide vectors.
#include "vm/interpreter/arithmetic.h"
#include "vm/interpreter/kernel_selection.h"
#include "vm/interpreter/move_kernels.h"
#include "vm/interpreter/strip_program.h"

namespace ember::vm {
namespace {

using tensor::Update;

template <typename T>
T Apply(Update update, T old, T value) {
  switch (update) {
    case Update::kAssign:
      return value;
    case Update::kAdd:
      return AddOp::Do<T>(old, value);
    case Update::kMultiply:
      return MultiplyOp::Do<T>(old, value);
    case Update::kMinimum:
      return MinimumOp::Do<T>(old, value);
    case Update::kMaximum:
      return MaximumOp::Do<T>(old, value);
  }
  return value;
}

template <typename Format>
void Scatter(const TileArguments& t, Update update) {
  using Storage = typename Format::StorageType;
  using Tile = typename Format::TileType;
  Storage* memory = reinterpret_cast<Storage*>(t.destination.data);
  for (int64_t r = 0; r < t.rows; ++r) {
    const int64_t* offsets = Row<int64_t>(t.a, r);
    const Tile* values = Row<Tile>(t.b, r);
    for (int64_t i = 0; i < t.columns; ++i) {
      const int64_t offset = offsets[i * t.a.column_stride];
      if (offset == kOutside) continue;
      const Tile old = Format::Load(memory[offset]);
      const Tile next = Apply<Tile>(update, old, values[i * t.b.column_stride]);
      memory[offset] = Format::Store(next);
    }
  }
}

// Adds a value to an element of a narrow float type: the sum is rounded to the
// type before it is stored.
template <typename Format>
struct RoundedFormat : Format {
  static typename Format::StorageType Store(float value) {
    return Format::Store(Format::Round(value));
  }
};

}  // namespace

void ScatterTile(const TileArguments& t, DType type, Update update) {
  switch (type) {
    case DType::kBool:
      return Scatter<BoolFormat>(t, update);
    case DType::kI8:
      return Scatter<PlainFormat<int8_t, int32_t>>(t, update);
    case DType::kI16:
      return Scatter<PlainFormat<int16_t, int32_t>>(t, update);
    case DType::kI32:
      return Scatter<PlainFormat<int32_t, int32_t>>(t, update);
    case DType::kI64:
      return Scatter<PlainFormat<int64_t, int64_t>>(t, update);
    case DType::kU8:
      return Scatter<PlainFormat<uint8_t, int32_t>>(t, update);
    case DType::kU16:
      return Scatter<PlainFormat<uint16_t, int32_t>>(t, update);
    case DType::kU32:
      return Scatter<PlainFormat<uint32_t, uint32_t>>(t, update);
    case DType::kU64:
      return Scatter<PlainFormat<uint64_t, uint64_t>>(t, update);
    case DType::kF16:
      return Scatter<RoundedFormat<SmallFloatFormat<DType::kF16>>>(t, update);
    case DType::kBF16:
      return Scatter<RoundedFormat<BF16Format>>(t, update);
    case DType::kF8E4M3FN:
      return Scatter<RoundedFormat<SmallFloatFormat<DType::kF8E4M3FN>>>(t,
                                                                        update);
    case DType::kF8E5M2:
      return Scatter<RoundedFormat<SmallFloatFormat<DType::kF8E5M2>>>(t,
                                                                      update);
    case DType::kF32:
      return Scatter<PlainFormat<float, float>>(t, update);
    case DType::kF64:
      return Scatter<PlainFormat<double, double>>(t, update);
  }
}

}  // namespace ember::vm
