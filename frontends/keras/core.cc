// Dense layers, embeddings, masks, and layers that act only in training.
#include <algorithm>
#include <string>
#include <vector>

#include "base/one_line.h"
#include "frontends/keras/activation.h"
#include "frontends/keras/layer_table.h"
#include "frontends/ops/dims.h"

namespace ember::keras {
namespace {

Tensor PlusBias(LayerContext& c, Tensor y) {
  return c.config().Flag("use_bias", true) ? y + c.Weight("bias", 1) : y;
}

// Returns `equation` for a first operand of rank `rank`, with "..." replaced by
// letters that the equation does not use; empty after an error.
std::string ExpandEllipsis(LayerContext& c, const std::string& equation,
                           int rank) {
  std::string result;
  const size_t comma = std::min(equation.find(','), equation.size());
  const std::string first = equation.substr(0, comma);
  const size_t dots = first.find("...");
  if (dots == std::string::npos) return equation;
  const int missing = rank - static_cast<int>(first.size() - 3);
  std::string letters;
  for (char letter = 'A'; letter <= 'Z'; ++letter) {
    if (static_cast<int>(letters.size()) >= missing) break;
    if (equation.find(letter) == std::string::npos) letters += letter;
  }
  if (missing < 0 || static_cast<int>(letters.size()) != missing) {
    c.FailInvalid("equation: found '" + OnOneLine(equation) +
                  "' for an input of rank " + std::to_string(rank));
    return "";
  }
  for (size_t i = 0; i < equation.size(); ++i) {
    if (equation.compare(i, 3, "...") == 0) {
      result += letters;
      i += 2;
    } else {
      result += equation[i];
    }
  }
  return result;
}

}  // namespace

void ImportIdentity(LayerContext& c) { c.SetOutput(c.Input(0)); }

void ImportDense(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor y = MatMul(c.Input(0), c.Weight("kernel", 2));
  c.SetOutput(Activated(c, PlusBias(c, y)));
}

void ImportEinsumDense(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  std::string equation = c.config().Text("equation");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '),
                 equation.end());
  const std::string spec = ExpandEllipsis(c, equation, c.Input(0).rank());
  if (!c.ok()) return;
  Tensor y = Contract(c.Input(0), c.Weight("kernel"), spec);
  const std::string axes = c.config().Text("bias_axes");
  if (!axes.empty() && c.ok()) {
    // In EinsumDense the bias has one dim for each letter of bias_axes, in the
    // order of the result's dims.
    const Tensor bias = c.Weight("bias");
    const size_t arrow = equation.find("->");
    if (!c.ok() || arrow == std::string::npos) return;
    std::string result = equation.substr(arrow + 2);
    const size_t dots = result.find("...");
    // The bias broadcasts along the dims that the ellipsis of the equation
    // covers.
    const int shift = y.rank() - static_cast<int>(result.size());
    Shape shape(static_cast<size_t>(y.rank()), Dim(1));
    for (size_t i = 0; i < result.size(); ++i) {
      if (axes.find(result[i]) == std::string::npos || result[i] == '.')
        continue;
      const int at = static_cast<int>(i) +
                     (dots != std::string::npos && i > dots ? shift : 0);
      // The bias is reshaped to the result's extent at each axis of bias_axes,
      // and to 1 elsewhere. Keras' own shape of the bias may have further dims
      // of 1 or lack some.
      if (at >= 0 && at < y.rank()) shape[static_cast<size_t>(at)] = y.dim(at);
    }
    y = y + Reshape(bias, shape);
  }
  c.SetOutput(Activated(c, y));
}

void ImportEmbedding(LayerContext& c) {
  const Tensor x = c.Input(0), table = c.Weight("embeddings", 2);
  if (!c.ok()) return;
  c.SetOutput(Gather(table, Cast(x, DType::kI64), 0));
  if (c.config().Flag("mask_zero", false)) c.SetMask(0, NotEqual(x, 0));
}

// Imports ReversibleEmbedding. Called with reverse, the layer returns a logit
// per row of the table.
void ImportReversibleEmbedding(LayerContext& c) {
  const Given* reverse = c.Named("reverse");
  const bool reversed =
      reverse != nullptr && reverse->constant && reverse->constant->AsFlag();
  if (!reversed) return ImportEmbedding(c);
  const Tensor table = c.HasWeight("reverse_embeddings")
                           ? c.Weight("reverse_embeddings", 2)
                           : Transpose(c.Weight("embeddings", 2), {1, 0});
  Tensor logits = MatMul(c.Input(0), table);
  if (c.config().Has("logit_soft_cap")) {
    const double cap = c.config().Number("logit_soft_cap");
    logits = Tanh(logits / cap) * cap;
  }
  c.SetOutput(logits);
}

// Imports Masking. A step whose features all equal mask_value is masked, and
// its features become 0.
void ImportMasking(LayerContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const Tensor x = c.Input(0);
  const Tensor differs = NotEqual(x, c.config().Number("mask_value", 0.0));
  const Tensor kept = Reduce(Cast(differs, DType::kI32), "maximum",
                             {x.rank() - 1}, /*keep=*/true);
  c.SetOutput(x * Cast(kept, x.dtype()));
  c.SetMask(0, NotEqual(Squeeze(kept, {x.rank() - 1}), 0));
}

void ImportLayerScale(LayerContext& c) {
  c.SetOutput(c.Input(0) * c.Weight("gamma"));
}

// Imports InceptionResNetV2's layer: (x, residual) -> x + residual * scale.
void ImportCustomScale(LayerContext& c) {
  if (c.input_count() != 2)
    return c.FailInvalid("expected two inputs, found " +
                         std::to_string(c.input_count()));
  c.SetOutput(c.Input(0) + c.Input(1) * c.config().Number("scale"));
}

}  // namespace ember::keras
