#include "frontends/language_models/packed_product.h"

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontends/language_models/block_codes.h"

namespace ember::language_models {
namespace {

// Number of columns of a product's block, for formats in which each group of 16
// or 32 columns has its own scale. The block then has 4 or 2 parts
// (ops::BlockedWeight), which one iteration of a kernel's loop combines.
constexpr int64_t kColumnsOfParts = 64;

// Copies some bits of each code, those of `mask` in code >> down, to bit `up`
// of a byte. These bits of the bytes must be 0. kSteps is a template argument
// so that compilers vectorize the loop.
template <int kSteps>
void AddDigits(const uint8_t* __restrict codes, int down, unsigned mask, int up,
               uint8_t* __restrict to) {
  for (int i = 0; i < kSteps; ++i)
    to[i] = static_cast<uint8_t>(to[i] | (codes[i] >> down & mask) << up);
}

// A bit plane: `bits` bits of each code, at the same position in all codes,
// packed into bytes. A byte holds the bits of 8 / bits elements, which are
// `steps` columns apart.
struct Plane {
  int bits;
  int shift;  // Position of the plane's lowest bit in a code.
  int64_t steps;
  std::vector<uint8_t> bytes;

  int64_t digits() const { return 8 / bits; }
  // Number of columns whose bits are in `steps` consecutive bytes.
  int64_t columns() const { return digits() * steps; }

