#include "frontends/language_models/packed_product.h"

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/float_format.h"

namespace ember::language_models {
namespace {

using Block = std::span<const uint8_t>;

// Constants under construction, block by block.
struct Fields {
  std::vector<uint8_t> codes;
  std::vector<uint8_t> scales;  // f16, or f32
  std::vector<uint8_t> minima;  // f32; empty if there are none
};

void Append(std::vector<uint8_t>& to, std::span<const uint8_t> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void AppendFloat(std::vector<uint8_t>& to, float value) {
  std::array<uint8_t, sizeof(float)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(float));
  Append(to, bytes);
}

float HalfAt(Block block, size_t at) {
  uint16_t bits = 0;
  std::memcpy(&bits, block.data() + at, sizeof(bits));
  return DecodeNarrowFloat(bits, DType::kF16);
}

// Appends a block of an f16 scale, and codes.
void AppendScaled(Block block, Fields& fields) {
  Append(fields.scales, block.first(2));
  Append(fields.codes, block.subspan(2));
}

// Appends a block of Q4_K: two f16, 12 bytes with 8 scales and minima of 6 bits
// each, and codes.
void AppendQ4K(Block block, Fields& fields) {
  const float scale = HalfAt(block, 0), minimum = HalfAt(block, 2);
  const Block six = block.subspan(4, 12);
  for (size_t g = 0; g < 8; ++g) {
    const size_t i = g % 4;
    const int high_scale = six[i] >> 6, high_minimum = six[i + 4] >> 6;
    const int s = g < 4 ? six[i] & 63 : (six[i + 8] & 15) | (high_scale << 4);
    const int m =
        g < 4 ? six[i + 4] & 63 : (six[i + 8] >> 4) | (high_minimum << 4);
    AppendFloat(fields.scales, scale * static_cast<float>(s));
    AppendFloat(fields.minima, minimum * static_cast<float>(m));
  }
  Append(fields.codes, block.subspan(16));
}

struct Layout {
  BlockFormat format;
  void (*append)(Block block, Fields& fields);
  // Codes of a block: `groups` blocks of `parts` parts of `steps` codes.
  int64_t groups, parts, steps;
  int64_t bits;
  int64_t zero;
  DType scale_type;
  bool is_scale_of_part;
};

constexpr Layout kLayouts[] = {
    {BlockFormat::kQ4_0, AppendScaled, 1, 2, 16, 4, 8, DType::kF16, false},
    {BlockFormat::kQ8_0, AppendScaled, 1, 1, 32, 8, 0, DType::kF16, false},
    {BlockFormat::kQ4_K, AppendQ4K, 4, 2, 32, 4, 0, DType::kF32, true},
};

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
  const Layout* layout = nullptr;
  for (const Layout& row : kLayouts)
    if (row.format == w.format) layout = &row;
  if (layout == nullptr || !w || w.packed.rank() != 3) return std::nullopt;
  const graph::ConstantData* data = DataOf(w.packed);
  if (data == nullptr) return std::nullopt;
  const int64_t rows = w.packed.dim(0).constant();
  const int64_t blocks = w.packed.dim(1).constant();
  const auto size = static_cast<size_t>(InfoOf(w.format).bytes);
  Fields fields;
  fields.codes.reserve(data->bytes.size());
  for (size_t at = 0; at + size <= data->bytes.size(); at += size)
    layout->append(data->bytes.subspan(at, size), fields);

  graph::GraphBuilder& builder = w.packed.builder();
  const int64_t groups = blocks * layout->groups;
  const bool is_signed = layout->bits == 8;
  Tensor codes =
      Constant(builder, is_signed ? DType::kI8 : DType::kU8,
               {rows, groups, layout->steps}, std::move(fields.codes));
  codes = is_signed ? ops::Unsqueeze(codes, {2})
                    : ops::UnpackParts(codes, layout->bits);
  std::vector<int64_t> dims = {rows, groups};
  if (layout->is_scale_of_part) dims.push_back(layout->parts);
  ops::BlockedWeight packed{.codes = codes,
                            .scales = Constant(builder, layout->scale_type,
                                               dims, std::move(fields.scales)),
                            .zero = layout->zero,
                            .order = ops::BlockOrder::kPartsFirst};
  if (!fields.minima.empty())
    packed.minima =
        Constant(builder, DType::kF32, dims, std::move(fields.minima));
  return packed;
}

}  // namespace ember::language_models
