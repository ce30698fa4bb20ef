#include "tests/onnx/coverage/probe_models.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace ember::tests {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

// A recipe for an operator's node. `operands` are separated by spaces: T[2,3]
// is an input of the probed type, S[2,3] a sequence of such tensors, M[] a map
// from i64 to them, f32[4] an input of a fixed type, i64[2]=0,1 a constant, -
// an operand that is left out. `attributes`: axis=1, perm=1,0 (axes=1, for
// one), alpha=0.5, mode:linear.
struct Recipe {
  std::string_view domain;
  std::string_view name;
  std::string_view operands;
  std::string_view attributes = "";
  int opset = 0;  // Opset of the node; 0 means the newest opset.
  int outputs = 1;
};

constexpr std::string_view kMl = "ai.onnx.ml";
constexpr std::string_view kTraining = "ai.onnx.preview.training";
constexpr std::string_view kPreview = "ai.onnx.preview";
constexpr std::string_view kMicrosoft = "com.microsoft";

// clang-format off
constexpr Recipe kRecipes[] = {
    {"", "AffineGrid", "T[1,2,3] i64[4]=1,1,2,2"},
    {"", "ArgMax", "T[2,3]"},
    {"", "Attention", "T[1,2,3,4] T[1,2,3,4] T[1,2,3,4]"},
    {"", "AveragePool", "T[1,2,4,4]", "kernel_shape=2,2"},
    {"", "BatchNormalization", "T[1,2,4] T[2] T[2] T[2] T[2]"},
    {"", "BitCast", "T[2,4]", "to=2"},
    {"", "BitShift", "T[2,3] T[2,3]", "direction:LEFT"},
    {"", "BlackmanWindow", "i64[]=4"},
    {"", "Cast", "T[2,3]", "to=1"},
    {"", "CastLike", "T[2,3] f32[1]"},
    {"", "CausalConvWithState", "T[1,2,4] T[2,1,3]"},
    {"", "CenterCropPad", "T[4,4] i64[2]=2,2"},
    {"", "Clip", "T[2,3] T[] T[]"},
    {"", "Col2Im", "T[1,4,9] i64[2]=4,4 i64[2]=2,2"},
    {"", "Compress", "T[2,3] bool[2]", "axis=0"},
    {"", "Concat", "T[2,3] T[1,3]", "axis=0"},
    {"", "ConcatFromSequence", "S[2,3]", "axis=0"},
    {"", "Constant", "", "value_ints=1,2"},
    {"", "ConstantOfShape", "i64[2]=2,3"},
    {"", "Conv", "T[1,2,4,4] T[3,2,2,2] T[3]"},
    {"", "ConvInteger", "T[1,2,4,4] T[3,2,2,2]"},
    {"", "ConvTranspose", "T[1,2,4,4] T[2,3,2,2]"},
    {"", "Crop", "T[1,1,4,4]", "border=1,1,1,1", 9},
    {"", "CumProd", "T[2,3] i64[]=1"},
    {"", "CumSum", "T[2,3] i64[]=1"},
    {"", "DFT", "T[1,8,1]"},
    {"", "DeformConv", "T[1,1,3,3] T[1,1,2,2] T[1,8,2,2]", "kernel_shape=2,2"},
    {"", "DepthToSpace", "T[1,4,2,2]", "blocksize=2"},
    {"", "DequantizeLinear", "T[2,3] f32[]"},
    {"", "Det", "T[3,3]"},
    {"", "DynamicSlice", "T[2,3] i64[1]=0 i64[1]=1", "", 9},
    {"", "Einsum", "T[2,3] T[3,4]", "equation:ij,jk->ik"},
    {"", "Expand", "T[2,1] i64[2]=2,3"},
    {"", "EyeLike", "T[3,3]"},
    {"", "GRU", "T[2,1,3] T[1,12,3] T[1,12,4]", "hidden_size=4"},
    {"", "Gather", "T[2,3] i64[2]"},
    {"", "GatherElements", "T[2,3] i64[2,3]"},
    {"", "GatherND", "T[2,3] i64[2,1]"},
    {"", "Gemm", "T[2,3] T[3,4] T[4]"},
    {"", "GivenTensorFill", "", "shape=2, values=1.0,2.0", 9},
    {"", "GlobalAveragePool", "T[1,2,4]"},
    {"", "GlobalLpPool", "T[1,2,4]"},
    {"", "GlobalMaxPool", "T[1,2,4]"},
    {"", "GridSample", "T[1,1,3,3] T[1,2,2,2]"},
    {"", "GroupNormalization", "T[1,4,3] T[4] T[4]", "num_groups=2"},
    {"", "HammingWindow", "i64[]=4"},
    {"", "HannWindow", "i64[]=4"},
    {"", "ImageDecoder", "u8[8]"},
    {"", "ImageScaler", "T[1,2,4,4]", "bias=1.0,2.0", 9},
    {"", "InstanceNormalization", "T[1,2,4] T[2] T[2]"},
    {"", "LRN", "T[1,4,2,2]", "size=3"},
    {"", "LSTM", "T[2,1,3] T[1,16,3] T[1,16,4]", "hidden_size=4"},
    {"", "LayerNormalization", "T[2,3] T[3]"},
    {"", "LinearAttention", "T[1,3,8] T[1,3,8] T[1,3,8]", "q_num_heads=2 kv_num_heads=2 update_rule:linear"},
    {"", "LpPool", "T[1,2,4,4]", "kernel_shape=2,2"},
    {"", "MatMul", "T[2,3] T[3,4]"},
    {"", "MatMulInteger", "T[2,3] T[3,4]"},
    {"", "MaxPool", "T[1,2,4,4]", "kernel_shape=2,2"},
    {"", "MaxRoiPool", "T[1,2,4,4] T[1,5]", "pooled_shape=2,2"},
    {"", "MaxUnpool", "T[1,1,2,2] i64[1,1,2,2]", "kernel_shape=2,2 strides=2,2"},
    {"", "MeanVarianceNormalization", "T[1,2,4,4]"},
    {"", "MelWeightMatrix", "i64[]=4 i64[]=8 i64[]=16 f32[]=0 f32[]=8"},
    {"", "Mod", "T[2,3] T[2,3]", "fmod=1"},
    {"", "Multinomial", "T[2,3]", "sample_size=2"},
    {"", "NegativeLogLikelihoodLoss", "T[2,3] i64[2]"},
    {"", "NonMaxSuppression", "f32[1,4,4] f32[1,1,4]"},
    {"", "OneHot", "i64[2] i64[]=3 T[2]"},
    {"", "Pad", "T[2,3] i64[4]=1,0,0,1"},
    {"", "ParametricSoftplus", "T[2,3]", "alpha=1.0 beta=1.0", 9},
    {"", "QLinearConv", "T[1,2,4,4] f32[] T[] T[3,2,2,2] f32[] T[] f32[] T[]"},
    {"", "QLinearMatMul", "T[2,3] f32[] T[] T[3,4] f32[] T[] f32[] T[]"},
    {"", "QuantizeLinear", "T[2,3] T[]"},
    {"", "RMSNormalization", "T[2,3] T[3]"},
    {"", "RNN", "T[2,1,3] T[1,4,3] T[1,4,4]", "hidden_size=4"},
    {"", "RandomNormal", "", "shape=2,3"},
    {"", "RandomUniform", "", "shape=2,3"},
    {"", "Range", "T[]=0 T[]=3 T[]=1"},
    {"", "RegexFullMatch", "T[2]", "pattern:a.*"},
    {"", "Reshape", "T[2,3] i64[1]=6"},
    {"", "Resize", "T[1,1,2,2] - f32[4]=1,1,2,2"},
    {"", "ReverseSequence", "T[2,3] i64[3]"},
    {"", "RoiAlign", "T[1,1,4,4] T[1,4] i64[1]", "output_height=2 output_width=2"},
    {"", "RotaryEmbedding", "T[1,2,3,4] T[3,2] T[3,2] i64[1,3]"},
    {"", "STFT", "T[1,16,1] i64[]=4 - i64[]=8"},
    {"", "ScaledTanh", "T[2,3]", "alpha=1.0 beta=1.0", 9},
    {"", "Scatter", "T[2,3] i64[1,2] T[1,2]", "", 10},
    {"", "ScatterElements", "T[2,3] i64[1,2] T[1,2]"},
    {"", "ScatterND", "T[4] i64[2,1] T[2]"},
    {"", "SequenceAt", "S[2,3] i64[]=0"},
    {"", "SequenceErase", "S[2,3] i64[]=0"},
    {"", "SequenceInsert", "S[2,3] T[2,3]"},
    {"", "SequenceLength", "S[2,3]"},
    {"", "Slice", "T[2,3] i64[1]=0 i64[1]=1"},
    {"", "SoftmaxCrossEntropyLoss", "T[2,3] i64[2]"},
    {"", "SpaceToDepth", "T[1,1,4,4]", "blocksize=2"},
    {"", "Split", "T[2,4]", "axis=1 num_outputs=2", 0, 2},
    {"", "Squeeze", "T[1,3]"},
    {"", "StringNormalizer", "T[2]", "case_change_action:LOWER"},
    {"", "TensorScatter", "T[1,1,4,2] T[1,1,2,2]"},
    {"", "TfIdfVectorizer", "T[4]", "mode:TF min_gram_length=1 max_gram_length=1 max_skip_count=0 ngram_counts=0, ngram_indexes=0,1 pool_int64s=1,2"},
    {"", "Tile", "T[2,3] i64[2]=1,2"},
    {"", "TopK", "T[2,3] i64[1]=2", "", 0, 2},
    {"", "Trilu", "T[3,3]"},
    {"", "Unsqueeze", "T[2,3] i64[1]=0"},
    {"", "Upsample", "T[1,1,2,2] f32[4]=1,1,2,2", "", 9},
    {"", "Where", "bool[2,3] T[2,3] T[2,3]"},
    {kMl, "ArrayFeatureExtractor", "T[2,3] i64[2]"},
    {kMl, "CastMap", "M[]"},
    {kMl, "CategoryMapper", "T[2]", "cats_int64s=1,2 cats_strings:a|b default_int64=0"},
    {kMl, "DictVectorizer", "M[]", "int64_vocabulary=1,2"},
    {kMl, "FeatureVectorizer", "T[2,3]", "inputdimensions=3,"},
    {kMl, "Imputer", "T[2,3]", "imputed_value_floats=1.0, replaced_value_float=0.0"},
    {kMl, "LabelEncoder", "T[2,3]", "keys_floats=1.0,2.0 values_floats=3.0,4.0"},
    {kMl, "LinearClassifier", "T[2,3]", "coefficients=1.0,2.0,3.0,1.0,1.0,1.0 intercepts=0.0,1.0 classlabels_ints=0,1", 0, 2},
    {kMl, "LinearRegressor", "T[2,3]", "coefficients=1.0,2.0,3.0 intercepts=0.0,"},
    {kMl, "Normalizer", "T[2,3]", "norm:L2"},
    {kMl, "OneHotEncoder", "T[2]", "cats_int64s=0,1"},
    {kMl, "Scaler", "T[2,3]", "offset=1.0, scale=2.0,"},
    {kMl, "SVMRegressor", "T[2,3]", "coefficients=1.0, support_vectors=1.0,1.0,1.0 n_supports=1 rho=0.0, kernel_type:LINEAR kernel_params=0.0,0.0,3.0"},
    {kMl, "SVMClassifier", "T[2,3]", "coefficients=1.0,1.0,1.0,1.0,1.0,1.0 rho=0.0, kernel_type:LINEAR kernel_params=0.0,0.0,3.0 classlabels_ints=0,1", 0, 2},
    {kMl, "TreeEnsembleRegressor", "T[2,3]", "nodes_featureids=0,0,0 nodes_treeids=0,0,0 nodes_nodeids=0,1,2 nodes_modes:BRANCH_LEQ|LEAF|LEAF nodes_values=0.5,0.0,0.0 nodes_truenodeids=1,0,0 nodes_falsenodeids=2,0,0 target_treeids=0,0 target_nodeids=1,2 target_ids=0,0 target_weights=1.0,2.0 n_targets=1"},
    {kMl, "TreeEnsembleClassifier", "T[2,3]", "nodes_featureids=0,0,0 nodes_treeids=0,0,0 nodes_nodeids=0,1,2 nodes_modes:BRANCH_LEQ|LEAF|LEAF nodes_values=0.5,0.0,0.0 nodes_truenodeids=1,0,0 nodes_falsenodeids=2,0,0 class_treeids=0,0 class_nodeids=1,2 class_ids=0,1 class_weights=1.0,2.0 classlabels_int64s=0,1", 0, 2},
    {kMl, "ZipMap", "T[2,3]", "classlabels_int64s=0,1,2"},
    {kTraining, "Adagrad", "f32[] i64[] T[2] T[2] T[2]", "", 0, 2},
    {kTraining, "Adam", "f32[] i64[] T[2] T[2] T[2] T[2]", "", 0, 3},
    {kTraining, "Momentum", "f32[] i64[] T[2] T[2] T[2]", "alpha=0.9 beta=1.0 norm_coefficient=0.1 mode:standard", 0, 2},
    {kPreview, "FlexAttention", "T[1,2,3,4] T[1,2,3,4] T[1,2,3,4]"},
    {kMicrosoft, "ExpandDims", "T[2,3] i32[]=0"},
    {kMicrosoft, "FusedGemm", "T[2,3] T[3,4] T[4]", "activation:Relu"},
    {kMicrosoft, "FusedMatMul", "T[2,3] T[3,4]"},
    {kMicrosoft, "GatherND", "T[2,3] i64[2,1]"},
    {kMicrosoft, "GemmFastGelu", "T[2,3] T[3,4]"},
    {kMicrosoft, "MatMulInteger16", "T[2,3] T[3,4]"},
    {kMicrosoft, "MultiHeadAttention", "T[1,3,8] T[1,3,8] T[1,3,8]", "num_heads=2"},
    {kMicrosoft, "NhwcMaxPool", "T[1,4,4,2]", "kernel_shape=2,2"},
    {kMicrosoft, "Pad", "T[2,3] i64[4]=1,0,0,1"},
    {kMicrosoft, "QLinearAdd", "T[2,3] f32[] T[] T[2,3] f32[] T[] f32[] T[]"},
    {kMicrosoft, "QLinearMul", "T[2,3] f32[] T[] T[2,3] f32[] T[] f32[] T[]"},
    {kMicrosoft, "QLinearLeakyRelu", "T[2,3] f32[] T[] f32[] T[]"},
    {kMicrosoft, "QLinearSigmoid", "T[2,3] f32[] T[] f32[] T[]"},
    {kMicrosoft, "QuantizeLinear", "T[2,3] T[]"},
    {kMicrosoft, "DequantizeLinear", "T[2,3] f32[]"},
    {kMicrosoft, "Range", "T[]=0 T[]=3 T[]=1"},
    {kMicrosoft, "TransposeMatMul", "T[2,3] T[3,4]"},
    {kMicrosoft, "FusedConv", "T[1,2,4,4] T[3,2,2,2]", "activation:Relu"},
};
// clang-format on