  // Adds the bits of consecutive columns of a row to the plane. `first`: the
  // first of these columns. It and the number of codes are multiples of
  // `steps`.
  void Add(int64_t row, int64_t row_columns, int64_t first,
           std::span<const uint8_t> codes) {
    const unsigned mask = (1u << bits) - 1;
    auto up = static_cast<int>(first % columns() / steps * bits);
    uint8_t* to =
        bytes.data() + row * row_columns / digits() + first / columns() * steps;
    for (size_t e = 0; e < codes.size(); e += static_cast<size_t>(steps)) {
      if (steps == 16)
        AddDigits<16>(codes.data() + e, shift, mask, up, to);
      else
        AddDigits<32>(codes.data() + e, shift, mask, up, to);
      up += bits;
      if (up < 8) continue;
      up = 0;
      to += steps;
    }
  }
};

// Constants under construction.
struct Fields {
  std::vector<Plane> planes;
  std::vector<uint8_t> scales,
      minima;  // `scales` and `minima` are i8 [rows, blocks, groups] each.
  std::vector<uint8_t> factors, offsets;  // f16 [rows, blocks]
};

template <typename T>
void Append(std::vector<uint8_t>& to, std::span<const T> values) {
  const size_t at = to.size();
  to.resize(at + values.size_bytes());
  std::memcpy(to.data() + at, values.data(), values.size_bytes());
}

Tensor Constant(graph::GraphBuilder& builder, DType type,
                std::vector<int64_t> dims, std::vector<uint8_t> bytes) {
  auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  const std::span<const uint8_t> contents(*owner);
  return {&builder, builder.Constant(type, std::move(dims),
                                     {std::move(owner), contents})};
}

const graph::ConstantData* DataOf(const Tensor& x) {
  if (x.value() == nullptr || x.value()->producer() == nullptr ||
      x.value()->producer()->name() != "constant") {
    return nullptr;
  }
  return &x.value()->producer()->attributes().Get<graph::ConstantData>("value");
}

// The dims of a weight.
struct Size {
  // `rows` and `columns` of the matrix, blocks per row, and elements per block.
  int64_t rows, blocks, elements;
  int64_t columns;
};

Size SizeOf(const Weight& w) {
  const int64_t blocks = w.packed.dim(1).constant();
  const int64_t elements = InfoOf(w.format).elements;
  return {w.packed.dim(0).constant(), blocks, elements, blocks * elements};
}

// Returns the number of columns of a part of a block (ops::BlockedWeight).
int64_t StepsOf(const BlockLayout& layout) {
  // In formats with nibbles and one scale per group, the lower and the upper
  // nibbles of the bytes are two parts of one group.
  const bool has_halves = !layout.has_scales && layout.low_bits == 4;
  return has_halves ? layout.group / 2 : layout.group;
}

// Returns the bit planes into which the codes of a format are split, still
// without bytes.
std::vector<Plane> PlanesOf(const BlockLayout& layout, int64_t steps) {
  std::vector<Plane> planes = {
      {.bits = layout.low_bits, .shift = 0, .steps = steps, .bytes = {}}};
  if (layout.high_bits > 0) {
    planes.push_back({.bits = layout.high_bits,
                      .shift = layout.low_bits,
                      .steps = steps,
                      .bytes = {}});
  }
  return planes;
}

void ReadBlocks(const BlockLayout& layout, const Size& size,
                std::span<const uint8_t> bytes, Fields& fields) {
  for (Plane& plane : fields.planes) {
    const auto count =
        static_cast<size_t>(size.rows * size.columns / plane.digits());
    if (layout.codes_at >= 0)
      plane.bytes.reserve(count);
    else
      plane.bytes.resize(count);
  }
  const auto block_bytes = static_cast<size_t>(InfoOf(layout.format).bytes);
  const auto groups = static_cast<size_t>(size.elements / layout.group);
  for (int64_t block = 0; block < size.rows * size.blocks; ++block) {
    const std::span<const uint8_t> of_block =
        bytes.subspan(static_cast<size_t>(block) * block_bytes, block_bytes);
    BlockCodes numbers = {};
    layout.read(of_block, numbers);
    const int64_t row = block / size.blocks;
    const int64_t first = block % size.blocks * size.elements;
    for (Plane& plane : fields.planes) {
      if (layout.codes_at >= 0) {
        Append(plane.bytes,
               of_block.subspan(static_cast<size_t>(layout.codes_at)));
        continue;
      }
      plane.Add(
          row, size.columns, first,
          std::span(numbers.codes).first(static_cast<size_t>(size.elements)));
    }
    const std::span<const int8_t> scales(numbers.scales),
        minima(numbers.minima);
    if (layout.has_scales) Append(fields.scales, scales.first(groups));
    if (layout.has_scales && layout.has_minima)
      Append(fields.minima, minima.first(groups));
    Append(fields.factors, std::span<const uint16_t>(&numbers.factor, 1));
    if (layout.has_minima)
      Append(fields.offsets, std::span<const uint16_t>(&numbers.offset, 1));
  }
}

Tensor Shaped(Tensor x, const std::vector<int64_t>& dims) {
  return ops::Reshape(x, Shape(dims.begin(), dims.end()));
}

// Returns the codes of which `low` has the bits below `shift`, and `high` the
// remaining ones.
Tensor Joined(Tensor low, Tensor high, int shift) {
  const Tensor count = high.Like(static_cast<double>(shift));
  return ops::Binary(ops::Opcode::kOr, low,
                     ops::Binary(ops::Opcode::kShiftLeft, high, count));
}

}  // namespace

Tensor TimesRows(Tensor x, const Weight& w) {
  if (const auto packed = PackForProducts(w))
    return ops::BlockedProduct(x, *packed);
  std::string rows;
  for (int i = 0; i + 1 < x.rank(); ++i)
    rows.push_back(static_cast<char>('a' + i));
  return ops::Contract(x, w.Values(), rows + "y,zy->" + rows + "z");
}

std::optional<ops::BlockedWeight> PackForProducts(const Weight& w) {
  const BlockLayout* layout = LayoutOf(w.format);
  if (layout == nullptr || !w || w.packed.rank() != 3) return std::nullopt;
  const graph::ConstantData* data = DataOf(w.packed);
  if (data == nullptr) return std::nullopt;
  const Size size = SizeOf(w);
  const int64_t steps = StepsOf(*layout);
  Fields fields;
  fields.planes = PlanesOf(*layout, steps);
  for (const Plane& plane : fields.planes)
    if (size.columns % plane.columns() != 0) return std::nullopt;
  ReadBlocks(*layout, size, data->bytes, fields);

  graph::GraphBuilder& builder = w.packed.builder();
  const int64_t parts =
      layout->has_scales ? kColumnsOfParts / steps : layout->group / steps;
  const int64_t groups = size.columns / (parts * steps);
  const std::vector<int64_t> of_groups = {size.rows, groups, parts, steps};
  ops::BlockedWeight packed{.zero = layout->zero,
                            .order = ops::BlockOrder::kPartsFirst};
  for (Plane& plane : fields.planes) {
    const bool is_signed = plane.bits == 8;
    Tensor part =
        Constant(builder, is_signed ? DType::kI8 : DType::kU8,
                 {size.rows, size.columns / plane.columns(), plane.steps},
                 std::move(plane.bytes));
    part = is_signed ? ops::Unsqueeze(part, {2})
                     : ops::UnpackParts(part, plane.bits);
    if (plane.columns() != parts * steps) part = Shaped(part, of_groups);
    packed.codes =
        plane.shift == 0 ? part : Joined(packed.codes, part, plane.shift);
  }
  const std::vector<int64_t> of_scales = {size.rows, groups, parts};
  const auto scaled = [&](std::vector<uint8_t> integers,
                          std::vector<uint8_t> factors) {
    Tensor factor = Constant(builder, DType::kF16, {size.rows, size.blocks},
                             std::move(factors));
    if (integers.empty()) return factor;
    const Tensor integer =
        Constant(builder, DType::kI8,
                 {size.rows, size.blocks, size.elements / layout->group},
                 std::move(integers));
    factor = Cast(ops::Unsqueeze(factor, {2}), DType::kF32);
    return Shaped(Cast(integer, DType::kF32) * factor, of_scales);
  };
  packed.scales = scaled(std::move(fields.scales), std::move(fields.factors));
  if (layout->has_minima) {
    packed.minima = scaled(std::move(fields.minima), std::move(fields.offsets));
  }
  return packed;
}

}  // namespace ember::language_models
