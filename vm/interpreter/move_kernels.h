// Kernels that move and convert: loads, stores, casts, selects, gathers, index
// strips. Only the kernel files include this header (see loops.h).
#ifndef EMBER_VM_INTERPRETER_MOVE_KERNELS_H_
#define EMBER_VM_INTERPRETER_MOVE_KERNELS_H_

#include "base/float_format.h"
#include "vm/interpreter/arithmetic.h"
#include "vm/interpreter/loops.h"

namespace ember::vm {
// The namespace is anonymous: each build of a kernel file has functions of its
// own, compiled with its own flags.
namespace {  // NOLINT(google-build-namespaces)

// --- narrow floats: conversion between memory and tiles, which hold them as
// f32. The conversion works on bits, so that the loops vectorise without
// hardware conversions ---

// Converts between a float type that has fewer bits of exponent than f32, in
// memory, and f32, in tiles.
template <DType type>
struct SmallFloatFormat {
  static constexpr FloatFormat kFormat = FloatFormatOf(type);
  using StorageType = std::conditional_t<kFormat.bits == 8, uint8_t, uint16_t>;
  using TileType = float;

  static constexpr int kShift = 23 - kFormat.mantissa_bits;
  static constexpr uint32_t kSign = static_cast<uint32_t>(kFormat.sign_bit());
  static constexpr uint32_t kPastFinite =
      static_cast<uint32_t>(kFormat.past_finite);
  // Masks of the bits of an f32. kMantissa has the mantissa bits that a
  // conversion to the narrow type loses.
  static constexpr uint32_t kMantissa = (1u << kShift) - 1;
  static constexpr uint32_t kExponent = 0x7f800000u;
  static constexpr uint32_t kQuietNan =
      (static_cast<uint32_t>(kFormat.quiet_nan) << kShift) | kExponent;
  static constexpr uint32_t kRebias = static_cast<uint32_t>(127 - kFormat.bias)
                                      << 23;
  static constexpr uint32_t kLeastNormal = kRebias + (1u << 23);

  static float Load(StorageType code) {
    const uint32_t magnitude = (code & (kSign - 1u)) << kShift;
    const uint32_t sign = (code & kSign) << (32 - kFormat.bits);
    // After the bits are shifted, the exponent is wrong by the difference of
    // the biases. One multiplication corrects it, also for subnormals.
    // Infinities and NaNs are recognised by their exponent bits, which are all
    // set.
    constexpr float kUp = __builtin_bit_cast(float, (127u << 23) + kRebias);
    const float scaled = FloatOf(magnitude) * kUp;
    const bool is_special = magnitude >= kPastFinite << kShift;
    return FloatOf((is_special ? magnitude | kExponent : BitsOf(scaled)) |
                   sign);
  }

