// The operators that MXNet 1.x registers and a symbol for prediction may hold,
// aliases included, as its documentation and sources list them: how each is
// imported, or why it is not. Names outside the list are refused, too, without
// a reason. Operators of numpy's interface (_np…, _npi…, _npx…) share one row,
// by their prefix.
//
//   row(name, minimum inputs, maximum inputs, function)
//   scalar(name, function)   a function of each element (ops/functions.h)
//   no(name, reason)
//
// A row without its function does not build. Names are unique, which a test
// checks. Operators that only training has (_backward…) are not listed.
#ifndef EMBER_FRONTENDS_MXNET_OPERATOR_TABLE_H_
#define EMBER_FRONTENDS_MXNET_OPERATOR_TABLE_H_

#include <span>
#include <string_view>

#include "frontends/mxnet/node_context.h"

namespace ember::mxnet {

inline constexpr int kManyInputs = 1 << 20;

// clang-format off
#define EMBER_MXNET_OPERATORS(row, scalar, no) \
  no(_adamw_update, kTraining) \
  row(_add, 2, 2, ImportAdd) \
  row(_arange, 0, 0, ImportArange) \
  no(_CachedOp, kBackend) \
  no(_cond, kControl) \
  row(_contrib_AdaptiveAvgPooling2D, 1, 1, ImportAdaptiveAvgPooling) \
  no(_contrib_allclose, kNotYet) \
  no(_contrib_arange_like, kNotYet) \
  no(_contrib_backward_gradientmultiplier, kNotYet) \
  no(_contrib_BilinearResize2D, kSampling) \
  row(_contrib_bipartite_matching, 1, 1, ImportBipartiteMatching) \
  no(_contrib_boolean_mask, kNotYet) \
  row(_contrib_box_decode, 2, 2, ImportBoxDecode) \
  row(_contrib_box_encode, 6, 6, ImportBoxEncode) \
  row(_contrib_box_iou, 2, 2, ImportBoxIou) \
  row(_contrib_box_nms, 1, 1, ImportBoxNms) \
  row(_contrib_box_non_maximum_suppression, 1, 1, ImportBoxNms) \
  no(_contrib_calibrate_entropy, kQuantized) \
  no(_contrib_count_sketch, kNotYet) \
  no(_contrib_ctc_loss, kTraining) \
  no(_contrib_CTCLoss, kTraining) \
  row(_contrib_DeformableConvolution, 3, 4, ImportDeformableConvolution) \
  no(_contrib_DeformablePSROIPooling, kDetection) \
  no(_contrib_dequantize, kQuantized) \
  no(_contrib_dgl_adjacency, kSparse) \
  no(_contrib_dgl_csr_neighbor_non_uniform_sample, kSparse) \
  no(_contrib_dgl_csr_neighbor_uniform_sample, kSparse) \
  no(_contrib_dgl_graph_compact, kSparse) \
  no(_contrib_dgl_subgraph, kSparse) \
  row(_contrib_div_sqrt_dim, 1, 1, ImportDivSqrtDim) \
  no(_contrib_dynamic_reshape, kNotYet) \
  no(_contrib_edge_id, kSparse) \
  no(_contrib_fft, kNotYet) \
  no(_contrib_getnnz, kSparse) \
  row(_contrib_gradientmultiplier, 1, 2, ImportIdentity) \
  no(_contrib_group_adagrad_update, kTraining) \
  no(_contrib_hawkesll, kNotYet) \
  no(_contrib_ifft, kNotYet) \
  no(_contrib_index_array, kNotYet) \
  no(_contrib_index_copy, kNotYet) \
  no(_contrib_interleaved_matmul_encdec_qk, kNotYet) \
  no(_contrib_interleaved_matmul_encdec_valatt, kNotYet) \
  no(_contrib_interleaved_matmul_selfatt_qk, kNotYet) \
  no(_contrib_interleaved_matmul_selfatt_valatt, kNotYet) \
  no(_contrib_intgemm_fully_connected, kQuantized) \
  no(_contrib_intgemm_maxabsolute, kQuantized) \
  no(_contrib_intgemm_prepare_data, kQuantized) \
  no(_contrib_intgemm_prepare_weight, kQuantized) \
  no(_contrib_intgemm_take_weight, kQuantized) \
  no(_contrib_krprod, kLinearAlgebra) \
  row(_contrib_ModulatedDeformableConvolution, 4, 5, ImportModulatedDeformableConvolution) \
  no(_contrib_mrcnn_mask_target, kDetection) \
  row(_contrib_MultiBoxDetection, 3, 3, ImportMultiBoxDetection) \
  row(_contrib_MultiBoxPrior, 1, 1, ImportMultiBoxPrior) \
  no(_contrib_MultiBoxTarget, kDetection) \
  row(_contrib_MultiProposal, 3, 3, ImportRegionProposal) \
  row(_contrib_Proposal, 3, 3, ImportRegionProposal) \
  row(_contrib_PSROIPooling, 2, 2, ImportPsRoiPooling) \
  no(_contrib_quadratic, kNotYet) \
  no(_contrib_quantize, kQuantized) \
  no(_contrib_quantize_v2, kQuantized) \
  no(_contrib_quantized_act, kQuantized) \
  no(_contrib_quantized_batch_norm, kQuantized) \
  no(_contrib_quantized_concat, kQuantized) \
  no(_contrib_quantized_conv, kQuantized) \
  no(_contrib_quantized_elemwise_add, kQuantized) \
  no(_contrib_quantized_elemwise_mul, kQuantized) \
  no(_contrib_quantized_embedding, kQuantized) \
  no(_contrib_quantized_flatten, kQuantized) \
  no(_contrib_quantized_fully_connected, kQuantized) \
  no(_contrib_quantized_npi_add, kQuantized) \
  no(_contrib_quantized_pooling, kQuantized) \
  no(_contrib_quantized_reshape, kQuantized) \
  no(_contrib_quantized_rnn, kQuantized) \
  no(_contrib_quantized_transpose, kQuantized) \
  no(_contrib_requantize, kQuantized) \
  row(_contrib_ROIAlign, 2, 2, ImportRoiAlign) \
  no(_contrib_round_ste, kNotYet) \
  no(_contrib_RROIAlign, kDetection) \
  no(_contrib_sign_ste, kNotYet) \
  no(_contrib_sldwin_atten_context, kNotYet) \
  no(_contrib_sldwin_atten_mask_like, kNotYet) \
  no(_contrib_sldwin_atten_score, kNotYet) \
  row(_contrib_SparseEmbedding, 2, 2, ImportEmbedding) \
  row(_contrib_SyncBatchNorm, 5, 5, ImportBatchNorm) \
  row(_copy, 1, 2, ImportIdentity) \
  no(_crop_assign, kNotYet) \
  no(_crop_assign_scalar, kNotYet) \
  no(_CustomFunction, kCode) \
  no(_cvcopyMakeBorder, kNotYet) \
  no(_cvimdecode, kNotYet) \
  no(_cvimread, kNotYet) \
  no(_cvimresize, kNotYet) \
  row(_Div, 2, 2, ImportDivide) \
  row(_div, 2, 2, ImportDivide) \
  row(_div_scalar, 1, 1, ImportDivideScalar) \
  row(_DivScalar, 1, 1, ImportDivideScalar) \
  row(_Equal, 2, 2, ImportEqual) \
  row(_equal, 2, 2, ImportEqual) \
  row(_equal_scalar, 1, 1, ImportEqualScalar) \
  row(_EqualScalar, 1, 1, ImportEqualScalar) \
  no(_eye, kNotYet) \
  no(_foreach, kControl) \
  row(_full, 0, 0, ImportFull) \
  no(_FusedOp, kBackend) \
  no(_FusedOpHelper, kBackend) \
  no(_FusedOpOutHelper, kBackend) \
  row(_grad_add, 2, 2, ImportAdd) \
  row(_Greater, 2, 2, ImportGreater) \
  row(_greater, 2, 2, ImportGreater) \
  row(_Greater_Equal, 2, 2, ImportGreaterEqual) \
  row(_greater_equal, 2, 2, ImportGreaterEqual) \
  row(_greater_equal_scalar, 1, 1, ImportGreaterEqualScalar) \
  row(_greater_scalar, 1, 1, ImportGreaterScalar) \
  row(_GreaterEqualScalar, 1, 1, ImportGreaterEqualScalar) \
  row(_GreaterScalar, 1, 1, ImportGreaterScalar) \
  no(_histogram, kNotYet) \
  row(_Hypot, 2, 2, ImportHypot) \
  row(_hypot, 2, 2, ImportHypot) \
  row(_hypot_scalar, 1, 1, ImportHypotScalar) \
  row(_HypotScalar, 1, 1, ImportHypotScalar) \
  row(_identity_with_attr_like_rhs, 1, 2, ImportIdentity) \
  no(_image_adjust_lighting, kNotYet) \
  no(_image_crop, kNotYet) \
  no(_image_flip_left_right, kNotYet) \
  no(_image_flip_top_bottom, kNotYet) \
  no(_image_normalize, kNotYet) \
  no(_image_random_brightness, kNotYet) \
  no(_image_random_color_jitter, kNotYet) \
  no(_image_random_contrast, kNotYet) \
  no(_image_random_crop, kNotYet) \
  no(_image_random_flip_left_right, kNotYet) \
  no(_image_random_flip_top_bottom, kNotYet) \
  no(_image_random_hue, kNotYet) \
  no(_image_random_lighting, kNotYet) \
  no(_image_random_resized_crop, kNotYet) \
  no(_image_random_saturation, kNotYet) \
  no(_image_resize, kNotYet) \
  no(_image_to_tensor, kNotYet) \
  no(_imdecode, kNotYet) \
  row(_Lesser, 2, 2, ImportLesser) \
  row(_lesser, 2, 2, ImportLesser) \
  row(_Lesser_Equal, 2, 2, ImportLesserEqual) \
  row(_lesser_equal, 2, 2, ImportLesserEqual) \
  row(_lesser_equal_scalar, 1, 1, ImportLesserEqualScalar) \
  row(_lesser_scalar, 1, 1, ImportLesserScalar) \
  row(_LesserEqualScalar, 1, 1, ImportLesserEqualScalar) \
  row(_LesserScalar, 1, 1, ImportLesserScalar) \
  no(_linalg_det, kLinearAlgebra) \
  no(_linalg_extractdiag, kLinearAlgebra) \
  no(_linalg_extracttrian, kLinearAlgebra) \
  no(_linalg_gelqf, kLinearAlgebra) \
  no(_linalg_gemm, kLinearAlgebra) \
  row(_linalg_gemm2, 2, 2, ImportGemm2) \
  no(_linalg_inverse, kLinearAlgebra) \
  no(_linalg_makediag, kLinearAlgebra) \
  no(_linalg_maketrian, kLinearAlgebra) \
  no(_linalg_potrf, kLinearAlgebra) \
  no(_linalg_potri, kLinearAlgebra) \
  no(_linalg_slogdet, kLinearAlgebra) \
  no(_linalg_sumlogdiag, kLinearAlgebra) \
  no(_linalg_syevd, kLinearAlgebra) \
  no(_linalg_syrk, kLinearAlgebra) \
  no(_linalg_trmm, kLinearAlgebra) \
  no(_linalg_trsm, kLinearAlgebra) \
  no(_linspace, kNotYet) \
  row(_Logical_And, 2, 2, ImportLogicalAnd) \
  row(_logical_and, 2, 2, ImportLogicalAnd) \
  row(_logical_and_scalar, 1, 1, ImportLogicalAndScalar) \
  row(_Logical_Or, 2, 2, ImportLogicalOr) \
  row(_logical_or, 2, 2, ImportLogicalOr) \
  row(_logical_or_scalar, 1, 1, ImportLogicalOrScalar) \
  row(_Logical_Xor, 2, 2, ImportLogicalXor) \
  row(_logical_xor, 2, 2, ImportLogicalXor) \
  row(_logical_xor_scalar, 1, 1, ImportLogicalXorScalar) \
  row(_LogicalAndScalar, 1, 1, ImportLogicalAndScalar) \
  row(_LogicalOrScalar, 1, 1, ImportLogicalOrScalar) \
  row(_LogicalXorScalar, 1, 1, ImportLogicalXorScalar) \
  row(_Maximum, 2, 2, ImportMaximum) \
  row(_maximum, 2, 2, ImportMaximum) \
  row(_maximum_scalar, 1, 1, ImportMaximumScalar) \
  row(_MaximumScalar, 1, 1, ImportMaximumScalar) \
  row(_Minimum, 2, 2, ImportMinimum) \
  row(_minimum, 2, 2, ImportMinimum) \
  row(_minimum_scalar, 1, 1, ImportMinimumScalar) \
  row(_MinimumScalar, 1, 1, ImportMinimumScalar) \
  row(_Minus, 2, 2, ImportSubtract) \
  row(_minus, 2, 2, ImportSubtract) \
  row(_minus_scalar, 1, 1, ImportSubtractScalar) \
  row(_MinusScalar, 1, 1, ImportSubtractScalar) \
  row(_Mod, 2, 2, ImportModulo) \
  row(_mod, 2, 2, ImportModulo) \
  row(_mod_scalar, 1, 1, ImportModuloScalar) \
  row(_ModScalar, 1, 1, ImportModuloScalar) \
  no(_mp_adamw_update, kTraining) \
  row(_Mul, 2, 2, ImportMultiply) \
  row(_mul, 2, 2, ImportMultiply) \
  row(_mul_scalar, 1, 1, ImportMultiplyScalar) \
  row(_MulScalar, 1, 1, ImportMultiplyScalar) \
  no(_multi_adamw_update, kTraining) \
  no(_multi_lamb_update, kTraining) \
  no(_multi_mp_adamw_update, kTraining) \
  no(_multi_mp_lamb_update, kTraining) \
  no(_Native, kCode) \
  no(_NDArray, kCode) \
  no(_NoGradient, kCode) \
  row(_Not_Equal, 2, 2, ImportNotEqual) \
  row(_not_equal, 2, 2, ImportNotEqual) \
  row(_not_equal_scalar, 1, 1, ImportNotEqualScalar) \
  row(_NotEqualScalar, 1, 1, ImportNotEqualScalar) \
  no(_onehot_encode, kNotYet) \
  row(_ones, 0, 0, ImportOnes) \
  row(_Plus, 2, 2, ImportAdd) \
  row(_plus, 2, 2, ImportAdd) \
  row(_plus_scalar, 1, 1, ImportAddScalar) \
  row(_PlusScalar, 1, 1, ImportAddScalar) \
  row(_Power, 2, 2, ImportPower) \
  row(_power, 2, 2, ImportPower) \
  row(_power_scalar, 1, 1, ImportPowerScalar) \
  row(_PowerScalar, 1, 1, ImportPowerScalar) \
  no(_random_exponential, kRandom) \
  no(_random_exponential_like, kRandom) \
  no(_random_gamma, kRandom) \
  no(_random_gamma_like, kRandom) \
  no(_random_generalized_negative_binomial, kRandom) \
  no(_random_generalized_negative_binomial_like, kRandom) \
  no(_random_negative_binomial, kRandom) \
  no(_random_negative_binomial_like, kRandom) \
  no(_random_normal, kRandom) \
  no(_random_normal_like, kRandom) \
  no(_random_pdf_dirichlet, kRandom) \
  no(_random_pdf_exponential, kRandom) \
  no(_random_pdf_gamma, kRandom) \
  no(_random_pdf_generalized_negative_binomial, kRandom) \
  no(_random_pdf_negative_binomial, kRandom) \
  no(_random_pdf_normal, kRandom) \
  no(_random_pdf_poisson, kRandom) \
  no(_random_pdf_uniform, kRandom) \
  no(_random_poisson, kRandom) \
  no(_random_poisson_like, kRandom) \
  no(_random_randint, kRandom) \
  no(_random_uniform, kRandom) \
  no(_random_uniform_like, kRandom) \
  no(_rarange, kNotYet) \
  no(_ravel_multi_index, kNotYet) \
  row(_rdiv_scalar, 1, 1, ImportReverseDivideScalar) \
  row(_RDivScalar, 1, 1, ImportReverseDivideScalar) \
  row(_rminus_scalar, 1, 1, ImportReverseSubtractScalar) \
  row(_RMinusScalar, 1, 1, ImportReverseSubtractScalar) \
  row(_rmod_scalar, 1, 1, ImportReverseModuloScalar) \
  row(_RModScalar, 1, 1, ImportReverseModuloScalar) \
  row(_rnn_param_concat, 1, kManyInputs, ImportConcat) \
  row(_rpower_scalar, 1, 1, ImportReversePowerScalar) \
  row(_RPowerScalar, 1, 1, ImportReversePowerScalar) \
  no(_sample_exponential, kRandom) \
  no(_sample_gamma, kRandom) \
  no(_sample_generalized_negative_binomial, kRandom) \
  no(_sample_multinomial, kRandom) \
  no(_sample_negative_binomial, kRandom) \
  no(_sample_normal, kRandom) \
  no(_sample_poisson, kRandom) \
  no(_sample_uniform, kRandom) \
  no(_sample_unique_zipfian, kRandom) \
  no(_scatter_elemwise_div, kSparse) \
  no(_scatter_minus_scalar, kSparse) \
  no(_scatter_plus_scalar, kSparse) \
  no(_scatter_set_nd, kSparse) \
  no(_set_value, kNotYet) \
  no(_sg_mkldnn_conv, kBackend) \
  no(_sg_mkldnn_fully_connected, kBackend) \
  no(_sg_mkldnn_selfatt_qk, kBackend) \
  no(_sg_mkldnn_selfatt_valatt, kBackend) \
  no(_shuffle, kRandom) \
  no(_slice_assign, kNotYet) \
  no(_slice_assign_scalar, kNotYet) \
  no(_sparse_adagrad_update, kTraining) \
  no(_sparse_retain, kSparse) \
  no(_split_v2, kNotYet) \
  no(_square_sum, kSparse) \
  row(_sub, 2, 2, ImportSubtract) \
  no(_subgraph_op, kBackend) \
  row(_sum, 1, kManyInputs, ImportAddN) \
  no(_TensorRT, kBackend) \
  no(_unravel_index, kNotYet) \
  no(_while_loop, kControl) \
  row(_zeros, 0, 0, ImportZeros) \
  scalar(abs, Absolute) \
  row(Activation, 1, 1, ImportActivation) \
  no(adam_update, kTraining) \
  row(add_n, 1, kManyInputs, ImportAddN) \
  no(all_finite, kTraining) \
  row(amp_cast, 1, 1, ImportCast) \
  no(amp_multicast, kTraining) \
  scalar(arccos, Acos) \
  scalar(arccosh, Acosh) \
  scalar(arcsin, Asin) \
  scalar(arcsinh, Asinh) \
  scalar(arctan, Atan) \
  scalar(arctanh, Atanh) \
  row(argmax, 1, 1, ImportArgmax) \
  row(argmax_channel, 1, 1, ImportArgmaxChannel) \
  row(argmin, 1, 1, ImportArgmin) \
  no(argsort, kNotYet) \
  row(batch_dot, 2, 2, ImportBatchDot) \
  no(batch_take, kNotYet) \
  row(BatchNorm, 5, 5, ImportBatchNorm) \
  row(BatchNorm_v1, 5, 5, ImportBatchNorm) \
  no(BilinearSampler, kSampling) \
  row(BlockGrad, 1, 2, ImportIdentity) \
  row(broadcast_add, 2, 2, ImportAdd) \
  row(broadcast_axes, 1, 1, ImportBroadcastAxis) \
  row(broadcast_axis, 1, 1, ImportBroadcastAxis) \
  row(broadcast_div, 2, 2, ImportDivide) \
  row(broadcast_equal, 2, 2, ImportEqual) \
  row(broadcast_greater, 2, 2, ImportGreater) \
  row(broadcast_greater_equal, 2, 2, ImportGreaterEqual) \
  row(broadcast_hypot, 2, 2, ImportHypot) \
  row(broadcast_lesser, 2, 2, ImportLesser) \
  row(broadcast_lesser_equal, 2, 2, ImportLesserEqual) \
  row(broadcast_like, 2, 2, ImportBroadcastLike) \
  row(broadcast_logical_and, 2, 2, ImportLogicalAnd) \
  row(broadcast_logical_or, 2, 2, ImportLogicalOr) \
  row(broadcast_logical_xor, 2, 2, ImportLogicalXor) \
  row(broadcast_maximum, 2, 2, ImportMaximum) \
  row(broadcast_minimum, 2, 2, ImportMinimum) \
  row(broadcast_minus, 2, 2, ImportSubtract) \
  row(broadcast_mod, 2, 2, ImportModulo) \
  row(broadcast_mul, 2, 2, ImportMultiply) \
  row(broadcast_not_equal, 2, 2, ImportNotEqual) \
  row(broadcast_plus, 2, 2, ImportAdd) \
  row(broadcast_power, 2, 2, ImportPower) \
  row(broadcast_sub, 2, 2, ImportSubtract) \
  row(broadcast_to, 1, 1, ImportBroadcastTo) \
  row(Cast, 1, 1, ImportCast) \
  row(cast, 1, 1, ImportCast) \
  no(cast_storage, kSparse) \
  scalar(cbrt, Cbrt) \
  scalar(ceil, Ceil) \
  row(choose_element_0index, 2, 2, ImportPick) \
  row(clip, 1, 1, ImportClip) \
  no(col2im, kNotYet) \
  row(Concat, 1, kManyInputs, ImportConcat) \
  row(concat, 1, kManyInputs, ImportConcat) \
  row(Convolution, 2, 3, ImportConvolution) \
  row(Convolution_v1, 2, 3, ImportConvolution) \
  no(Correlation, kSampling) \
  scalar(cos, Cos) \
  scalar(cosh, Cosh) \
  row(Crop, 1, 2, ImportCrop) \
  row(crop, 1, 1, ImportSlice) \
  no(ctc_loss, kTraining) \
  no(CTCLoss, kTraining) \
  row(CuDNNBatchNorm, 5, 5, ImportBatchNorm) \
  no(Custom, kCode) \
  row(Deconvolution, 2, 3, ImportDeconvolution) \
  scalar(degrees, Degrees) \
  row(depth_to_space, 1, 1, ImportDepthToSpace) \
  no(diag, kNotYet) \
  scalar(digamma, Digamma) \
  row(dot, 2, 2, ImportDot) \
  row(Dropout, 1, 2, ImportIdentity) \
  row(ElementWiseSum, 1, kManyInputs, ImportAddN) \
  row(elemwise_add, 2, 2, ImportAdd) \
  row(elemwise_div, 2, 2, ImportDivide) \
  row(elemwise_mul, 2, 2, ImportMultiply) \
  row(elemwise_sub, 2, 2, ImportSubtract) \
  row(Embedding, 2, 2, ImportEmbedding) \
  scalar(erf, Erf) \
  scalar(erfinv, ErfInverse) \
  scalar(exp, Exp) \
  row(expand_dims, 1, 1, ImportExpandDims) \
  scalar(expm1, Expm1) \
  no(fill_element_0index, kNotYet) \
  scalar(fix, Truncate) \
  row(Flatten, 1, 1, ImportFlatten) \
  row(flatten, 1, 1, ImportFlatten) \
  row(flip, 1, 1, ImportReverse) \
  scalar(floor, Floor) \
  no(ftml_update, kTraining) \
  no(ftrl_update, kTraining) \
  row(FullyConnected, 2, 3, ImportFullyConnected) \
  no(gamma, kNotYet) \
  scalar(gammaln, LogGamma) \
  row(gather_nd, 2, 2, ImportGatherNd) \
  no(GridGenerator, kSampling) \
  row(GroupNorm, 3, 3, ImportGroupNorm) \
  row(hard_sigmoid, 1, 1, ImportHardSigmoid) \
  no(hard_swish, kNotYet) \
  no(histogram, kNotYet) \
  row(identity, 1, 2, ImportIdentity) \
  row(IdentityAttachKLSparseReg, 1, 2, ImportIdentity) \
  no(im2col, kNotYet) \
  row(InstanceNorm, 3, 3, ImportInstanceNorm) \
  no(khatri_rao, kLinearAlgebra) \
  row(L2Normalization, 1, 1, ImportL2Normalization) \
  no(lamb_update_phase1, kTraining) \
  no(lamb_update_phase2, kTraining) \
  row(LayerNorm, 3, 3, ImportLayerNorm) \
  row(LeakyReLU, 1, 2, ImportLeakyReLU) \
  no(linalg_det, kLinearAlgebra) \
  no(linalg_extractdiag, kLinearAlgebra) \
  no(linalg_extracttrian, kLinearAlgebra) \
  no(linalg_gelqf, kLinearAlgebra) \
  no(linalg_gemm, kLinearAlgebra) \
  row(linalg_gemm2, 2, 2, ImportGemm2) \
  no(linalg_inverse, kLinearAlgebra) \
  no(linalg_makediag, kLinearAlgebra) \
  no(linalg_maketrian, kLinearAlgebra) \
  no(linalg_potrf, kLinearAlgebra) \
  no(linalg_potri, kLinearAlgebra) \
  no(linalg_slogdet, kLinearAlgebra) \
  no(linalg_sumlogdiag, kLinearAlgebra) \
  no(linalg_syevd, kLinearAlgebra) \
  no(linalg_syrk, kLinearAlgebra) \
  no(linalg_trmm, kLinearAlgebra) \
  no(linalg_trsm, kLinearAlgebra) \
  row(LinearRegressionOutput, 1, 2, ImportIdentity) \
  scalar(log, Log) \
  scalar(log10, Log10) \
  scalar(log1p, Log1p) \
  scalar(log2, Log2) \
  scalar(log_sigmoid, LogSigmoid) \
  row(log_softmax, 1, 2, ImportLogSoftmax) \
  row(logical_not, 1, 1, ImportLogicalNot) \
  row(LogisticRegressionOutput, 1, 2, ImportLogisticOutput) \
  row(LRN, 1, 1, ImportLRN) \
  row(MAERegressionOutput, 1, 2, ImportIdentity) \
  row(make_loss, 1, 2, ImportIdentity) \
  row(MakeLoss, 1, 2, ImportIdentity) \
  row(max, 1, 1, ImportMax) \
  row(max_axis, 1, 1, ImportMax) \
  row(mean, 1, 1, ImportMean) \
  row(min, 1, 1, ImportMin) \
  row(min_axis, 1, 1, ImportMin) \
  scalar(mish, Mish) \
  no(moments, kNotYet) \
  no(mp_lamb_update_phase1, kTraining) \
  no(mp_lamb_update_phase2, kTraining) \
  no(mp_nag_mom_update, kTraining) \
  no(mp_sgd_mom_update, kTraining) \
  no(mp_sgd_update, kTraining) \
  no(multi_all_finite, kTraining) \
  no(multi_lars, kTraining) \
  no(multi_mp_sgd_mom_update, kTraining) \
  no(multi_mp_sgd_update, kTraining) \
  no(multi_sgd_mom_update, kTraining) \
  no(multi_sgd_update, kTraining) \
  no(multi_sum_sq, kTraining) \
  no(nag_mom_update, kTraining) \
  no(nanprod, kNotYet) \
  no(nansum, kNotYet) \
  scalar(negative, Negate) \
  row(norm, 1, 1, ImportNorm) \
  no(normal, kRandom) \
  row(one_hot, 1, 1, ImportOneHot) \
  row(ones_like, 1, 1, ImportOnesLike) \
  row(Pad, 1, 1, ImportPad) \
  row(pad, 1, 1, ImportPad) \
  row(pick, 2, 2, ImportPick) \
  row(Pooling, 1, 1, ImportPooling) \
  row(Pooling_v1, 1, 1, ImportPooling) \
  no(preloaded_multi_mp_sgd_mom_update, kTraining) \
  no(preloaded_multi_mp_sgd_update, kTraining) \
  no(preloaded_multi_sgd_mom_update, kTraining) \
  no(preloaded_multi_sgd_update, kTraining) \
  row(prod, 1, 1, ImportProd) \
  scalar(radians, Radians) \
  no(ravel_multi_index, kNotYet) \
  scalar(reciprocal, Reciprocal) \
  scalar(relu, Relu) \
  row(repeat, 1, 1, ImportRepeat) \
  no(reset_arrays, kTraining) \
  row(Reshape, 1, 1, ImportReshape) \
  row(reshape, 1, 1, ImportReshape) \
  row(reshape_like, 2, 2, ImportReshapeLike) \
  row(reverse, 1, 1, ImportReverse) \
  scalar(rint, Round) \
  no(rmsprop_update, kTraining) \
  no(rmspropalex_update, kTraining) \
  row(RNN, 3, 4, ImportRecurrent) \
  row(ROIPooling, 2, 2, ImportRoiPooling) \
  scalar(round, RoundHalfAway) \
  scalar(rsqrt, Rsqrt) \
  no(scatter_nd, kNotYet) \
  row(SequenceLast, 1, 2, ImportSequenceLast) \
  row(SequenceMask, 1, 2, ImportSequenceMask) \
  row(SequenceReverse, 1, 2, ImportSequenceReverse) \
  no(sgd_mom_update, kTraining) \
  no(sgd_update, kTraining) \
  row(shape_array, 1, 1, ImportShape) \
  scalar(sigmoid, Sigmoid) \
  scalar(sign, SignNanZero) \
  no(signsgd_update, kTraining) \
  no(signum_update, kTraining) \
  scalar(sin, Sin) \
  scalar(sinh, Sinh) \
  no(size_array, kNotYet) \
  row(slice, 1, 1, ImportSlice) \
  row(slice_axis, 1, 1, ImportSliceAxis) \
  row(slice_like, 2, 2, ImportSliceLike) \
  row(SliceChannel, 1, 1, ImportSplit) \
  row(smooth_l1, 1, 1, ImportSmoothL1) \
  row(Softmax, 1, 2, ImportSoftmaxOutput) \
  row(softmax, 1, 2, ImportSoftmax) \
  no(softmax_cross_entropy, kTraining) \
  row(SoftmaxActivation, 1, 1, ImportSoftmaxActivation) \
  row(SoftmaxOutput, 1, 2, ImportSoftmaxOutput) \
  row(softmin, 1, 1, ImportSoftmin) \
  scalar(softsign, Softsign) \
  no(sort, kNotYet) \
  row(space_to_depth, 1, 1, ImportSpaceToDepth) \
  no(sparse_retain, kSparse) \
  no(SpatialTransformer, kSampling) \
  row(split, 1, 1, ImportSplit) \
  scalar(sqrt, Sqrt) \
  scalar(square, Square) \
  row(squeeze, 1, 1, ImportSqueeze) \
  row(stack, 1, kManyInputs, ImportStack) \
  row(stop_gradient, 1, 2, ImportIdentity) \
  row(sum, 1, 1, ImportSum) \
  row(sum_axis, 1, 1, ImportSum) \
  row(SVMOutput, 1, 2, ImportIdentity) \
  row(swapaxes, 1, 1, ImportSwapAxis) \
  row(SwapAxis, 1, 1, ImportSwapAxis) \
  row(take, 2, 2, ImportTake) \
  scalar(tan, Tan) \
  scalar(tanh, Tanh) \
  row(tile, 1, 1, ImportTile) \
  row(topk, 1, 1, ImportTopK) \
  row(transpose, 1, 1, ImportTranspose) \
  scalar(trunc, Truncate) \
  no(uniform, kRandom) \
  no(unravel_index, kNotYet) \
  row(UpSampling, 1, kManyInputs, ImportUpSampling) \
  row(where, 3, 3, ImportWhere) \
  row(zeros_like, 1, 1, ImportZerosLike)
// clang-format on

using ImportFunction = void (*)(NodeContext& c);

struct OperatorRow {
  std::string_view name;
  int minimum_inputs = 0;
  int maximum_inputs = 0;
  ImportFunction import = nullptr;
  // If not empty, the operator is unsupported, and this text is the reason.
  std::string_view reason = "";
};

// Declares the import functions of all rows. They are defined in one file per
// family of operators, such as reduction.cc.
#define EMBER_ROW(name, minimum, maximum, function) \
  void function(NodeContext& c);
#define EMBER_NOTHING(...)
EMBER_MXNET_OPERATORS(EMBER_ROW, EMBER_NOTHING, EMBER_NOTHING)
#undef EMBER_ROW
#undef EMBER_NOTHING

std::span<const OperatorRow> Operators();

// Returns the row of an operator; null for unknown names.
const OperatorRow* FindRow(std::string_view op);

}  // namespace ember::mxnet

#endif  // EMBER_FRONTENDS_MXNET_OPERATOR_TABLE_H_