std::vector<std::string> SplitAt(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

TensorProto::DataType TypeNamed(const std::string& name,
                                TensorProto::DataType type) {
  if (name == "f32") return TensorProto::FLOAT;
  if (name == "i64") return TensorProto::INT64;
  if (name == "i32") return TensorProto::INT32;
  if (name == "bool") return TensorProto::BOOL;
  if (name == "u8") return TensorProto::UINT8;
  EMBER_CHECK(name == "T") << name;
  return type;
}

void AddInput(GraphProto& graph, const std::string& name,
              TensorProto::DataType type,
              const std::vector<std::string>& dims) {
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name(name);
  auto& tensor = *input.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();
  for (const std::string& dim : dims)
    tensor.mutable_shape()->add_dim()->set_dim_value(std::stoll(dim));
}

void MakeSequence(onnx::ValueInfoProto& input) {
  const onnx::TypeProto element = input.type();
  *input.mutable_type()->mutable_sequence_type()->mutable_elem_type() = element;
}

void MakeMap(onnx::ValueInfoProto& input) {
  const onnx::TypeProto value = input.type();
  onnx::TypeProto::Map& map = *input.mutable_type()->mutable_map_type();
  map.set_key_type(TensorProto::INT64);
  *map.mutable_value_type() = value;
}

// Adds a constant whose elements are in the typed field of the tensor
// (float_data, int32_data …), not in raw_data. Every type of at least 8 bits
// has such a field.
void AddConstant(GraphProto& graph, const std::string& name,
                 TensorProto::DataType type,
                 const std::vector<std::string>& dims,
                 const std::vector<std::string>& numbers) {
  TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const std::string& dim : dims) tensor.add_dims(std::stoll(dim));
  for (const std::string& text : numbers) {
    const int64_t number = std::stoll(text);
    switch (type) {
      case TensorProto::FLOAT:
        tensor.add_float_data(static_cast<float>(number));
        break;
      case TensorProto::DOUBLE:
        tensor.add_double_data(static_cast<double>(number));
        break;
      case TensorProto::INT64:
        tensor.add_int64_data(number);
        break;
      case TensorProto::UINT32:
      case TensorProto::UINT64:
        tensor.add_uint64_data(static_cast<uint64_t>(number));
        break;
      // The bits of f16 and bf16 numbers are written out, because recipes use
      // only the numbers 0, 1 and 3.
      case TensorProto::FLOAT16:
        tensor.add_int32_data(number == 0 ? 0 : number == 1 ? 0x3c00 : 0x4200);
        break;
      case TensorProto::BFLOAT16:
        tensor.add_int32_data(number == 0 ? 0 : number == 1 ? 0x3f80 : 0x4040);
        break;
      default:
        tensor.add_int32_data(static_cast<int32_t>(number));
    }
  }
}

