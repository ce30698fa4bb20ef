#include "frontends/onnx/registry/attribute_names.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace ember::onnx {
namespace {

constexpr std::string_view kMl = "ai.onnx.ml";

// The newest opsets that kAttributes covers, of the default domain and of
// ai.onnx.ml.
constexpr int kLastOpset = 28;
constexpr int kLastMlOpset = 5;

struct AttributeRow {
  std::string_view domain;
  std::string_view name;
  // The attribute names by opset: "OPSET: NAMES", for each opset that changed
  // them; they hold until the next one. A node must have the attributes whose
  // names end with '!'.
  std::string_view names;
};

// The table follows the pages Changelog and Changelog-ml of ONNX's
// documentation.
constexpr AttributeRow kAttributes[] = {
    {"", "Abs", "1: consumed_inputs 6:"},
    {"", "Acos", "7:"},
    {"", "Acosh", "9:"},
    {"", "Add", "1: axis broadcast consumed_inputs 6: axis broadcast 7:"},
    {"", "AffineGrid", "20: align_corners"},
    {"", "And", "1: axis broadcast 7:"},
    {"", "ArgMax", "1: axis keepdims 12: axis keepdims select_last_index"},
    {"", "ArgMin", "1: axis keepdims 12: axis keepdims select_last_index"},
    {"", "Asin", "7:"},
    {"", "Asinh", "9:"},
    {"", "Atan", "7:"},
    {"", "Atanh", "9:"},
    {"", "Attention",
     "23: is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale "
     "softcap softmax_precision 25: is_causal kv_num_heads left_window_size "
     "q_num_heads qk_matmul_output_mode right_window_size scale softcap "
     "softmax_precision"},
    {"", "AveragePool",
     "1: auto_pad kernel_shape! pads strides 7: auto_pad count_include_pad "
     "kernel_shape! pads strides 10: auto_pad ceil_mode count_include_pad "
     "kernel_shape! pads strides 19: auto_pad ceil_mode count_include_pad "
     "dilations kernel_shape! pads strides"},
    {"", "BatchNormalization",
     "1: consumed_inputs epsilon is_test momentum spatial 6: epsilon is_test "
     "momentum spatial 7: epsilon momentum spatial 9: epsilon momentum 14: "
     "epsilon momentum training_mode"},
    {"", "Bernoulli", "15: dtype seed"},
    {"", "BitCast", "26: to!"},
    {"", "BitShift", "11: direction!"},
    {"", "BitwiseAnd", "18:"},
    {"", "BitwiseNot", "18:"},
    {"", "BitwiseOr", "18:"},
    {"", "BitwiseXor", "18:"},
    {"", "BlackmanWindow", "17: output_datatype periodic"},
    {"", "Cast", "1: to! 19: saturate to! 24: round_mode saturate to!"},
    {"", "CastLike", "15: 19: saturate 24: round_mode saturate"},
    {"", "CausalConvWithState", "27: activation"},
    {"", "Ceil", "1: consumed_inputs 6:"},
    {"", "Celu", "12: alpha"},
    {"", "CenterCropPad", "18: axes"},
    {"", "Clip", "1: consumed_inputs max min 6: max min 11:"},
    {"", "Col2Im", "18: dilations pads strides"},
    {"", "Compress", "9: axis"},
    {"", "Concat", "1: axis 4: axis!"},
    {"", "ConcatFromSequence", "11: axis! new_axis"},
    {"", "ConstantOfShape", "9: value"},
    {"", "Conv", "1: auto_pad dilations group kernel_shape pads strides"},
    {"", "ConvInteger",
     "10: auto_pad dilations group kernel_shape pads strides"},
    {"", "ConvTranspose",
     "1: auto_pad dilations group kernel_shape output_padding output_shape "
     "pads strides"},
    {"", "Cos", "7:"},
    {"", "Cosh", "9:"},
    {"", "CumProd", "26: exclusive reverse"},
    {"", "CumSum", "11: exclusive reverse"},
    {"", "DFT", "17: axis inverse onesided 20: inverse onesided"},
    {"", "DeformConv",
     "19: dilations group kernel_shape offset_group pads strides"},
    {"", "DepthToSpace", "1: blocksize! 11: blocksize! mode"},
    {"", "DequantizeLinear",
     "10: 13: axis 21: axis block_size 23: axis block_size output_dtype"},
    {"", "Det", "11:"},
    {"", "Div", "1: axis broadcast consumed_inputs 6: axis broadcast 7:"},
    {"", "Dropout",
     "1: consumed_inputs is_test ratio 6: is_test ratio 7: ratio 12: seed"},
    {"", "DynamicQuantizeLinear", "11:"},
    {"", "Einsum", "12: equation!"},
    {"", "Elu", "1: alpha consumed_inputs 6: alpha"},
    {"", "Equal", "1: axis broadcast 7:"},
    {"", "Erf", "9:"},
    {"", "Exp", "1: consumed_inputs 6:"},
    {"", "Expand", "8:"},
    {"", "EyeLike", "9: dtype k"},
    {"", "Flatten", "1: axis"},
    {"", "Floor", "1: consumed_inputs 6:"},
    {"", "GRU",
     "1: activation_alpha activation_beta activations clip direction "
     "hidden_size output_sequence 3: activation_alpha activation_beta "
     "activations clip direction hidden_size linear_before_reset "
     "output_sequence 7: activation_alpha activation_beta activations clip "
     "direction hidden_size linear_before_reset 14: activation_alpha "
     "activation_beta activations clip direction hidden_size layout "
     "linear_before_reset"},
    {"", "Gather", "1: axis"},
    {"", "GatherElements", "11: axis"},
    {"", "GatherND", "11: 12: batch_dims"},
    {"", "Gelu", "20: approximate"},
    {"", "Gemm",
     "1: alpha beta broadcast transA transB 7: alpha beta transA transB"},
    {"", "GlobalAveragePool", "1:"},
    {"", "GlobalLpPool", "1: p"},
    {"", "GlobalMaxPool", "1:"},
    {"", "Greater", "1: axis broadcast 7:"},
    {"", "GreaterOrEqual", "12:"},
    {"", "GridSample", "16: align_corners mode padding_mode"},
    {"", "GroupNormalization",
     "18: epsilon num_groups! 21: epsilon num_groups! stash_type"},
    {"", "HammingWindow", "17: output_datatype periodic"},
    {"", "HannWindow", "17: output_datatype periodic"},
    {"", "HardSigmoid", "1: alpha beta consumed_inputs 6: alpha beta"},
    {"", "HardSwish", "14:"},
    {"", "Hardmax", "1: axis"},
    {"", "Identity", "1:"},
    {"", "ImageDecoder", "20: pixel_format"},
    {"", "InstanceNormalization", "1: consumed_inputs epsilon 6: epsilon"},
    {"", "IsInf", "10: detect_negative detect_positive"},
    {"", "IsNaN", "9:"},
    {"", "LRN", "1: alpha beta bias size!"},
    {"", "LSTM",
     "1: activation_alpha activation_beta activations clip direction "
     "hidden_size input_forget output_sequence 7: activation_alpha "
     "activation_beta activations clip direction hidden_size input_forget 14: "
     "activation_alpha activation_beta activations clip direction hidden_size "
     "input_forget layout"},
    {"", "LayerNormalization", "17: axis epsilon stash_type"},
    {"", "LeakyRelu", "1: alpha consumed_inputs 6: alpha"},
    {"", "Less", "1: axis broadcast 7:"},
    {"", "LessOrEqual", "12:"},
    {"", "LinearAttention",
     "27: chunk_size kv_num_heads! q_num_heads! scale update_rule"},
    {"", "Log", "1: consumed_inputs 6:"},
    {"", "LogSoftmax", "1: axis"},
    {"", "LpNormalization", "1: axis p"},
    {"", "LpPool",
     "1: auto_pad kernel_shape p pads strides 2: auto_pad kernel_shape! p pads "
     "strides 18: auto_pad ceil_mode dilations kernel_shape! p pads strides"},
    {"", "MatMul", "1:"},
    {"", "MatMulInteger", "10:"},
    {"", "Max", "1: consumed_inputs 6:"},
    {"", "MaxPool",
     "1: auto_pad kernel_shape! pads strides 8: auto_pad kernel_shape! pads "
     "storage_order strides 10: auto_pad ceil_mode dilations kernel_shape! "
     "pads storage_order strides"},
    {"", "MaxRoiPool", "1: pooled_shape! spatial_scale"},
    {"", "MaxUnpool", "9: kernel_shape! pads strides"},
    {"", "Mean", "1: consumed_inputs 6:"},
    {"", "MeanVarianceNormalization", "9: axes"},
    {"", "MelWeightMatrix", "17: output_datatype"},
    {"", "Min", "1: consumed_inputs 6:"},
    {"", "Mish", "18:"},
    {"", "Mod", "10: fmod"},
    {"", "Mul", "1: axis broadcast consumed_inputs 6: axis broadcast 7:"},
    {"", "Multinomial", "7: dtype sample_size seed"},
    {"", "Neg", "1: consumed_inputs 6:"},
    {"", "NegativeLogLikelihoodLoss", "12: ignore_index reduction"},
    {"", "NonMaxSuppression", "10: center_point_box"},
    {"", "NonZero", "9:"},
    {"", "Not", "1:"},
    {"", "OneHot", "9: axis"},
    {"", "Optional", "15: type"},
    {"", "OptionalGetElement", "15:"},
    {"", "OptionalHasElement", "15:"},
    {"", "Or", "1: axis broadcast 7:"},
    {"", "PRelu", "1: consumed_inputs 6:"},
    {"", "Pad", "1: mode paddings value 2: mode pads value 11: mode"},
    {"", "Pow", "1: axis broadcast 7:"},
    {"", "QLinearConv",
     "10: auto_pad dilations group kernel_shape pads strides"},
    {"", "QLinearMatMul", "10:"},
    {"", "QuantizeLinear",
     "10: 13: axis 19: axis saturate 21: axis block_size output_dtype saturate "
     "23: axis block_size output_dtype precision saturate"},
    {"", "RMSNormalization", "23: axis epsilon stash_type"},
    {"", "RNN",
     "1: activation_alpha activation_beta activations clip direction "
     "hidden_size output_sequence 7: activation_alpha activation_beta "
     "activations clip direction hidden_size 14: activation_alpha "
     "activation_beta activations clip direction hidden_size layout"},
    {"", "RandomNormal", "1: dtype mean scale seed shape!"},
    {"", "RandomNormalLike", "1: dtype mean scale seed"},
    {"", "RandomUniform", "1: dtype high low seed shape!"},
    {"", "RandomUniformLike", "1: dtype high low seed"},
    {"", "Range", "11: 27: stash_type"},
    {"", "Reciprocal", "1: consumed_inputs 6:"},
    {"", "ReduceL1", "1: axes keepdims 18: keepdims noop_with_empty_axes"},
    {"", "ReduceL2", "1: axes keepdims 18: keepdims noop_with_empty_axes"},
    {"", "ReduceLogSum", "1: axes keepdims 18: keepdims noop_with_empty_axes"},
    {"", "ReduceLogSumExp",
     "1: axes keepdims 18: keepdims noop_with_empty_axes"},
    {"", "ReduceMax", "1: axes keepdims 18: keepdims noop_with_empty_axes"},
    {"", "ReduceMean", "1: axes keepdims 18: keepdims noop_with_empty_axes"},
    {"", "ReduceMin", "1: axes keepdims 18: keepdims noop_with_empty_axes"},
    {"", "ReduceProd", "1: axes keepdims 18: keepdims noop_with_empty_axes"},
    {"", "ReduceSum", "1: axes keepdims 13: keepdims noop_with_empty_axes"},
    {"", "ReduceSumSquare",
     "1: axes keepdims 18: keepdims noop_with_empty_axes"},
    {"", "RegexFullMatch", "20: pattern"},
    {"", "Relu", "1: consumed_inputs 6:"},
    {"", "Reshape", "1: consumed_inputs shape 5: 14: allowzero"},
    {"", "Resize",
     "10: mode 11: coordinate_transformation_mode cubic_coeff_a "
     "exclude_outside extrapolation_value mode nearest_mode 18: antialias axes "
     "coordinate_transformation_mode cubic_coeff_a exclude_outside "
     "extrapolation_value keep_aspect_ratio_policy mode nearest_mode"},
    {"", "ReverseSequence", "10: batch_axis time_axis"},
    {"", "RoiAlign",
     "10: mode output_height output_width sampling_ratio spatial_scale 16: "
     "coordinate_transformation_mode mode output_height output_width "
     "sampling_ratio spatial_scale"},
    {"", "RotaryEmbedding", "23: interleaved num_heads rotary_embedding_dim"},
    {"", "Round", "11:"},
    {"", "STFT", "17: onesided"},
    {"", "Scatter", "9: axis"},
    {"", "ScatterElements", "11: axis 16: axis reduction"},
    {"", "ScatterND", "11: 16: reduction"},
    {"", "Selu", "1: alpha consumed_inputs gamma 6: alpha gamma"},
    {"", "SequenceAt", "11:"},
    {"", "SequenceConstruct", "11:"},
    {"", "SequenceEmpty", "11: dtype"},
    {"", "SequenceErase", "11:"},
    {"", "SequenceInsert", "11:"},
    {"", "SequenceLength", "11:"},
    {"", "Shape", "1: 15: end start"},
    {"", "Shrink", "9: bias lambd"},
    {"", "Sigmoid", "1: consumed_inputs 6:"},
    {"", "Sign", "9:"},
    {"", "Sin", "7:"},
    {"", "Sinh", "9:"},
    {"", "Size", "1:"},
    {"", "Slice", "1: axes ends starts 10:"},
    {"", "Softmax", "1: axis"},
    {"", "SoftmaxCrossEntropyLoss", "12: ignore_index reduction"},
    {"", "Softplus", "1:"},
    {"", "Softsign", "1:"},
    {"", "SpaceToDepth", "1: blocksize! 28: blocksize! mode"},
    {"", "Split", "1: axis split 13: axis 18: axis num_outputs"},
    {"", "SplitToSequence", "11: axis keepdims"},
    {"", "Sqrt", "1: consumed_inputs 6:"},
    {"", "Squeeze", "1: axes 13:"},
    {"", "StringConcat", "20:"},
    {"", "StringNormalizer",
     "10: case_change_action is_case_sensitive locale stopwords"},
    {"", "StringSplit", "20: delimiter maxsplit"},
    {"", "Sub", "1: axis broadcast consumed_inputs 6: axis broadcast 7:"},
    {"", "Sum", "1: consumed_inputs 6:"},
    {"", "SwiGLU", "28: alpha"},
    {"", "Swish", "24: alpha"},
    {"", "Tan", "7:"},
    {"", "Tanh", "1: consumed_inputs 6:"},
    {"", "TensorScatter", "24: axis mode"},
    {"", "TfIdfVectorizer",
     "9: max_gram_length! max_skip_count! min_gram_length! mode! ngram_counts! "
     "ngram_indexes! pool_int64s pool_strings weights"},
    {"", "ThresholdedRelu", "10: alpha"},
    {"", "Tile", "1:"},
    {"", "TopK", "1: axis k 10: axis 11: axis largest sorted"},
    {"", "Transpose", "1: perm"},
    {"", "Trilu", "14: upper"},
    {"", "Unique", "11: axis sorted"},
    {"", "Unsqueeze", "1: axes 13:"},
    {"", "Upsample", "1: height_scale mode width_scale 7: mode scales 9: mode"},
    {"", "Where", "9:"},
    {"", "Xor", "1: axis broadcast 7:"},
    {kMl, "ArrayFeatureExtractor", "1:"},
    {kMl, "Binarizer", "1: threshold"},
    {kMl, "CastMap", "1: cast_to map_form max_map"},
    {kMl, "CategoryMapper",
     "1: cats_int64s cats_strings default_int64 default_string"},
    {kMl, "DictVectorizer", "1: int64_vocabulary string_vocabulary"},
    {kMl, "FeatureVectorizer", "1: inputdimensions"},
    {kMl, "Imputer",
     "1: imputed_value_floats imputed_value_int64s replaced_value_float "
     "replaced_value_int64"},
    {kMl, "LabelEncoder",
     "1: classes_strings default_int64 default_string 2: default_float "
     "default_int64 default_string keys_floats keys_int64s keys_strings "
     "values_floats values_int64s values_strings 4: default_float "
     "default_int64 default_string default_tensor keys_floats keys_int64s "
     "keys_strings keys_tensor values_floats values_int64s values_strings "
     "values_tensor"},
    {kMl, "LinearClassifier",
     "1: classlabels_ints classlabels_strings coefficients! intercepts "
     "multi_class post_transform"},
    {kMl, "LinearRegressor",
     "1: coefficients intercepts post_transform targets"},
    {kMl, "Normalizer", "1: norm"},
    {kMl, "OneHotEncoder", "1: cats_int64s cats_strings zeros"},
    {kMl, "SVMClassifier",
     "1: classlabels_ints classlabels_strings coefficients kernel_params "
     "kernel_type post_transform prob_a prob_b rho support_vectors "
     "vectors_per_class"},
    {kMl, "SVMRegressor",
     "1: coefficients kernel_params kernel_type n_supports one_class "
     "post_transform rho support_vectors"},
    {kMl, "Scaler", "1: offset scale"},
    {kMl, "TreeEnsemble",
     "5: aggregate_function leaf_targetids! leaf_weights! membership_values "
     "n_targets nodes_falseleafs! nodes_falsenodeids! nodes_featureids! "
     "nodes_hitrates nodes_missing_value_tracks_true nodes_modes! "
     "nodes_splits! nodes_trueleafs! nodes_truenodeids! post_transform "
     "tree_roots!"},
    {kMl, "TreeEnsembleClassifier",
     "1: base_values class_ids class_nodeids class_treeids class_weights "
     "classlabels_int64s classlabels_strings nodes_falsenodeids "
     "nodes_featureids nodes_hitrates nodes_missing_value_tracks_true "
     "nodes_modes nodes_nodeids nodes_treeids nodes_truenodeids nodes_values "
     "post_transform 3: base_values base_values_as_tensor class_ids "
     "class_nodeids class_treeids class_weights class_weights_as_tensor "
     "classlabels_int64s classlabels_strings nodes_falsenodeids "
     "nodes_featureids nodes_hitrates nodes_hitrates_as_tensor "
     "nodes_missing_value_tracks_true nodes_modes nodes_nodeids nodes_treeids "
     "nodes_truenodeids nodes_values nodes_values_as_tensor post_transform 5:"},
    {kMl, "TreeEnsembleRegressor",
     "1: aggregate_function base_values n_targets nodes_falsenodeids "
     "nodes_featureids nodes_hitrates nodes_missing_value_tracks_true "
     "nodes_modes nodes_nodeids nodes_treeids nodes_truenodeids nodes_values "
     "post_transform target_ids target_nodeids target_treeids target_weights "
     "3: aggregate_function base_values base_values_as_tensor n_targets "
     "nodes_falsenodeids nodes_featureids nodes_hitrates "
     "nodes_hitrates_as_tensor nodes_missing_value_tracks_true nodes_modes "
     "nodes_nodeids nodes_treeids nodes_truenodeids nodes_values "
     "nodes_values_as_tensor post_transform target_ids target_nodeids "
     "target_treeids target_weights target_weights_as_tensor 5:"},
    {kMl, "ZipMap", "1: classlabels_int64s classlabels_strings"},
};

const AttributeRow* FindRow(std::string_view domain, std::string_view name) {
  const auto* row = std::ranges::find_if(kAttributes, [&](const auto& each) {
    return each.name == name && each.domain == domain;
  });
  return row == std::end(kAttributes) ? nullptr : row;
}

struct Names {
  std::set<std::string_view> all;
  std::set<std::string_view> required;
};

// Returns the attribute names that an operator has at an opset; nullopt if the
// operator is only defined from a later opset on.
std::optional<Names> NamesAt(const AttributeRow& row, int opset) {
  std::optional<Names> names;
  std::string_view rest = row.names;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (word.ends_with(':')) {
      int since = 0;
      std::from_chars(word.data(), word.data() + word.size() - 1, since);
      if (since > opset) break;
      names.emplace();
      continue;
    }
    const bool is_required = word.ends_with('!');
    if (is_required) word.remove_suffix(1);
    names->all.insert(word);
    if (is_required) names->required.insert(word);
  }
  return names;
}

