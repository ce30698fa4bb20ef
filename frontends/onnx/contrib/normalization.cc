// com.microsoft: normalization of sums (skip connections, embeddings), and the
// names that ONNX Runtime gives to RMS normalization.
#include "frontends/ops/normalization.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontends/onnx/contrib/contrib.h"
#include "frontends/onnx/contrib/families.h"
#include "frontends/onnx/operators/quantization.h"

namespace ember::onnx {
namespace {

constexpr DType kStatistics = DType::kF32;

// Scales x by gamma and adds beta; either may be absent.
Tensor ScaleAndShift(Tensor x, Tensor gamma, Tensor beta, DType type) {
  if (gamma) x = x * Cast(gamma, x.dtype());
  if (beta) x = x + Cast(beta, x.dtype());
  return Cast(x, type);
}

struct Normalized {
  Tensor y;  // The normalized tensor, before gamma and beta are applied.
  Tensor mean, inverse_deviation;
};

// Normalizes over the last dim; without `centered`, by the root mean square
// only.
Normalized NormalizeRows(Tensor x, double epsilon, bool centered) {
  const int axis = x.rank() - 1;
  Normalized result;
  if (centered) {
    result.mean = ops::CorrectedMean(x, {axis});
    x = x - result.mean;
  }
  result.inverse_deviation = 1.0 / Sqrt(Mean(x * x, {axis}, true) + epsilon);
  result.y = x * result.inverse_deviation;
  return result;
}

// Imports x + skip (+ bias), normalized. The sum before normalization is an
// output, too.
void ImportSkip(NodeContext& c, bool centered) {
  if (!c.CheckRank(0, 1)) return;
  const DType type = c.Input(0).dtype();
  Tensor beta = centered ? c.Input(3) : Tensor();
  Tensor bias = c.Input(centered ? 4 : 3);
  Tensor sum = Cast(c.Input(0), kStatistics) + Cast(c.Input(1), kStatistics);
  if (bias) sum = sum + Cast(bias, kStatistics);
  const Normalized normalized =
      NormalizeRows(sum, c.Float("epsilon", centered ? 1e-12 : 1e-6), centered);
  c.SetOutput(0, ScaleAndShift(normalized.y, c.Input(2), beta, type));
  if (centered) c.SetOutput(1, normalized.mean);
  c.SetOutput(2, normalized.inverse_deviation);
  c.SetOutput(3, Cast(sum, type));
}

void ImportSkipLayerNormalization(NodeContext& c) { ImportSkip(c, true); }
void ImportSkipSimplified(NodeContext& c) { ImportSkip(c, false); }

Tensor Lookup(Tensor table, Tensor ids) {
  return Gather(table, Cast(ids, DType::kI64), 0);
}

// A function that reads a tensor of a table of embeddings (inputs 2 to 6) as
// real numbers; the quantized operator decodes with scale and zero point.
using Decode = std::function<Tensor(Tensor, int)>;

// Returns the output mask_index: the number of tokens of each sequence whose
// mask (input 7) is 1; 0 without a mask.
Tensor MaskIndex(NodeContext& c, Tensor ids) {
  if (!c.Input(7)) return Broadcast(c.Scalar(0, DType::kI32), {ids.dim(0)});
  Tensor is_real = Cast(Equal(c.Input(7), 1), DType::kI32);
  return Reduce(is_real, "sum", {1}, false);
}

void ImportEmbedding(NodeContext& c, DType type, Tensor position_ids,
                     const Decode& decode) {
  if (!CheckPresent(c, {2, 3, 5, 6})) return;
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(3, 2, 2)) return;
  if (c.Input(7) && !c.CheckRank(7, 2, 2)) return;
  Tensor ids = c.Input(0);
  Tensor rows =
      position_ids
          ? Lookup(c.Input(3), position_ids)
          : Unsqueeze(SliceAxis(c.Input(3), 0, Dim(0), ids.dim(1)), {0});
  Tensor sum = decode(Lookup(c.Input(2), ids), 2) + decode(rows, 3);
  if (c.Input(1) && c.Input(4))
    sum = sum + decode(Lookup(c.Input(4), c.Input(1)), 4);
  const Normalized normalized =
      NormalizeRows(sum, c.Float("epsilon", 1e-12), true);
  c.SetOutput(0, ScaleAndShift(normalized.y, decode(c.Input(5), 5),
                               decode(c.Input(6), 6), type));
  if (c.WantsOutput(1)) c.SetOutput(1, MaskIndex(c, ids));
  c.SetOutput(2, Cast(sum, type));
}

void ImportEmbedLayerNormalization(NodeContext& c) {
  const DType type = c.Input(2) ? c.Input(2).dtype() : DType::kF32;
  ImportEmbedding(c, type, c.Input(8),
                  [](Tensor x, int) { return Cast(x, kStatistics); });
}

// Imports QEmbedLayerNormalization. The scales of inputs 2 to 6 are inputs 8 to
// 12, their zero points 13 to 17.
void ImportQuantizedEmbedLayerNormalization(NodeContext& c) {
  ImportEmbedding(c, DType::kF32, Tensor(), [&](Tensor x, int input) {
    if (!CheckPresent(c, {input + 6})) return c.Wrap(nullptr);
    return Dequantize(x, c.Input(input + 6), c.Input(input + 11));
  });
}

// Normalizes over each group of channels; x has its channels last.
Tensor NormalizeGroups(NodeContext& c, Tensor x) {
  const int64_t groups = PositiveAttribute(c, "groups");
  return ops::GroupStandardized(
      x, x.rank() - 1, groups, c.Float("epsilon", 1e-5), ops::MeanKind::kPlain);
}

// Returns the permutation that moves the channels to the end if `last`, else
// back to dim 1.
std::vector<int64_t> ChannelsTo(bool last, int rank) {
  std::vector<int64_t> permutation{0};
  if (!last) permutation.push_back(rank - 1);
  for (int i = last ? 2 : 1; i < (last ? rank : rank - 1); ++i)
    permutation.push_back(i);
  if (last) permutation.push_back(1);
  return permutation;
}

// Reads the operand `skip`, which is added to x[batch, spatial…, channels]. If
// it is [batch, channels], dims of 1 are inserted so that it broadcasts.
Tensor ReadSkip(NodeContext& c, int rank, bool channels_last) {
  Tensor skip = Cast(c.Input(3), kStatistics);
  if (skip.rank() == 2 && rank > 2) {
    return Reshape(skip, [&] {
      Shape shape(rank, Dim(1));
      shape.front() = skip.dim(0);
      shape.back() = skip.dim(1);
      return shape;
    }());
  }
  return channels_last || skip.rank() != rank
             ? skip
             : Transpose(skip, ChannelsTo(true, rank));
}

void ImportGroupNorm(NodeContext& c) {
  if (!c.CheckRank(0, 3)) return;
  const DType type = c.Input(0).dtype();
  const int rank = c.Input(0).rank();
  const bool channels_last = c.Integer("channels_last", 1) != 0;
  Tensor x = Cast(c.Input(0), kStatistics);
  if (!channels_last) x = Transpose(x, ChannelsTo(true, rank));
  if (c.Input(3)) x = x + ReadSkip(c, rank, channels_last);
  if (c.Input(4)) x = x + Cast(c.Input(4), kStatistics);
  Tensor y =
      ScaleAndShift(NormalizeGroups(c, x), c.Input(1), c.Input(2), kStatistics);
  const int64_t activation = c.Integer("activation", 0);
  if (activation == 1) {
    y = Silu(y);
  } else if (activation != 0) {
    return c.FailInvalid("attribute 'activation': expected 0 or 1, found " +
                         std::to_string(activation));
  }
  auto finish = [&](Tensor t) {
    if (!channels_last) t = Transpose(t, ChannelsTo(false, rank));
    return Cast(t, type);
  };
  c.SetOutput(0, finish(y));
  c.SetOutput(1, finish(x));
}

constexpr OperatorRow kRows[] = {
    {"EmbedLayerNormalization", 1, 1, 9, ImportEmbedLayerNormalization,
     kMicrosoft},
    {"QEmbedLayerNormalization", 1, 1, 18,
     ImportQuantizedEmbedLayerNormalization, kMicrosoft},
    {"GroupNorm", 1, 3, 3, ImportGroupNorm, kMicrosoft},
    {"SkipGroupNorm", 1, 4, 5, ImportGroupNorm, kMicrosoft},
    {"SkipLayerNormalization", 1, 3, 5, ImportSkipLayerNormalization,
     kMicrosoft},
    {"SkipSimplifiedLayerNormalization", 1, 3, 4, ImportSkipSimplified,
     kMicrosoft},
};

}  // namespace

std::span<const OperatorRow> ContribNormalizationOperators() { return kRows; }

}  // namespace ember::onnx