  // Converts an f32 that the narrow type can represent exactly to the bits of
  // that type.
  static StorageType Store(float value) {
    const uint32_t bits = BitsOf(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    constexpr float kDown = __builtin_bit_cast(float, (127u << 23) - kRebias);
    const uint32_t finite = BitsOf(FloatOf(magnitude) * kDown) >> kShift;
    const uint32_t special = ((magnitude & ~kExponent) >> kShift) | kPastFinite;
    return static_cast<StorageType>(
        (magnitude >= kExponent ? special : finite) |
        ((bits >> (32 - kFormat.bits)) & kSign));
  }

  // Rounds an f32 to the nearest value of the narrow type, ties to even. The
  // result is an f32.
  static float Round(float value) {
    const uint32_t bits = BitsOf(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t sign = bits & 0x80000000u;
    const uint32_t rounded =
        (magnitude + kMantissa / 2 + ((magnitude >> kShift) & 1u)) & ~kMantissa;
    constexpr uint32_t kTooLarge = (kPastFinite << kShift) + kRebias;
    constexpr uint32_t kOverflow = (kPastFinite << kShift) | kExponent;
    const uint32_t normal = rounded >= kTooLarge ? kOverflow : rounded;
    // A value that is subnormal in the narrow type is rounded to a multiple of
    // the type's smallest positive value.
    constexpr float kUnit = __builtin_bit_cast(
        float, kRebias + (static_cast<uint32_t>(kShift + 1) << 23));
    const float tiny = (FloatOf(magnitude) + kUnit) - kUnit;
    const uint32_t finite = magnitude < kLeastNormal ? BitsOf(tiny) : normal;
    return FloatOf((magnitude > kExponent ? (magnitude & ~kMantissa) | kQuietNan
                                          : finite) |
                   sign);
  }
};

struct BF16Format {
  using StorageType = uint16_t;
  using TileType = float;
  static float Load(uint16_t value) {
    return FloatOf(static_cast<uint32_t>(value) << 16);
  }
  static uint16_t Store(float value) {
    return static_cast<uint16_t>(BitsOf(value) >> 16);
  }
  static float Round(float value) {
    const uint32_t bits = BitsOf(value);
    const uint32_t rounded =
        (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
    return FloatOf(value != value ? ((bits | 0x400000u) & 0xffff0000u)
                                  : rounded);
  }
};

// Rounds a double to f32 by rounding to odd, so that a second rounding to fewer
// bits gives the correctly rounded result.
inline float RoundToOdd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  if (back == value || value != value || (BitsOf(nearest) & 1u)) return nearest;
  // True if the f32 that is nearest to the value is above it. The result is
  // then the next f32 toward the value, whose last bit is set.
  const bool down = back > value;
  uint32_t bits = BitsOf(nearest);
  if ((bits & 0x7fffffffu) == 0)
    return value < 0 ? -1.40129846e-45f : 1.40129846e-45f;
  bits += (down == ((bits >> 31) != 0)) ? 1u : -1u;
  return FloatOf(bits);
}

// --- formats of elements in memory: the storage type, the compute type and the
// two conversions ---

template <typename Storage, typename Tile>
struct PlainFormat {
  using StorageType = Storage;
  using TileType = Tile;
  static Tile Load(Storage value) { return static_cast<Tile>(value); }
  static Storage Store(Tile value) { return static_cast<Storage>(value); }
};
struct BoolFormat {
  using StorageType = uint8_t;
  using TileType = uint8_t;
  static uint8_t Load(uint8_t value) { return value != 0; }
  static uint8_t Store(uint8_t value) { return value; }
};

#ifdef __OPTIMIZE_SIZE__

template <typename Format>
void LoadKernel(const TileArguments& t) {
  using Storage = typename Format::StorageType;
  MapUnary<typename Format::TileType, Storage>(
      t, [](Storage value) { return Format::Load(value); });
}

template <typename Format>
void StoreKernel(const TileArguments& t) {
  using Storage = typename Format::StorageType;
  using Tile = typename Format::TileType;
  constexpr auto kStore = [](Tile value) { return Format::Store(value); };
  MapRows(t, &UnaryRowOf<Storage, Tile, decltype(kStore)>,
          static_cast<intptr_t>(t.destination.column_stride) *
              static_cast<intptr_t>(sizeof(Storage)),
          sizeof(Tile));
}

#else

template <typename Format>
void LoadKernel(const TileArguments& t) {
  using Storage = typename Format::StorageType;
  using Tile = typename Format::TileType;
  if (t.a.column_stride == 0 || t.a.column_stride == 1) {
    MapUnary<Tile, Storage>(t,
                            [](Storage value) { return Format::Load(value); });
    return;
  }
  const int64_t stride = t.a.column_stride;
  if (t.rows > 1 && t.a.row_stride == static_cast<int64_t>(sizeof(Storage))) {
    // If memory is read transposed, the outer loop runs over the columns, so
    // that memory is read contiguously. The tile, which is then written in
    // steps, is in the cache.
    for (int64_t i = 0; i < t.columns; ++i) {
      const Storage* a = Row<Storage>(t.a, 0) + i * stride;
      char* d = t.destination.data + i * static_cast<int64_t>(sizeof(Tile));
      for (int64_t r = 0; r < t.rows; ++r) {
        *reinterpret_cast<Tile*>(d + r * t.destination.row_stride) =
            Format::Load(a[r]);
      }
    }
    return;
  }
  for (int64_t r = 0; r < t.rows; ++r) {
    Tile* d = Row<Tile>(t.destination, r);
    const Storage* a = Row<Storage>(t.a, r);
    for (int64_t i = 0; i < t.columns; ++i) d[i] = Format::Load(a[i * stride]);
  }
}

template <typename Format>
void StoreKernel(const TileArguments& t) {
  using Storage = typename Format::StorageType;
  using Tile = typename Format::TileType;
  if (t.destination.column_stride == 1 &&
      (t.a.column_stride == 0 || t.a.column_stride == 1)) {
    MapUnary<Storage, Tile>(t, [](Tile value) { return Format::Store(value); });
    return;
  }
  const int64_t to = t.destination.column_stride, from = t.a.column_stride;
  for (int64_t r = 0; r < t.rows; ++r) {
    Storage* d = Row<Storage>(t.destination, r);
    const Tile* a = Row<Tile>(t.a, r);
    for (int64_t i = 0; i < t.columns; ++i)
      d[i * to] = Format::Store(a[i * from]);
  }
}

#endif  // __OPTIMIZE_SIZE__

// --- casts between compute types ---

template <typename To, typename From>
inline To CastValue(From value) {
  if constexpr (kIsBool<To>) {
    return value != From(0);
  } else if constexpr (kIsFloat<From> && !kIsFloat<To>) {
    // Converts a float to an integer: truncates, and saturates at the limits of
    // the integer type; NaN gives 0. The limits are powers of two, so they are
    // exact as floats.
    constexpr int kBits = sizeof(To) * 8 - (std::is_signed_v<To> ? 1 : 0);
    constexpr From kAbove =
        From(static_cast<uint64_t>(1) << (kBits - 1)) * From(2);
    constexpr From kLowest = std::is_signed_v<To> ? -kAbove : From(0);
    constexpr To kMax = To(UnsignedOf<To>(~UnsignedOf<To>(0)) >>
                           (std::is_signed_v<To> ? 1 : 0));
    const bool high = value >= kAbove;
    const bool usable = value > kLowest && !high;
    const To inside = static_cast<To>(usable ? value : From(0));
    const To low = value <= kLowest ? To(kLowest) : To(0);
    return high ? kMax : (usable ? inside : low);
  } else {
    return static_cast<To>(value);
  }
}

template <typename To, typename From>
void CastKernel(const TileArguments& t) {
  MapUnary<To, From>(t, [](From value) { return CastValue<To, From>(value); });
}

// Converts a 64-bit integer to a double, such that rounding the double to fewer
// bits gives the same as rounding the integer. Values of other types are
// converted exactly.
template <typename From>
inline double OddDouble(From value) {
  if constexpr (sizeof(From) == 8 && !kIsFloat<From>) {
    const bool negative = value < From(0);
    const uint64_t magnitude =
        negative ? 0 - static_cast<uint64_t>(value) : value;
    double result = static_cast<double>(magnitude);
    if (magnitude >> 53) {
      result =
          static_cast<double>((magnitude >> 11) | ((magnitude & 0x7ff) != 0)) *
          2048.0;
    }
    return negative ? -result : result;
  } else {
    return static_cast<double>(value);
  }
}

// Casts to f32, such that rounding the f32 to a narrow float gives the
// correctly rounded result.
template <typename From>
void CastOddKernel(const TileArguments& t) {
  MapUnary<float, From>(
      t, [](From value) { return RoundToOdd(OddDouble(value)); });
}

template <typename Format>
void FloatBitsKernel(const TileArguments& t) {
  MapUnary<int32_t, float>(
      t, [](float value) { return int32_t{Format::Store(value)}; });
}
template <typename Format>
void FloatFromBitsKernel(const TileArguments& t) {
  MapUnary<float, int32_t>(t, [](int32_t bits) {
    return Format::Load(static_cast<typename Format::StorageType>(bits));
  });
}

template <typename Storage>
void WrapKernel(const TileArguments& t) {
  MapUnary<int32_t, int32_t>(t, [](int32_t value) {
    return static_cast<int32_t>(static_cast<Storage>(value));
  });
}
template <typename Format>
void RoundKernel(const TileArguments& t) {
  MapUnary<float, float>(t, [](float value) { return Format::Round(value); });
}
struct ClampFunction {
  explicit ClampFunction(const TileArguments& t)
      : low(static_cast<int32_t>(t.immediate[0])),
        high(static_cast<int32_t>(t.immediate[1])) {}
  int32_t operator()(int32_t value) const {
    const int32_t raised = value < low ? low : value;
    return raised > high ? high : raised;
  }
  int32_t low;
  int32_t high;
};
inline void ClampKernel(const TileArguments& t) {
  MapUnary<int32_t, int32_t>(t, ClampFunction(t));
}

template <typename T>
void SelectKernel(const TileArguments& t) {
  for (int64_t r = 0; r < t.rows; ++r) {
    T* d = Row<T>(t.destination, r);
    const uint8_t* a = Row<uint8_t>(t.a, r);
    const T* b = Row<T>(t.b, r);
    const T* c = Row<T>(t.c, r);
#ifdef __OPTIMIZE_SIZE__
    for (int64_t i = 0; i < t.columns; ++i) {
      d[i] = a[i * t.a.column_stride] ? b[i * t.b.column_stride]
                                      : c[i * t.c.column_stride];
    }
    continue;
#endif
    const bool b_varies = t.b.column_stride != 0,
               c_varies = t.c.column_stride != 0;
    if (t.a.column_stride == 0) {
      const T* from = a[0] ? b : c;
      const int64_t stride = (a[0] ? b_varies : c_varies) ? 1 : 0;
      for (int64_t i = 0; i < t.columns; ++i) d[i] = from[i * stride];
    } else if (b_varies && c_varies) {
      EMBER_INDEPENDENT
      for (int64_t i = 0; i < t.columns; ++i) d[i] = a[i] ? b[i] : c[i];
    } else if (b_varies) {
      const T value = c[0];
      EMBER_INDEPENDENT
      for (int64_t i = 0; i < t.columns; ++i) d[i] = a[i] ? b[i] : value;
    } else if (c_varies) {
      const T value = b[0];
      EMBER_INDEPENDENT
      for (int64_t i = 0; i < t.columns; ++i) d[i] = a[i] ? value : c[i];
    } else {
      const T yes = b[0], no = c[0];
      EMBER_INDEPENDENT
      for (int64_t i = 0; i < t.columns; ++i) d[i] = a[i] ? yes : no;
    }
  }
}

inline void IotaKernel(const TileArguments& t) {
  for (int64_t r = 0; r < t.rows; ++r) {
    int64_t* d = Row<int64_t>(t.destination, r);
    const int64_t start = t.immediate[0] + r * t.immediate[1];
    for (int64_t i = 0; i < t.columns; ++i) d[i] = start + i * t.immediate[2];
  }
}

// Adds one index of an access to the offsets of its elements: destination = b +
// a * immediate[0], where b has the offsets so far and a the index, if 0 <= a <
// immediate[1]. For an index out of range the offset becomes kOutside (padding)
// if kMark; otherwise the failure is recorded.
template <bool kMark>
void AccumulateIndexKernel(const TileArguments& t) {
  const int64_t stride = t.immediate[0];
  const uint64_t extent = static_cast<uint64_t>(t.immediate[1]);
  for (int64_t r = 0; r < t.rows; ++r) {
    int64_t* d = Row<int64_t>(t.destination, r);
    const int64_t* a = Row<int64_t>(t.a, r);
    const int64_t* b = Row<int64_t>(t.b, r);
    for (int64_t i = 0; i < t.columns; ++i) {
      const int64_t index = a[i * t.a.column_stride];
      const int64_t offset = b[i * t.b.column_stride];
      const bool outside = static_cast<uint64_t>(index) >= extent;
      d[i] =
          (outside || offset == kOutside) ? kOutside : offset + index * stride;
      if (!kMark && outside && !t.failure->found) *t.failure = {index, true};
    }
  }
}

template <typename T>
void GatherKernel(const TileArguments& t) {
  const T* memory = reinterpret_cast<const T*>(t.a.data);
  const int64_t step = t.immediate[0];
  for (int64_t r = 0; r < t.rows; ++r) {
    T* d = Row<T>(t.destination, r);
    const int64_t* b = Row<int64_t>(t.b, r);
    const T* c = Row<T>(t.c, r);
    if (t.b.column_stride == 0 && b[0] != kOutside) {
      const T* row = memory + b[0];
      if (step == 1) {
        EMBER_INDEPENDENT
        for (int64_t i = 0; i < t.columns; ++i) d[i] = row[i];
      } else {
        for (int64_t i = 0; i < t.columns; ++i) d[i] = row[i * step];
      }
      continue;
    }
    for (int64_t i = 0; i < t.columns; ++i) {
      const int64_t offset = b[i * t.b.column_stride];
      d[i] = offset == kOutside ? c[i * t.c.column_stride]
                                : memory[offset + i * step];
    }
  }
}

template <typename From>
inline void SetCasts(TileKernelTable& table, ComputeType from) {
  TileKernel* row = table.cast[from];
  row[kTileBool] = &CastKernel<uint8_t, From>;
  row[kTileI32] = &CastKernel<int32_t, From>;
  row[kTileU32] = &CastKernel<uint32_t, From>;
  row[kTileI64] = &CastKernel<int64_t, From>;
  row[kTileU64] = &CastKernel<uint64_t, From>;
  row[kTileF32] = &CastKernel<float, From>;
  row[kTileF64] = &CastKernel<double, From>;
  if constexpr (!std::is_same_v<From, float>)
    table.cast_odd[from] = &CastOddKernel<From>;
}

template <typename Format>
inline void SetFormat(TileKernelTable& table, DType type) {
  table.load[static_cast<int>(type)] = &LoadKernel<Format>;
  table.store[static_cast<int>(type)] = &StoreKernel<Format>;
}

template <typename Format>
inline void SetNarrowFormat(TileKernelTable& table, DType type,
                            NarrowType narrow) {
  SetFormat<Format>(table, type);
  table.narrow[narrow] = &RoundKernel<Format>;
  table.float_bits[narrow] = &FloatBitsKernel<Format>;
  table.float_from_bits[narrow] = &FloatFromBitsKernel<Format>;
}

inline void SetMoveKernels(TileKernelTable& table) {
  SetFormat<BoolFormat>(table, DType::kBool);
  SetFormat<PlainFormat<int8_t, int32_t>>(table, DType::kI8);
  SetFormat<PlainFormat<int16_t, int32_t>>(table, DType::kI16);
  SetFormat<PlainFormat<int32_t, int32_t>>(table, DType::kI32);
  SetFormat<PlainFormat<int64_t, int64_t>>(table, DType::kI64);
  SetFormat<PlainFormat<uint8_t, int32_t>>(table, DType::kU8);
  SetFormat<PlainFormat<uint16_t, int32_t>>(table, DType::kU16);
  // u32 in memory uses the kernels of i32, because tiles of u32 are only
  // copied.
  SetFormat<PlainFormat<int32_t, int32_t>>(table, DType::kU32);
  SetFormat<PlainFormat<int64_t, int64_t>>(table, DType::kU64);
  SetNarrowFormat<SmallFloatFormat<DType::kF16>>(table, DType::kF16,
                                                 kNarrowF16);
  SetNarrowFormat<BF16Format>(table, DType::kBF16, kNarrowBF16);
  SetNarrowFormat<SmallFloatFormat<DType::kF8E4M3FN>>(table, DType::kF8E4M3FN,
                                                      kNarrowF8E4M3FN);
  SetNarrowFormat<SmallFloatFormat<DType::kF8E5M2>>(table, DType::kF8E5M2,
                                                    kNarrowF8E5M2);
  SetFormat<PlainFormat<float, float>>(table, DType::kF32);
  SetFormat<PlainFormat<double, double>>(table, DType::kF64);
  SetCasts<uint8_t>(table, kTileBool);
  SetCasts<int32_t>(table, kTileI32);
  SetCasts<int64_t>(table, kTileI64);
  SetCasts<float>(table, kTileF32);
  SetCasts<double>(table, kTileF64);
#ifndef EMBER_FAST_TYPES_ONLY
  SetCasts<uint32_t>(table, kTileU32);
  SetCasts<uint64_t>(table, kTileU64);
#endif
  table.narrow[kNarrowI8] = &WrapKernel<int8_t>;
  table.narrow[kNarrowI16] = &WrapKernel<int16_t>;
  table.narrow[kNarrowU8] = &WrapKernel<uint8_t>;
  table.narrow[kNarrowU16] = &WrapKernel<uint16_t>;
  table.clamp = &ClampKernel;
  table.iota = &IotaKernel;
  table.gather[0] = &GatherKernel<uint8_t>;
  table.gather[1] = &GatherKernel<uint16_t>;
  table.gather[2] = &GatherKernel<uint32_t>;
  table.gather[3] = &GatherKernel<uint64_t>;
  table.accumulate_index[0] = &AccumulateIndexKernel<false>;
  table.accumulate_index[1] = &AccumulateIndexKernel<true>;
  table.select[kTileBool] = &SelectKernel<uint8_t>;
  table.select[kTileI32] = table.select[kTileU32] = table.select[kTileF32] =
      &SelectKernel<uint32_t>;
  table.select[kTileI64] = table.select[kTileU64] = table.select[kTileF64] =
      &SelectKernel<uint64_t>;
}

}  // namespace
}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_MOVE_KERNELS_H_