std::string Listed(const std::set<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names)
    text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace

Status CheckAttributeNames(const NodeProto& node, std::string_view domain,
                           int opset,
                           const std::set<std::string, std::less<>>& read) {
  if (opset > (domain == kMl ? kLastMlOpset : kLastOpset)) return OkStatus();
  const AttributeRow* row = FindRow(domain, node.op_type());
  if (row == nullptr) return OkStatus();
  std::optional<Names> names = NamesAt(*row, opset);
  if (!names) return OkStatus();
  for (const AttributeProto& attribute : node.attribute()) {
    const std::string& name = attribute.name();
    names->required.erase(name);
    // Old exporters write consumed_inputs at any opset. It says which operands
    // may be overwritten, and changes no result.
    if (names->all.contains(name) || read.contains(name) ||
        name.starts_with("__") || name == "consumed_inputs")
      continue;
    return InvalidArgumentError(
        "attribute '" + name + "': " + node.op_type() +
        " has no such attribute at opset " + std::to_string(opset) +
        (names->all.empty() ? "" : "; it has " + Listed(names->all)));
  }
  if (names->required.empty()) return OkStatus();
  return InvalidArgumentError(
      "attribute '" + std::string(*names->required.begin()) + "' is missing");
}

}  // namespace ember::onnx
