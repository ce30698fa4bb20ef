#include "hal/cuda/emulated/warp_matrices.h"

#include <cstring>

#include "base/float_format.h"

namespace ember::hal::cuda {
namespace {

constexpr uint32_t kRows = 16;
constexpr uint32_t kColumns = 8;
// Four lanes together hold one row of a fragment of eight columns, two elements
// each.
constexpr uint32_t kThreads = 4;

uint32_t BytesOf(DType type) {
  return static_cast<uint32_t>(DTypeByteSize(type));
}
// Returns the number of elements of this type in a 32-bit register.
uint32_t ElementsOf(DType type) { return 4 / BytesOf(type); }

bool IsWhole(DType type) { return type == DType::kI8 || type == DType::kU8; }

// Returns the bits of the element with the number i in a 32-bit register.
uint32_t Part(uint32_t word, DType type, uint32_t i) {
  const uint32_t bits = 8 * BytesOf(type);
  return bits == 32 ? word : word >> (bits * i) & ((uint32_t{1} << bits) - 1);
}

double FloatOf(uint32_t part, DType type) {
  if (IsNarrowFloat(type)) return DecodeNarrowFloat(part, type);
  float value = 0;
  std::memcpy(&value, &part, sizeof value);
  return value;
}

int64_t WholeOf(uint32_t part, DType type) {
  return type == DType::kI8 ? static_cast<int8_t>(part)
                            : static_cast<int64_t>(part);
}

// Returns the number that the bits of an element of a factor represent. An f32
// is read as tf32: its 13 low bits are ignored.
double FactorOf(uint32_t part, DType type) {
  constexpr uint32_t kIgnoredByTf32 = (uint32_t{1} << 13) - 1;
  return FloatOf(type == DType::kF32 ? part & ~kIgnoredByTf32 : part, type);
}

// One element of each factor, as bits: the operands of one multiplication.
struct Factors {
  uint32_t a = 0;
  uint32_t b = 0;
};

// Adds products of elements to a sum and returns the new sum's bits. `before`
// are the old sum's bits; factors_of(k) returns the factors of product k, for
// each k below the product's depth.
template <typename FactorsOf>
uint32_t AddProducts(const WarpProduct& product, uint32_t before,
                     const FactorsOf& factors_of) {
  if (IsWhole(product.a)) {
    uint32_t sum = before;
    for (uint32_t k = 0; k < product.depth; ++k) {
      const Factors factors = factors_of(k);
      sum += static_cast<uint32_t>(WholeOf(factors.a, product.a) *
                                   WholeOf(factors.b, product.b));
    }
    return sum;
  }
  double sum = FloatOf(before, product.sum);
  for (uint32_t k = 0; k < product.depth; ++k) {
    const Factors factors = factors_of(k);
    sum += FactorOf(factors.a, product.a) * FactorOf(factors.b, product.b);
  }
  if (product.sum == DType::kF16) return ToFloat16(sum).bits;
  uint32_t bits = 0;
  const auto rounded = static_cast<float>(sum);
  std::memcpy(&bits, &rounded, sizeof bits);
  return bits;
}

// Returns an element of the matrix a from the registers of the lane that holds
// it. The lane is 4 * (row mod 8) + (column / n mod 4), where n is the number
// of elements in a register. In a lane, register 1 holds the row 8 below that
// of register 0; the following pairs of registers hold the columns 4 * n
// further on.
uint32_t ElementOfA(const WarpProduct& product,
                    std::span<const WarpOperands* const> operands, uint32_t row,
                    uint32_t k) {
  const uint32_t in_a = ElementsOf(product.a);
  const uint32_t from = row % 8 * kThreads + k / in_a % kThreads;
  const uint32_t number = row / 8 + 2 * (k / (in_a * kThreads));
  return Part((*operands[from])[number], product.a, k % in_a);
}

struct MatrixPosition {
  uint32_t row = 0;
  uint32_t column = 0;
};

// Number of registers c0 to c3 of a lane for the sum: two neighbouring elements
// of the row lane / 4, and two of the row 8 below.
constexpr uint32_t kSumsOfLane = 4;

MatrixPosition PositionOfSum(uint32_t lane, uint32_t c) {
  return {.row = lane / kThreads + 8 * (c / 2),
          .column = lane % kThreads * 2 + c % 2};
}

}  // namespace

WarpProduct WarpProduct::Unpack(uint32_t packed) {
  return {.depth = packed & 255,
          .a = static_cast<DType>(packed >> 8 & 255),
          .b = static_cast<DType>(packed >> 16 & 255),
          .sum = static_cast<DType>(packed >> 24)};
}

size_t WarpProduct::RegistersOfA() const {
  return kRows * depth / 32 / ElementsOf(a);
}
size_t WarpProduct::RegistersOfB() const {
  return kColumns * depth / 32 / ElementsOf(b);
}
size_t WarpProduct::RegistersOfSum() const {
  return kRows * kColumns / 32 / ElementsOf(sum);
}

void MultiplyLane(const WarpProduct& product,
                  std::span<const WarpOperands* const> operands, uint32_t lane,
                  uint32_t* result) {
  const uint32_t in_b = ElementsOf(product.b);
  const size_t first_b = product.RegistersOfA();
  const size_t first_sum = first_b + product.RegistersOfB();
  // Finds an element of b by the layout of PTX's fragments: row k is in lane 4
  // * column + (k / n mod 4), where n is the number of elements in a register.
  const auto element_of_b = [&](uint32_t k, uint32_t column) {
    const uint32_t from = column * kThreads + k / in_b % kThreads;
    const uint32_t number = k / (in_b * kThreads);
    return Part((*operands[from])[first_b + number], product.b, k % in_b);
  };
  const WarpOperands& own = *operands[lane];
  const uint32_t in_sum = ElementsOf(product.sum);
  for (size_t i = 0; i < product.RegistersOfSum(); ++i) result[i] = 0;
  for (uint32_t c = 0; c < kSumsOfLane; ++c) {
    const MatrixPosition position = PositionOfSum(lane, c);
    const uint32_t number = c / in_sum, part = c % in_sum;
    const uint32_t sum = AddProducts(
        product, Part(own[first_sum + number], product.sum, part),
        [&](uint32_t k) {
          return Factors{ElementOfA(product, operands, position.row, k),
                         element_of_b(k, position.column)};
        });
    result[number] |= sum << (8 * BytesOf(product.sum) * part);
  }
}

uint64_t SharedMatrix::PositionOf(uint32_t k, uint32_t column) const {
  constexpr uint32_t kRowBytes = 128, kBlockRows = 8;
  const auto offset_of = [&](int shift) {
    return (descriptor >> shift & 0x3fff) << 4;
  };
  const uint64_t leading = offset_of(16), stride = offset_of(32);
  const uint32_t across = is_transposed ? k : column;
  const uint32_t along = (is_transposed ? column : k) * element_bytes;
  // If the matrix is transposed, it is split into panels of 128 bytes along the
  // columns, `leading` bytes apart. If it is not, its depth fits into one row
  // of 128 bytes, so there is a single panel.
  const uint64_t panel = is_transposed ? along / kRowBytes * leading : 0;
  const uint64_t address = begin + panel + across / kBlockRows * stride +
                           across % kBlockRows * kRowBytes + along % kRowBytes;
  return address ^ (address >> 7 & 7) << 4;
}

namespace {

uint32_t ElementOf(const SharedMatrix& matrix, const uint8_t* shared,
                   uint32_t k, uint32_t column) {
  uint32_t element = 0;
  std::memcpy(&element, shared + matrix.PositionOf(k, column),
              matrix.element_bytes);
  return element;
}

// Multiplies the 16 rows of a that belong to this warp. element_of_a(row, k)
// returns their elements.
template <typename ElementOfRows>
void AddColumns(const WarpProduct& product, uint32_t columns,
                const ElementOfRows& element_of_a, const SharedMatrix& b,
                const uint8_t* shared, uint32_t lane, uint32_t* sums) {
  for (uint32_t c = 0; c < columns / kColumns * kSumsOfLane; ++c) {
    const MatrixPosition position = PositionOfSum(lane, c % kSumsOfLane);
    const uint32_t column = c / kSumsOfLane * kColumns + position.column;
    sums[c] = AddProducts(product, sums[c], [&](uint32_t k) {
      return Factors{element_of_a(position.row, k),
                     ElementOf(b, shared, k, column)};
    });
  }
}

}  // namespace

void MultiplyWideLane(const WarpProduct& product, uint32_t columns,
                      std::span<const WarpOperands* const> operands,
                      const SharedMatrix& b, const uint8_t* shared,
                      uint32_t lane, uint32_t* sums) {
  const auto element_of_a = [&](uint32_t row, uint32_t k) {
    return ElementOfA(product, operands, row, k);
  };
  AddColumns(product, columns, element_of_a, b, shared, lane, sums);
}

void MultiplySharedLane(const WarpProduct& product, uint32_t columns,
                        const SharedMatrix& a, uint32_t first_row,
                        const SharedMatrix& b, const uint8_t* shared,
                        uint32_t lane, uint32_t* sums) {
  const auto element_of_a = [&](uint32_t row, uint32_t k) {
    return ElementOf(a, shared, k, first_row + row);
  };
  AddColumns(product, columns, element_of_a, b, shared, lane, sums);
}

uint32_t LoadedRegister(std::span<const uint8_t* const> rows, uint32_t number,
                        bool is_transposed, uint32_t lane) {
  uint32_t word = 0;
  if (!is_transposed) {
    std::memcpy(&word,
                rows[8 * number + lane / kThreads] + 4 * (lane % kThreads),
                sizeof word);
    return word;
  }
  uint16_t parts[2] = {};
  for (uint32_t i = 0; i < 2; ++i) {
    std::memcpy(
        &parts[i],
        rows[8 * number + 2 * (lane % kThreads) + i] + 2 * (lane / kThreads),
        sizeof parts[i]);
  }
  return parts[0] | uint32_t{parts[1]} << 16;
}

}  // namespace ember::hal::cuda
