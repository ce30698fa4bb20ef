// The view that the importer of one TensorFlow Lite operator has: operands with
// their quantization, options with their defaults, and the results to set.
//
//   void ImportLeakyRelu(OperatorContext& c) {
//     const Tensor x = c.Input(0);
//     const double alpha = c.Options<schema::LeakyReluOptions>().alpha();
//     c.SetOutput(0, Select(Less(x, 0), x * alpha, x));
//   }
//
// A column of the operator table says how quantized operands reach a function
// (operator_table.h). Errors stay in the graph builder and name the operator.
// After a failure a function may return or continue: its results are not used.
// Not thread-safe; lives as long as the call.
#ifndef EMBER_FRONTENDS_TFLITE_OPERATOR_CONTEXT_H_
#define EMBER_FRONTENDS_TFLITE_OPERATOR_CONTEXT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "frontends/tf_common/operator_base.h"
#include "frontends/tflite/model.h"

namespace ember::tflite {

// Names that import functions use unqualified. Functions on tensors need no
// using-declaration: argument-dependent lookup finds them.
using tf_common::Apply;
using tf_common::ApplyAll;
using tf_common::AsConstants;
using tf_common::ComputeType;
using tf_common::Concat;
using tf_common::Dim;
using tf_common::DimScalar;
using tf_common::IotaVector;
using tf_common::kMaxRank;
using tf_common::LargerOf;
using tf_common::Opcode;
using tf_common::Shape;
using tf_common::SmallerOf;
using tf_common::Tensor;
using tf_common::TensorsOf;

// The tag by which the union BuiltinOptions marks options of the type T.
template <typename T>
inline constexpr schema::BuiltinOptions kMemberOf =
    schema::BuiltinOptions::NONE;
#define EMBER_TFLITE_OPTIONS(name)                                  \
  template <>                                                       \
  inline constexpr schema::BuiltinOptions kMemberOf<schema::name> = \
      schema::BuiltinOptions::name;
EMBER_TFLITE_OPTIONS(Conv2DOptions)
EMBER_TFLITE_OPTIONS(DepthwiseConv2DOptions)
EMBER_TFLITE_OPTIONS(Pool2DOptions)
EMBER_TFLITE_OPTIONS(SVDFOptions)
EMBER_TFLITE_OPTIONS(RNNOptions)
EMBER_TFLITE_OPTIONS(FullyConnectedOptions)
EMBER_TFLITE_OPTIONS(SoftmaxOptions)
EMBER_TFLITE_OPTIONS(ConcatenationOptions)
EMBER_TFLITE_OPTIONS(AddOptions)
EMBER_TFLITE_OPTIONS(LocalResponseNormalizationOptions)
EMBER_TFLITE_OPTIONS(LSTMOptions)
EMBER_TFLITE_OPTIONS(ResizeBilinearOptions)
EMBER_TFLITE_OPTIONS(CallOptions)
EMBER_TFLITE_OPTIONS(ReshapeOptions)
EMBER_TFLITE_OPTIONS(SpaceToDepthOptions)
EMBER_TFLITE_OPTIONS(MulOptions)
EMBER_TFLITE_OPTIONS(GatherOptions)
EMBER_TFLITE_OPTIONS(ReducerOptions)
EMBER_TFLITE_OPTIONS(SubOptions)
EMBER_TFLITE_OPTIONS(DivOptions)
EMBER_TFLITE_OPTIONS(SqueezeOptions)
EMBER_TFLITE_OPTIONS(SequenceRNNOptions)
EMBER_TFLITE_OPTIONS(StridedSliceOptions)
EMBER_TFLITE_OPTIONS(SplitOptions)
EMBER_TFLITE_OPTIONS(SplitVOptions)
EMBER_TFLITE_OPTIONS(TransposeConvOptions)
EMBER_TFLITE_OPTIONS(FakeQuantOptions)
EMBER_TFLITE_OPTIONS(PackOptions)
EMBER_TFLITE_OPTIONS(OneHotOptions)
EMBER_TFLITE_OPTIONS(UnpackOptions)
EMBER_TFLITE_OPTIONS(BidirectionalSequenceLSTMOptions)
EMBER_TFLITE_OPTIONS(BidirectionalSequenceRNNOptions)
EMBER_TFLITE_OPTIONS(UnidirectionalSequenceLSTMOptions)
EMBER_TFLITE_OPTIONS(ResizeNearestNeighborOptions)
EMBER_TFLITE_OPTIONS(LeakyReluOptions)
EMBER_TFLITE_OPTIONS(MirrorPadOptions)
EMBER_TFLITE_OPTIONS(ReverseSequenceOptions)
EMBER_TFLITE_OPTIONS(IfOptions)
EMBER_TFLITE_OPTIONS(WhileOptions)
EMBER_TFLITE_OPTIONS(DepthToSpaceOptions)
EMBER_TFLITE_OPTIONS(BatchMatMulOptions)
EMBER_TFLITE_OPTIONS(CumsumOptions)
EMBER_TFLITE_OPTIONS(CallOnceOptions)
EMBER_TFLITE_OPTIONS(Conv3DOptions)
EMBER_TFLITE_OPTIONS(VarHandleOptions)
EMBER_TFLITE_OPTIONS(BucketizeOptions)
EMBER_TFLITE_OPTIONS(GeluOptions)
#undef EMBER_TFLITE_OPTIONS

// Returns an options table without any field, in which every read gives the
// field's default. It can be read as any type of options.
const void* EmptyTable();

// Returns the options of an operator; if the operator has none of this type,
// every field has its default.
template <typename T>
const T& OptionsOf(const schema::Operator& op) {
  static_assert(kMemberOf<T> != schema::BuiltinOptions::NONE);
  const void* options = op.builtin_options_type() == kMemberOf<T>
                            ? op.builtin_options()
                            : nullptr;
  return *static_cast<const T*>(options != nullptr ? options : EmptyTable());
}

class OperatorContext : public tf_common::OperatorBase {
 public:
  struct Operand {
    // The operand's tensor, or its real part if it is complex; absent if the
    // operand is left out.
    Tensor value;
    Tensor imaginary;  // The imaginary part of a complex operand, else absent.
    const schema::Tensor* info = nullptr;
    // The quantization of the operand's stored integers; nullopt for plain
    // numbers.
    std::optional<Quantization> quantization;
  };
  struct Result {
    Tensor value;
    Tensor imaginary;  // The imaginary part of a complex result, else absent.
    const schema::Tensor* info = nullptr;
    std::optional<Quantization> quantization;
  };