void AddOperand(GraphProto& graph, NodeProto& node, const std::string& text,
                TensorProto::DataType type) {
  if (text == "-") return node.add_input("");
  const std::string name = "x" + std::to_string(node.input_size());
  node.add_input(name);
  const size_t open = text.find('['), close = text.find(']');
  const bool sequence = text[0] == 'S', map = text[0] == 'M';
  const TensorProto::DataType element =
      TypeNamed(sequence || map ? "T" : text.substr(0, open), type);
  const std::vector<std::string> dims =
      SplitAt(text.substr(open + 1, close - open - 1), ',');
  if (close + 1 == text.size()) {
    AddInput(graph, name, element, dims);
    if (sequence) MakeSequence(*graph.mutable_input()->rbegin());
    if (map) MakeMap(*graph.mutable_input()->rbegin());
    return;
  }
  AddConstant(graph, name, element, dims, SplitAt(text.substr(close + 2), ','));
}

void AddAttribute(NodeProto& node, const std::string& text) {
  AttributeProto& attribute = *node.add_attribute();
  const size_t sign = text.find_first_of("=:");
  const std::string value = text.substr(sign + 1);
  attribute.set_name(text.substr(0, sign));
  if (text[sign] == ':') {
    const std::vector<std::string> strings = SplitAt(value, '|');
    if (strings.size() == 1) {
      attribute.set_type(AttributeProto::STRING);
      return attribute.set_s(value);
    }
    attribute.set_type(AttributeProto::STRINGS);
    for (const std::string& string : strings) attribute.add_strings(string);
    return;
  }
  const bool list = value.find(',') != std::string::npos;
  const bool floats = value.find('.') != std::string::npos;
  for (const std::string& number : SplitAt(value, ',')) {
    if (floats && list) attribute.add_floats(std::stof(number));
    if (floats && !list) attribute.set_f(std::stof(number));
    if (!floats && list) attribute.add_ints(std::stoll(number));
    if (!floats && !list) attribute.set_i(std::stoll(number));
  }
  attribute.set_type(floats
                         ? list ? AttributeProto::FLOATS : AttributeProto::FLOAT
                     : list ? AttributeProto::INTS
                            : AttributeProto::INT);
}

