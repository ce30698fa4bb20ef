// Imports operators that draw random numbers. All use one counter-based
// generator (philox.h), so a compiled model is reproducible: it gives the same
// numbers on every device and each time it runs.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/onnx/operators/philox.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

// Reads the shape of the result of RandomNormal and RandomUniform, an attribute
// because these operators have no operand; nullopt after an error.
std::optional<Shape> ShapeAttribute(NodeContext& c) {
  const std::optional<std::vector<int64_t>> extents = c.Integers("shape");
  if (!extents) {
    c.FailInvalid("attribute 'shape' is missing");
    return std::nullopt;
  }
  if (extents->size() > kMaxRank) {
    c.FailInvalid("attribute 'shape': expected at most " +
                  std::to_string(kMaxRank) + " dims, found " +
                  std::to_string(extents->size()));
    return std::nullopt;
  }
  for (int64_t extent : *extents) {
    if (extent >= 0) continue;
    c.FailInvalid("attribute 'shape': expected no negative dim, found " +
                  std::to_string(extent));
    return std::nullopt;
  }
  return Shape(extents->begin(), extents->end());
}

bool CheckFloat(NodeContext& c, DType type) {
  if (IsFloat(type)) return true;
  c.FailInvalid("expected a float type of the result, found " +
                std::string(DTypeName(type)));
  return false;
}

// Returns the type in which random values are computed before they are cast to
// `type`: f64 for f64, else f32.
DType DrawnType(DType type) {
  return type == DType::kF64 ? DType::kF64 : DType::kF32;
}

void DrawUniform(NodeContext& c, const Shape& shape, DType type) {
  if (!CheckFloat(c, type)) return;
  const double low = c.Float("low", 0);
  const double high = c.Float("high", 1);
  const RandomNumbers numbers(c, RandomKey(c), shape);
  c.SetOutput(0, Cast(numbers.Uniform(type) * (high - low) + low, type));
}

void DrawNormal(NodeContext& c, const Shape& shape, DType type) {
  if (!CheckFloat(c, type)) return;
  const RandomNumbers numbers(c, RandomKey(c), shape);
  Tensor normal = numbers.Normal(DrawnType(type));
  c.SetOutput(0, Cast(normal * c.Float("scale", 1) + c.Float("mean", 0), type));
}

void ImportRandomUniform(NodeContext& c) {
  const std::optional<Shape> shape = ShapeAttribute(c);
  if (!shape) return;
  DrawUniform(c, *shape, c.TypeAttribute("dtype").value_or(DType::kF32));
}

void ImportRandomUniformLike(NodeContext& c) {
  Tensor like = c.Input(0);
  DrawUniform(c, like.shape(), c.TypeAttribute("dtype").value_or(like.dtype()));
}

void ImportRandomNormal(NodeContext& c) {
  const std::optional<Shape> shape = ShapeAttribute(c);
  if (!shape) return;
  DrawNormal(c, *shape, c.TypeAttribute("dtype").value_or(DType::kF32));
}

void ImportRandomNormalLike(NodeContext& c) {
  Tensor like = c.Input(0);
  DrawNormal(c, like.shape(), c.TypeAttribute("dtype").value_or(like.dtype()));
}

// Imports Bernoulli: draws 1 with the probability that the operand gives, else
// 0.
void ImportBernoulli(NodeContext& c) {
  Tensor probability = c.Input(0);
  if (!CheckFloat(c, probability.dtype())) return;
  const DType type = c.TypeAttribute("dtype").value_or(probability.dtype());
  const DType drawn = DrawnType(probability.dtype());
  const RandomNumbers numbers(c, RandomKey(c), probability.shape());
  c.SetOutput(
      0, Cast(Less(numbers.Uniform(drawn), Cast(probability, drawn)), type));
}

