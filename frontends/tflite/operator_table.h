// Every builtin operator of the format, in the order of its numbers: how it is
// imported, or why it is not. Another list holds custom operators.
//
//   row(code, name, minimum inputs, maximum inputs, quantized, function)
//   control(code, name, minimum inputs, maximum inputs)   graph_importer.h's own
//   no(code, name, reason)
//
// A number without a row, and a row without its function, do not build. The
// column `quantized` says how quantized operands reach the function:
//
//   kStored  as the stored integers: the operator moves them, or compares
//            integers; a result of another scale is requantized afterwards
//   kOwn     as the stored integers, with arithmetic of its own (quantized.h)
//   kReal    as the real numbers that they represent; results are quantized
#ifndef EMBER_FRONTENDS_TFLITE_OPERATOR_TABLE_H_
#define EMBER_FRONTENDS_TFLITE_OPERATOR_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "frontends/tflite/operator_context.h"

namespace ember::tflite {

inline constexpr int kManyInputs = 1 << 20;

// clang-format off
#define EMBER_TFLITE_OPERATORS(row, control, no) \
  row(0, ADD, 2, 2, kOwn, ImportAdd) \
  row(1, AVERAGE_POOL_2D, 1, 1, kOwn, ImportAveragePool) \
  row(2, CONCATENATION, 1, kManyInputs, kOwn, ImportConcatenation) \
  row(3, CONV_2D, 2, 3, kOwn, ImportConv2D) \
  row(4, DEPTHWISE_CONV_2D, 2, 3, kOwn, ImportDepthwiseConv2D) \
  row(5, DEPTH_TO_SPACE, 1, 1, kStored, ImportDepthToSpace) \
  row(6, DEQUANTIZE, 1, 1, kReal, ImportDequantize) \
  row(7, EMBEDDING_LOOKUP, 2, 2, kOwn, ImportEmbeddingLookup) \
  row(8, FLOOR, 1, 1, kReal, ImportFloor) \
  row(9, FULLY_CONNECTED, 2, 3, kOwn, ImportFullyConnected) \
  no(10, HASHTABLE_LOOKUP, kHashTables) \
  row(11, L2_NORMALIZATION, 1, 1, kReal, ImportL2Normalization) \
  row(12, L2_POOL_2D, 1, 1, kReal, ImportL2Pool) \
  row(13, LOCAL_RESPONSE_NORMALIZATION, 1, 1, kReal, ImportLocalResponseNormalization) \
  row(14, LOGISTIC, 1, 1, kOwn, ImportLogistic) \
  no(15, LSH_PROJECTION, kOld) \
  row(16, LSTM, 5, 24, kReal, ImportLstm) \
  row(17, MAX_POOL_2D, 1, 1, kOwn, ImportMaxPool) \
  row(18, MUL, 2, 2, kOwn, ImportMul) \
  row(19, RELU, 1, 1, kOwn, ImportRelu) \
  row(20, RELU_N1_TO_1, 1, 1, kOwn, ImportReluN1To1) \
  row(21, RELU6, 1, 1, kOwn, ImportRelu6) \
  row(22, RESHAPE, 1, 2, kStored, ImportReshape) \
  row(23, RESIZE_BILINEAR, 2, 2, kOwn, ImportResizeBilinear) \
  row(24, RNN, 5, 5, kReal, ImportRnn) \
  row(25, SOFTMAX, 1, 1, kOwn, ImportSoftmax) \
  row(26, SPACE_TO_DEPTH, 1, 1, kStored, ImportSpaceToDepth) \
  row(27, SVDF, 4, 5, kReal, ImportSvdf) \
  row(28, TANH, 1, 1, kOwn, ImportTanh) \
  no(29, CONCAT_EMBEDDINGS, kOld) \
  no(30, SKIP_GRAM, kOld) \
  control(31, CALL, 0, kManyInputs) \
  control(32, CUSTOM, 0, kManyInputs) \
  no(33, EMBEDDING_LOOKUP_SPARSE, kOld) \
  row(34, PAD, 2, 2, kStored, ImportPad) \
  row(35, UNIDIRECTIONAL_SEQUENCE_RNN, 5, 5, kReal, ImportSequenceRnn) \
  row(36, GATHER, 2, 2, kStored, ImportGather) \
  row(37, BATCH_TO_SPACE_ND, 3, 3, kStored, ImportBatchToSpaceNd) \
  row(38, SPACE_TO_BATCH_ND, 3, 3, kStored, ImportSpaceToBatchNd) \
  row(39, TRANSPOSE, 2, 2, kStored, ImportTranspose) \
  row(40, MEAN, 2, 2, kOwn, ImportMean) \
  row(41, SUB, 2, 2, kOwn, ImportSub) \
  row(42, DIV, 2, 2, kReal, ImportDiv) \
  row(43, SQUEEZE, 1, 1, kStored, ImportSqueeze) \
  row(44, UNIDIRECTIONAL_SEQUENCE_LSTM, 20, 24, kReal, ImportSequenceLstm) \
  row(45, STRIDED_SLICE, 4, 4, kStored, ImportStridedSlice) \
  row(46, BIDIRECTIONAL_SEQUENCE_RNN, 9, 12, kReal, ImportBidirectionalRnn) \
  row(47, EXP, 1, 1, kOwn, ImportExp) \
  row(48, TOPK_V2, 2, 2, kStored, ImportTopK) \
  row(49, SPLIT, 2, 2, kStored, ImportSplit) \
  row(50, LOG_SOFTMAX, 1, 1, kOwn, ImportLogSoftmax) \
  no(51, DELEGATE, "it is made by an interpreter for its own use: give the model as it was before") \
  row(52, BIDIRECTIONAL_SEQUENCE_LSTM, 39, 48, kReal, ImportBidirectionalLstm) \
  row(53, CAST, 1, 1, kStored, ImportCast) \
  row(54, PRELU, 2, 2, kOwn, ImportPrelu) \
  row(55, MAXIMUM, 2, 2, kOwn, ImportMaximum) \
  row(56, ARG_MAX, 2, 2, kStored, ImportArgMax) \
  row(57, MINIMUM, 2, 2, kOwn, ImportMinimum) \
  row(58, LESS, 2, 2, kOwn, ImportLess) \
  row(59, NEG, 1, 1, kReal, ImportNeg) \
  row(60, PADV2, 3, 3, kStored, ImportPad) \
  row(61, GREATER, 2, 2, kOwn, ImportGreater) \
  row(62, GREATER_EQUAL, 2, 2, kOwn, ImportGreaterEqual) \
  row(63, LESS_EQUAL, 2, 2, kOwn, ImportLessEqual) \
  row(64, SELECT, 3, 3, kOwn, ImportSelect) \
  row(65, SLICE, 3, 3, kStored, ImportSlice) \
  row(66, SIN, 1, 1, kReal, ImportSin) \
  row(67, TRANSPOSE_CONV, 3, 4, kOwn, ImportTransposeConv) \
  row(68, SPARSE_TO_DENSE, 4, 4, kStored, ImportSparseToDense) \
  row(69, TILE, 2, 2, kStored, ImportTile) \
  row(70, EXPAND_DIMS, 2, 2, kStored, ImportExpandDims) \
  row(71, EQUAL, 2, 2, kOwn, ImportEqual) \
  row(72, NOT_EQUAL, 2, 2, kOwn, ImportNotEqual) \
  row(73, LOG, 1, 1, kOwn, ImportLog) \
  row(74, SUM, 2, 2, kOwn, ImportSum) \
  row(75, SQRT, 1, 1, kReal, ImportSqrt) \
  row(76, RSQRT, 1, 1, kOwn, ImportRsqrt) \
  row(77, SHAPE, 1, 1, kStored, ImportShape) \
  row(78, POW, 2, 2, kReal, ImportPow) \
  row(79, ARG_MIN, 2, 2, kStored, ImportArgMin) \
  row(80, FAKE_QUANT, 1, 1, kReal, ImportFakeQuant) \
  row(81, REDUCE_PROD, 2, 2, kReal, ImportReduceProd) \
  row(82, REDUCE_MAX, 2, 2, kStored, ImportReduceMax) \
  row(83, PACK, 1, kManyInputs, kStored, ImportPack) \
  row(84, LOGICAL_OR, 2, 2, kStored, ImportLogicalOr) \
  row(85, ONE_HOT, 4, 4, kStored, ImportOneHot) \
  row(86, LOGICAL_AND, 2, 2, kStored, ImportLogicalAnd) \
  row(87, LOGICAL_NOT, 1, 1, kStored, ImportLogicalNot) \
  row(88, UNPACK, 1, 1, kStored, ImportUnpack) \
  row(89, REDUCE_MIN, 2, 2, kStored, ImportReduceMin) \
  row(90, FLOOR_DIV, 2, 2, kReal, ImportFloorDiv) \
  row(91, REDUCE_ANY, 2, 2, kStored, ImportReduceAny) \
  row(92, SQUARE, 1, 1, kReal, ImportSquare) \
  row(93, ZEROS_LIKE, 1, 1, kReal, ImportZerosLike) \
  row(94, FILL, 2, 2, kStored, ImportFill) \
  row(95, FLOOR_MOD, 2, 2, kReal, ImportFloorMod) \
  row(96, RANGE, 3, 3, kReal, ImportRange) \
  row(97, RESIZE_NEAREST_NEIGHBOR, 2, 2, kStored, ImportResizeNearest) \
  row(98, LEAKY_RELU, 1, 1, kOwn, ImportLeakyRelu) \
  row(99, SQUARED_DIFFERENCE, 2, 2, kOwn, ImportSquaredDifference) \
  row(100, MIRROR_PAD, 2, 2, kStored, ImportMirrorPad) \
  row(101, ABS, 1, 1, kOwn, ImportAbs) \
  row(102, SPLIT_V, 3, 3, kStored, ImportSplitV) \
  row(103, UNIQUE, 1, 1, kReal, ImportUnique) \
  row(104, CEIL, 1, 1, kReal, ImportCeil) \
  row(105, REVERSE_V2, 2, 2, kStored, ImportReverse) \
  row(106, ADD_N, 1, kManyInputs, kReal, ImportAddN) \
  row(107, GATHER_ND, 2, 2, kStored, ImportGatherNd) \
  row(108, COS, 1, 1, kReal, ImportCos) \
  row(109, WHERE, 1, 1, kReal, ImportWhere) \
  row(110, RANK, 1, 1, kStored, ImportRank) \
  row(111, ELU, 1, 1, kOwn, ImportElu) \
  row(112, REVERSE_SEQUENCE, 2, 2, kStored, ImportReverseSequence) \
  row(113, MATRIX_DIAG, 1, 1, kReal, ImportMatrixDiag) \
  row(114, QUANTIZE, 1, 1, kOwn, ImportQuantize) \
  row(115, MATRIX_SET_DIAG, 2, 2, kReal, ImportMatrixSetDiag) \
  row(116, ROUND, 1, 1, kReal, ImportRound) \
  row(117, HARD_SWISH, 1, 1, kOwn, ImportHardSwish) \
  control(118, IF, 1, kManyInputs) \
  control(119, WHILE, 1, kManyInputs) \
  row(120, NON_MAX_SUPPRESSION_V4, 5, 5, kReal, ImportNonMaxSuppressionV4) \
  row(121, NON_MAX_SUPPRESSION_V5, 6, 6, kReal, ImportNonMaxSuppressionV5) \
  row(122, SCATTER_ND, 3, 3, kStored, ImportScatterNd) \
  row(123, SELECT_V2, 3, 3, kOwn, ImportSelectV2) \
  row(124, DENSIFY, 1, 1, kStored, ImportDensify) \
  row(125, SEGMENT_SUM, 2, 2, kReal, ImportSegmentSum) \
  row(126, BATCH_MATMUL, 2, 2, kOwn, ImportBatchMatMul) \
  no(127, PLACEHOLDER_FOR_GREATER_OP_CODES, "it is no operator") \
  row(128, CUMSUM, 2, 2, kReal, ImportCumsum) \
  control(129, CALL_ONCE, 0, 0) \
  row(130, BROADCAST_TO, 2, 2, kStored, ImportBroadcastTo) \
  row(131, RFFT2D, 2, 2, kReal, ImportRfft2D) \
  row(132, CONV_3D, 2, 3, kReal, ImportConv3D) \
  row(133, IMAG, 1, 1, kReal, ImportImag) \
  row(134, REAL, 1, 1, kReal, ImportReal) \
  row(135, COMPLEX_ABS, 1, 1, kReal, ImportComplexAbs) \
  no(136, HASHTABLE, kHashTables) \
  no(137, HASHTABLE_FIND, kHashTables) \
  no(138, HASHTABLE_IMPORT, kHashTables) \
  no(139, HASHTABLE_SIZE, kHashTables) \
  row(140, REDUCE_ALL, 2, 2, kStored, ImportReduceAll) \
  row(141, CONV_3D_TRANSPOSE, 3, 4, kReal, ImportConv3DTranspose) \
  control(142, VAR_HANDLE, 0, 0) \
  control(143, READ_VARIABLE, 1, 1) \
  control(144, ASSIGN_VARIABLE, 2, 2) \
  row(145, BROADCAST_ARGS, 2, 2, kStored, ImportBroadcastArgs) \
  no(146, RANDOM_STANDARD_NORMAL, kRandom) \
  row(147, BUCKETIZE, 1, 1, kReal, ImportBucketize) \
  no(148, RANDOM_UNIFORM, kRandom) \
  no(149, MULTINOMIAL, kRandom) \
  row(150, GELU, 1, 1, kOwn, ImportGelu) \
  row(151, DYNAMIC_UPDATE_SLICE, 3, 3, kStored, ImportDynamicUpdateSlice) \
  row(152, RELU_0_TO_1, 1, 1, kOwn, ImportRelu0To1) \
  row(153, UNSORTED_SEGMENT_PROD, 3, 3, kReal, ImportUnsortedSegmentProd) \
  row(154, UNSORTED_SEGMENT_MAX, 3, 3, kReal, ImportUnsortedSegmentMax) \
  row(155, UNSORTED_SEGMENT_SUM, 3, 3, kReal, ImportUnsortedSegmentSum) \
  row(156, ATAN2, 2, 2, kReal, ImportAtan2) \
  row(157, UNSORTED_SEGMENT_MIN, 3, 3, kReal, ImportUnsortedSegmentMin) \
  row(158, SIGN, 1, 1, kReal, ImportSign) \
  row(159, BITCAST, 1, 1, kStored, ImportBitcast) \
  row(160, BITWISE_XOR, 2, 2, kStored, ImportBitwiseXor) \
  row(161, RIGHT_SHIFT, 2, 2, kStored, ImportRightShift) \
  EMBER_TFLITE_STABLEHLO(no) \
  row(203, DILATE, 3, 3, kStored, ImportDilate) \
  no(204, STABLEHLO_RNG_BIT_GENERATOR, kStableHlo) \
  no(205, REDUCE_WINDOW, kStableHlo)

#define EMBER_TFLITE_STABLEHLO(no) \
  no(162, STABLEHLO_LOGISTIC, kStableHlo) no(163, STABLEHLO_ADD, kStableHlo) \
  no(164, STABLEHLO_DIVIDE, kStableHlo) no(165, STABLEHLO_MULTIPLY, kStableHlo) \
  no(166, STABLEHLO_MAXIMUM, kStableHlo) no(167, STABLEHLO_RESHAPE, kStableHlo) \
  no(168, STABLEHLO_CLAMP, kStableHlo) no(169, STABLEHLO_CONCATENATE, kStableHlo) \
  no(170, STABLEHLO_BROADCAST_IN_DIM, kStableHlo) no(171, STABLEHLO_CONVOLUTION, kStableHlo) \
  no(172, STABLEHLO_SLICE, kStableHlo) no(173, STABLEHLO_CUSTOM_CALL, kStableHlo) \
  no(174, STABLEHLO_REDUCE, kStableHlo) no(175, STABLEHLO_ABS, kStableHlo) \
  no(176, STABLEHLO_AND, kStableHlo) no(177, STABLEHLO_COSINE, kStableHlo) \
  no(178, STABLEHLO_EXPONENTIAL, kStableHlo) no(179, STABLEHLO_FLOOR, kStableHlo) \
  no(180, STABLEHLO_LOG, kStableHlo) no(181, STABLEHLO_MINIMUM, kStableHlo) \
  no(182, STABLEHLO_NEGATE, kStableHlo) no(183, STABLEHLO_OR, kStableHlo) \
  no(184, STABLEHLO_POWER, kStableHlo) no(185, STABLEHLO_REMAINDER, kStableHlo) \
  no(186, STABLEHLO_RSQRT, kStableHlo) no(187, STABLEHLO_SELECT, kStableHlo) \
  no(188, STABLEHLO_SUBTRACT, kStableHlo) no(189, STABLEHLO_TANH, kStableHlo) \
  no(190, STABLEHLO_SCATTER, kStableHlo) no(191, STABLEHLO_COMPARE, kStableHlo) \
  no(192, STABLEHLO_CONVERT, kStableHlo) no(193, STABLEHLO_DYNAMIC_SLICE, kStableHlo) \
  no(194, STABLEHLO_DYNAMIC_UPDATE_SLICE, kStableHlo) no(195, STABLEHLO_PAD, kStableHlo) \
  no(196, STABLEHLO_IOTA, kStableHlo) no(197, STABLEHLO_DOT_GENERAL, kStableHlo) \
  no(198, STABLEHLO_REDUCE_WINDOW, kStableHlo) no(199, STABLEHLO_SORT, kStableHlo) \
  no(200, STABLEHLO_WHILE, kStableHlo) no(201, STABLEHLO_GATHER, kStableHlo) \
  no(202, STABLEHLO_TRANSPOSE, kStableHlo)

// Custom operators by name: row(name, minimum inputs, maximum inputs, quantized, function)
#define EMBER_TFLITE_CUSTOM_OPERATORS(row) \
  row("TFLite_Detection_PostProcess", 3, 3, kReal, ImportDetectionPostProcess) \
  row("Convolution2DTransposeBias", 3, 3, kReal, ImportTransposeConvBias) \
  row("MaxPoolingWithArgmax2D", 1, 1, kReal, ImportMaxPoolWithArgmax) \
  row("MaxUnpooling2D", 2, 2, kReal, ImportMaxUnpooling)
// clang-format on

// Builtin operators that take complex numbers. The function of an operator in
// BY_PARTS is called for the real parts and again for the imaginary parts;
// other functions read both parts.
#define EMBER_TFLITE_COMPLEX_BY_PARTS(name)                                 \
  name(RESHAPE) name(SQUEEZE) name(EXPAND_DIMS) name(TRANSPOSE) name(SLICE) \
      name(STRIDED_SLICE) name(CONCATENATION) name(PACK) name(UNPACK)       \
          name(SPLIT) name(SPLIT_V) name(GATHER) name(GATHER_ND) name(TILE) \
              name(BROADCAST_TO) name(REVERSE_V2) name(PAD)
#define EMBER_TFLITE_COMPLEX(name) name(IMAG) name(REAL) name(COMPLEX_ABS)

enum class Quantized : uint8_t { kStored, kOwn, kReal };
enum class ComplexNumbers : uint8_t { kByParts, kWhole };

using ImportFunction = void (*)(OperatorContext& c);

struct OperatorRow {
  std::string_view name;
  int minimum_inputs = 0;
  int maximum_inputs = 0;
  Quantized quantized = Quantized::kStored;
  // The function that imports the operator. Null for control flow and
  // variables, which GraphImporter imports itself.
  ImportFunction import = nullptr;
  // If not empty, the operator is unsupported, and this text is the reason.
  std::string_view reason = "";
  // The way in which the operator handles complex numbers; nullopt if it
  // accepts only real numbers.
  std::optional<ComplexNumbers> complex_numbers = std::nullopt;
};

// Declares the import functions of all rows. They are defined in one file per
// family of operators, such as reduction.cc.
#define EMBER_ROW(code, name, minimum, maximum, quantized, function) \
  void function(OperatorContext& c);
#define EMBER_CUSTOM_ROW(name, minimum, maximum, quantized, function) \
  void function(OperatorContext& c);
#define EMBER_NOTHING(...)
EMBER_TFLITE_OPERATORS(EMBER_ROW, EMBER_NOTHING, EMBER_NOTHING)
EMBER_TFLITE_CUSTOM_OPERATORS(EMBER_CUSTOM_ROW)
#undef EMBER_ROW
#undef EMBER_CUSTOM_ROW
#undef EMBER_NOTHING

// Returns the builtin operators by number.
std::span<const OperatorRow> BuiltinOperators();
std::span<const OperatorRow> CustomOperators();

// Returns the row of a model's operator; null for unknown numbers and custom
// names.
const OperatorRow* FindRow(const Model& model, const schema::Operator& op);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_OPERATOR_TABLE_H_
