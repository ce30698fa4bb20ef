#include "frontends/coreml/layer_context.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "frontends/model_bytes.h"
#include "frontends/ops/axes.h"
#include "frontends/ops/errors.h"

namespace ember::coreml {
namespace {

using Bytes = std::span<const uint8_t>;

graph::ConstantData Copy(const void* data, size_t size) {
  return graph::ConstantData::Copy({static_cast<const uint8_t*>(data), size});
}

// Returns the packed number with this index. Numbers have `bits` bits each, and
// begin in the highest bits of the first byte.
uint32_t BitsAt(Bytes bytes, int64_t index, int64_t bits) {
  uint32_t value = 0;
  for (int64_t i = index * bits; i < (index + 1) * bits; ++i) {
    const uint32_t bit = bytes[static_cast<size_t>(i / 8)] >> (7 - i % 8) & 1u;
    value = value << 1 | bit;
  }
  return value;
}

// Dequantizes weights. Linear quantization computes value * scale + bias. In a
// lookup table quantization each value is an index of the table. Returns false,
// with `fault`, if the fields do not fit together.
bool Dequantize(const ProtobufView& weights, int64_t count, int64_t rows,
                std::vector<float>& values, std::string& fault) {
  const ProtobufView quantization = weights.Message(40);
  const int64_t bits = quantization.Integer(1);
  const Bytes raw = weights.Bytes(30);
  if (bits < 1 || bits > 8 ||
      static_cast<int64_t>(raw.size()) != (count * bits + 7) / 8) {
    fault = std::to_string(raw.size()) + " bytes of " + std::to_string(bits) +
            " bits each";
    return false;
  }
  const std::vector<double> table = quantization.Message(102).Floats(1);
  const std::vector<double> scale = quantization.Message(101).Floats(1);
  const std::vector<double> bias = quantization.Message(101).Floats(2);
  const bool by_table = quantization.Has(102);
  const auto fits = [&](const std::vector<double>& per_row) {
    return per_row.size() == 1 ||
           (static_cast<int64_t>(per_row.size()) == rows && rows > 0);
  };
  if (by_table ? static_cast<int64_t>(table.size()) != int64_t{1} << bits
               : !fits(scale) || (!bias.empty() && !fits(bias))) {
    fault = by_table ? "a table of " + std::to_string(table.size())
                     : std::to_string(scale.size()) + " scales";
    return false;
  }
  const int64_t row = rows > 0 ? count / rows : 1;
  values.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t stored = BitsAt(raw, i, bits);
    const auto of = [&](const std::vector<double>& per_row) {
      return per_row[per_row.size() == 1 ? 0 : static_cast<size_t>(i / row)];
    };
    values[static_cast<size_t>(i)] = static_cast<float>(
        by_table ? table[stored]
                 : stored * of(scale) + (bias.empty() ? 0 : of(bias)));
  }
  return true;
}

}  // namespace

Tensor ReadWeights(graph::GraphBuilder& builder, const ProtobufView& weights,
                   const std::shared_ptr<const void>& owner,
                   const std::vector<int64_t>& dims) {
  const auto wrap = [&](graph::Value* value) {
    return Tensor(&builder, value);
  };
  std::optional<int64_t> count = 1;
  for (const int64_t dim : dims)
    if (count) count = CheckedMultiply(*count, dim);
  std::string found = "none";
  if (count && *count <= int64_t{1} << 40 && *count >= 0) {
    const auto size = static_cast<size_t>(*count);
    const std::vector<ProtobufView> f32 = weights.Messages(1);
    if (f32.size() == 1) {
      const Bytes bytes = f32.front().bytes();
      if (bytes.size() == size * sizeof(float))
        return wrap(builder.Constant(
            DType::kF32, dims,
            frontends::AlignedData(bytes, alignof(float), owner)));
      found = std::to_string(bytes.size() / sizeof(float)) + " numbers";
    } else if (const Bytes half = weights.Bytes(2); !half.empty()) {
      if (half.size() == size * 2)
        return wrap(builder.Constant(DType::kF16, dims,
                                     frontends::AlignedData(half, 2, owner)));
      found = std::to_string(half.size() / 2) + " numbers of 16 bits";
    } else if (weights.Has(40)) {
      std::vector<float> values;
      if (Dequantize(weights, *count, dims.empty() ? 1 : dims[0], values,
                     found))
        return wrap(builder.Constant(
            DType::kF32, dims,
            Copy(values.data(), values.size() * sizeof(float))));
    }
  }
  ops::FailInvalid(builder,
                   "weights: expected " +
                       graph::ShapeToString({dims.begin(), dims.end()}) +
                       ", found " + found);
  return wrap(builder.Scalar(0, DType::kF32));
}

std::vector<int64_t> LayerContext::Axes(const std::vector<int64_t>& axes,
                                        int rank) {
  std::vector<int64_t> distinct = ops::DistinctAxes(builder(), axes, rank);
  std::sort(distinct.begin(), distinct.end());
  return distinct;
}

bool LayerContext::CheckGroups(int64_t channels, int64_t outputs,
                               int64_t groups) {
  if (!CheckRange("outputChannels", outputs) || !CheckRange("nGroups", groups))
    return false;
  if (channels % groups == 0 && outputs % groups == 0) return true;
  FailInvalid("nGroups: expected a divisor of " + std::to_string(channels) +
              " and " + std::to_string(outputs) + " channels, found " +
              std::to_string(groups));
  return false;
}

std::optional<std::vector<int64_t>> LayerContext::Constants(int input) {
  if (!Input(input)) return std::nullopt;
  const auto numbers =
      ConstantNumbers(Input(input), "input " + std::to_string(input));
  if (!numbers) return std::nullopt;
  std::vector<int64_t> integers;
  for (const double number : *numbers)
    integers.push_back(static_cast<int64_t>(number));
  return integers;
}

}  // namespace ember::coreml
