// Operators of com.microsoft that belong to no other family, and the list of
// operators that are not generated.
#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

bool RelativePositionBias(Builder& b, const Recipe& recipe) {
  const Value table = b.Operand(
      TensorProto::FLOAT, {b.random().Between(4, 8), b.random().Between(1, 3)});
  b.Node("RelativePositionBias",
         {table.name, b.Integer(b.random().Between(1, 6)),
          b.Integer(b.random().Between(1, 6))},
         {{"is_bidirectional", b.random().Chance(0.5) ? 1 : 0},
          {"max_distance", 16}},
         "com.microsoft");
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"com.microsoft", "BiasSplitGelu", "f", "T[n,s,2560] T[2560]"},
    {"com.microsoft", "MurmurHash3", "il", "T[*] seed=0|7 positive=0|1"},
    {"com.microsoft", "RelativePositionBias", RelativePositionBias},
    {"com.microsoft", "SampleOp", "f", "T[*]"},
};

constexpr char kDraws[] =
    "draws random numbers: tests/onnx/random_operators_test";
constexpr char kMaps[] =
    "its operand or result is a map, which node's binding of ONNX Runtime does "
    "not pass: tests/onnx/ml_maps_test";
constexpr char kDecoders[] =
    "needs a trained decoder, as tiny differences decide its tokens: "
    "tests/onnx/generation_test";
constexpr char kPacked[] =
    "its operands hang together (packed weights, caches, lengths) in ways that "
    "random ones do not: tests/onnx/contrib_test and contrib_attention_test";
constexpr char kGpuOnly[] =
    "ONNX Runtime has it for GPUs only, and the evaluator's graph is the "
    "import's own: tests/onnx/contrib_test";
constexpr char kExperts[] =
    "its operands hang together, and rounding decides between experts that are "
    "nearly as likely: tests/onnx/contrib_moe_test";
constexpr char kOld[] =
    "Caffe2's, which ONNX Runtime does not have: "
    "tests/onnx/cases/retired.case";

constexpr NotGenerated kNotGenerated[] = {
    {"", "Bernoulli", kDraws},
    {"", "ConstantFill", kOld},
    {"", "Dropout", kDraws},
    {"", "GivenTensorFill", kOld},
    {"", "ImageDecoder",
     "random bytes are no picture; the peer does not decode pictures"},
    {"", "Multinomial", kDraws},
    {"", "RandomNormal", kDraws},
    {"", "RandomNormalLike", kDraws},
    {"", "RandomUniform", kDraws},
    {"", "RandomUniformLike", kDraws},
    {"", "TfIdfVectorizer",
     "its pools hang together: tests/onnx/cases/text_and_training.case"},
    {"ai.onnx.ml", "CastMap", kMaps},
    {"ai.onnx.ml", "DictVectorizer", kMaps},
    {"ai.onnx.ml", "TreeEnsemble",
     "the form of TreeEnsembleRegressor that ONNX Runtime reads with another "
     "encoding: tests/onnx/ml_trees_test"},
    {"ai.onnx.ml", "ZipMap", kMaps},
    {"com.microsoft", "BeamSearch", kDecoders},
    {"com.microsoft", "BiasDropout", kDraws},
    {"com.microsoft", "BitmaskBiasDropout", kDraws},
    {"com.microsoft", "BitmaskDropout", kDraws},
    {"com.microsoft", "DecoderMaskedMultiHeadAttention", kPacked},
    {"com.microsoft", "DynamicQuantizeLSTM", kPacked},
    {"com.microsoft", "FusedMatMulActivation", kGpuOnly},
    {"com.microsoft", "GatedRelativePositionBias", kPacked},
    {"com.microsoft", "GatherBlockQuantized", kPacked},
    {"com.microsoft", "GemmaRotaryEmbedding", kGpuOnly},
    {"com.microsoft", "GreedySearch", kDecoders},
    {"com.microsoft", "MatMulBnb4", kPacked},
    {"com.microsoft", "MoE", kExperts},
    {"com.microsoft", "MulInteger", kGpuOnly},
    {"com.microsoft", "NhwcConv", kGpuOnly},
    {"com.microsoft", "NhwcFusedConv", kGpuOnly},
    {"com.microsoft", "NhwcMaxPool",
     "ONNX Runtime makes it itself, of bytes: tests/onnx/contrib_test"},
    {"com.microsoft", "QAttention", kPacked},
    {"com.microsoft", "QEmbedLayerNormalization", kPacked},
    {"com.microsoft", "QMoE", kExperts},
    {"com.microsoft", "Sampling", kDecoders},
};

}  // namespace

std::span<const Recipe> ContribRecipes() { return kRows; }
std::span<const NotGenerated> OperatorsNotGenerated() { return kNotGenerated; }

}  // namespace ember::tests