  OperatorContext(graph::GraphBuilder& builder, const Model& model,
                  const schema::Operator& op, std::vector<Operand> inputs,
                  std::vector<Result> outputs);

  const Model& model() const { return model_; }
  const schema::Operator& op() const { return op_; }
  template <typename T>
  const T& Options() const {
    return OptionsOf<T>(op_);
  }

  // These functions return operands. An operand that is left out is an absent
  // tensor.
  int input_count() const override { return static_cast<int>(inputs_.size()); }
  Tensor Input(int index) const override {
    return index < input_count() ? inputs_[index].value : Tensor();
  }
  // Returns the imaginary part of a complex operand; absent for real ones.
  Tensor ImaginaryInput(int index) const {
    return index < input_count() ? inputs_[index].imaginary : Tensor();
  }
  bool AnyComplex() const;
  // Replaces each complex operand by its imaginary part, as a real operand.
  void TakeImaginaryParts();
  // Returns the quantization of an operand; null if the operand is not
  // quantized or is left out.
  const Quantization* InputQuantization(int index) const;
  bool AnyQuantized() const;
  // Replaces quantized operands by the real numbers that they represent. From
  // here on, operands count as not quantized.
  void DequantizeOperands();

  // Results.
  int output_count() const override {
    return static_cast<int>(outputs_.size());
  }
  DType OutputType(int index) const override;
  const Quantization* OutputQuantization(int index) const;
  // Returns the shape that the model states. It is not trusted; use it only if
  // no other source has the shape.
  std::vector<int64_t> StatedOutputShape(int index) const;
  void SetOutput(int index, Tensor value) override {
    if (index < output_count()) outputs_[index].value = value;
  }
  void SetComplexOutput(int index, Tensor real, Tensor imaginary) {
    if (index >= output_count()) return;
    outputs_[index].value = real;
    outputs_[index].imaginary = imaginary;
  }
  const std::vector<Result>& outputs() const { return outputs_; }
  // Sets the value that a variable operand has after the operator.
  void ChangeInput(int index, Tensor value) { changed_inputs_[index] = value; }
  const std::map<int, Tensor>& changed_inputs() const {
    return changed_inputs_;
  }

  // Returns the stored integer that represents 0 in an operand.
  double StoredZero(int index) const;

 private:
  const Model& model_;
  const schema::Operator& op_;
  std::vector<Operand> inputs_;
  std::vector<Result> outputs_;
  std::map<int, Tensor> changed_inputs_;
};

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_OPERATOR_CONTEXT_H_