std::string DefaultOperands(const onnx::OperatorRow& row) {
  std::string operands;
  for (int i = 0; i < row.minimum_inputs; ++i) operands += "T[2,3] ";
  return operands;
}

void AddOpset(onnx::ModelProto& model, std::string_view domain, int version) {
  auto& import = *model.add_opset_import();
  import.set_domain(std::string(domain));
  import.set_version(version);
}

}  // namespace

onnx::ModelProto ProbeModel(const onnx::OperatorRow& row,
                            TensorProto::DataType type) {
  const Recipe* recipe = nullptr;
  for (const Recipe& candidate : kRecipes) {
    if (candidate.name == row.name && candidate.domain == row.domain)
      recipe = &candidate;
  }
  constexpr int kNewest = 28, kNewestMl = 5;
  onnx::ModelProto model;
  model.set_ir_version(10);
  AddOpset(model, "", recipe && recipe->opset > 0 ? recipe->opset : kNewest);
  if (!row.domain.empty())
    AddOpset(model, row.domain, row.domain == kMl ? kNewestMl : 1);
  NodeProto& node = *model.mutable_graph()->add_node();
  node.set_op_type(std::string(row.name));
  node.set_domain(std::string(row.domain));
  const std::string operands =
      recipe ? std::string(recipe->operands) : DefaultOperands(row);
  for (const std::string& operand : SplitAt(operands, ' '))
    AddOperand(*model.mutable_graph(), node, operand, type);
  if (recipe != nullptr) {
    for (const std::string& attribute : SplitAt(recipe->attributes, ' '))
      AddAttribute(node, attribute);
  }
  for (int i = 0; i < (recipe ? recipe->outputs : 1); ++i) {
    node.add_output("y" + std::to_string(i));
    model.mutable_graph()->add_output()->set_name(node.output(i));
  }
  return model;
}

}  // namespace ember::tests
