# Chooses and compiles the modules that ./dev mutate and ./dev soak run.
# shellcheck shell=bash

# Names of small models of the corpus, which together have open dims, control flow, sequences,
# strings, quantised operators, 16-bit floats, library calls and dims that depend on data.
MUTATED_MODELS=(
  CNTK_test_LSTM.tanh.bidirectional_model LabelEncoder conv_qdq_s8s8 crop_and_resize
  dynamic_quantize_matmul_int8 gpt2_megatron identity_string js_node_test_testdata_test_types_string
  nhwc_resize_sizes_opset18.quant ort_github_issue_26272_dds sequence_insert
  sklearn_bin_voting_classifier_soft subgraph_input_shadows_outer_scope_value
  three_layer_nested_subgraph transform_constant_float16_topk transform_cse_cse_subgraph
  transform_fp16model_loop transform_fusion_attention_symbolic_batch
  transform_fusion_simplified_layer_norm_with_casts transform_qdq_conv transform_scan9_sum
)

# Sets CONFIG, ARGS and MODULES from arguments. If no modules are given, the models
# of MUTATED_MODELS are compiled.
split_module_arguments() {
  local arg name bin
  CONFIG=() ARGS=() MODULES=()
  for arg in "$@"; do
    case "$arg" in
      --config=*) CONFIG+=("$arg") ;;
      *.vmfb) MODULES+=("$arg") ;;
      *) ARGS+=("$arg") ;;
    esac
  done
  need_setup test
  ((${#MODULES[@]} == 0)) || return 0
  bazel build //tools:vm-compile //samples/digits:digits.onnx
  bin="$(bazel_bin)"
  mkdir -p "$CACHE/mutated"
  "$bin/tools/vm-compile" "$bin/samples/digits/digits.onnx" -o "$CACHE/mutated/digits.vmfb" >/dev/null
  MODULES=("$CACHE/mutated/digits.vmfb")
  for name in "${MUTATED_MODELS[@]}"; do
    "$bin/tools/vm-compile" "$SHARED/corpus/onnx-graphs/$name/model.onnx" -o "$CACHE/mutated/$name.vmfb" >/dev/null
    MODULES+=("$CACHE/mutated/$name.vmfb")
  done
}