// Draws classes with the probabilities softmax(logits): the class with the
// largest logit plus Gumbel noise (Gumbel 1954), a new noise per sample and
// class.
void ImportMultinomial(NodeContext& c) {
  if (!c.CheckRank(0, 2, 2)) return;
  Tensor logits = c.Input(0);
  const int64_t samples = c.Integer("sample_size", 1);
  if (samples < 0) {
    return c.FailInvalid(
        "attribute 'sample_size': expected no negative value, found " +
        std::to_string(samples));
  }
  if (!CheckFloat(c, logits.dtype())) return;
  const DType drawn = DrawnType(logits.dtype());
  const RandomNumbers numbers(c, RandomKey(c),
                              {logits.dim(0), Dim(samples), logits.dim(1)});
  Tensor noise = -Log(-Log(numbers.UniformOpen(drawn)));
  Tensor noisy = Unsqueeze(Cast(logits, drawn), {1}) + noise;
  Tensor drawn_class = Apply("arg_reduce", {noisy},
                             {{"mode", std::string("maximum")},
                              {"axis", int64_t{2}},
                              {"last", int64_t{0}}});
  c.SetOutput(
      0, Cast(drawn_class, c.TypeAttribute("dtype").value_or(DType::kI32)));
}

// Returns a number if it is known when compiling, else nullopt without failing.
std::optional<double> KnownScalar(NodeContext& c, Tensor scalar) {
  if (!c.ok()) return std::nullopt;
  const auto contents = c.builder().ConstantContents(scalar.value());
  if (!contents || contents->size() != 1) return std::nullopt;
  return contents->front();
}

// Returns the input unchanged, and a mask that keeps everything. Operators of
// opset 6 or before do so too, even without is_test = 1: exporters omit that
// attribute in models for inference.
void KeepAll(NodeContext& c) {
  Tensor x = c.Input(0);
  c.SetOutput(0, x);
  if (!c.WantsOutput(1)) return;
  // Returns the mask of a dropout in inference. Before opset 10 it has the type
  // of the data. Before opset 12 its contents are unspecified, and engines give
  // zeros.
  const DType mask = c.opset() < 10 ? x.dtype() : DType::kBool;
  const double kept = c.opset() < 12 ? 0 : 1;
  c.SetOutput(1, Broadcast(c.Scalar(kept, mask), x.shape()));
}

// Imports Dropout. In training, elements become 0 with probability `ratio`; all
// other elements are scaled up so that the expected value does not change.
void ImportDropout(NodeContext& c) {
  Tensor x = c.Input(0);
  Tensor training = c.Input(2);
  if (!training) return KeepAll(c);
  const std::optional<double> known = KnownScalar(c, training);
  if (known && *known == 0) return KeepAll(c);
  const DType type = ComputeType(x.dtype());
  Tensor ratio =
      c.Input(1) ? Reshape(Cast(c.Input(1), type), {}) : c.Scalar(0.5, type);
  if (!known) {
    // The operand training_mode is only known at run time. If it is false, the
    // program sets the ratio to 0, so that no element is dropped.
    ratio =
        Select(Cast(Reshape(training, {}), DType::kBool), ratio, ratio.Like(0));
  }
  const RandomNumbers numbers(c, RandomKey(c), x.shape());
  Tensor mask = LessEqual(ratio, Cast(numbers.Uniform(x.dtype()), type));
  Tensor grown = Cast(x, type) / (1.0 - ratio);
  c.SetOutput(0, Cast(Select(mask, grown, grown.Like(0)), x.dtype()));
  c.SetOutput(1, mask);
}

constexpr OperatorRow kRows[] = {
    {"Bernoulli", 15, 1, 1, ImportBernoulli},
    {"Dropout", 1, 1, 3, ImportDropout},
    {"Multinomial", 7, 1, 1, ImportMultinomial},
    {"RandomNormal", 1, 0, 0, ImportRandomNormal},
    {"RandomNormalLike", 1, 1, 1, ImportRandomNormalLike},
    {"RandomUniform", 1, 0, 0, ImportRandomUniform},
    {"RandomUniformLike", 1, 1, 1, ImportRandomUniformLike},
};

}  // namespace

std::span<const OperatorRow> RandomOperators() { return kRows; }

}  // namespace ember::onnx
