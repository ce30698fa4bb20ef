// What the importer of one layer of a Core ML neural network sees: its inputs,
// its parameters, and where its results go.
//
//   void ImportSoftmax(LayerContext& c) {
//     c.SetOutput(0, Softmax(c.Input(0), c.Axis(-3, c.Input(0).rank())));
//   }
//
// Errors stick in the graph builder and name the layer. Not thread-safe; lives
// as long as the call.
#ifndef EMBER_FRONTENDS_COREML_LAYER_CONTEXT_H_
#define EMBER_FRONTENDS_COREML_LAYER_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/builder.h"
#include "frontends/coreml/model.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/tensor.h"
#include "frontends/ops/windows.h"

namespace ember::coreml {

using ops::Apply;
using ops::ApplyAll;
using ops::Concat;
using ops::Dim;
using ops::IotaVector;
using ops::kMaximumRank;
using ops::Opcode;
using ops::Shape;
using ops::Tensor;

// Weights (WeightParams) as f32 or f16 of these dims: stored so, or quantized,
// with one scale or one per slice of the first dim. Fails for others.
Tensor ReadWeights(graph::GraphBuilder& builder, const ProtobufView& weights,
                   const std::shared_ptr<const void>& owner,
                   const std::vector<int64_t>& dims);

class LayerContext {
 public:
  LayerContext(graph::GraphBuilder& builder, const ProtobufView& parameters,
               std::shared_ptr<const void> owner, std::vector<Tensor> inputs,
               size_t outputs)
      : builder_(builder),
        parameters_(parameters),
        owner_(std::move(owner)),
        inputs_(std::move(inputs)),
        outputs_(outputs) {}

  graph::GraphBuilder& builder() { return builder_; }
  const ProtobufView& parameters() const { return parameters_; }

  void FailInvalid(std::string message);
  void FailUnsupported(std::string message);
  bool ok() const { return builder_.status().ok(); }

  int input_count() const { return static_cast<int>(inputs_.size()); }
  Tensor Input(int index) const {
    return index < input_count() ? inputs_[index] : Tensor();
  }
  const std::vector<Tensor>& inputs() const { return inputs_; }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  void SetOutput(int index, Tensor value) {
    if (index < output_count()) outputs_[index] = value;
  }
  const std::vector<Tensor>& outputs() const { return outputs_; }

  // The weights in a field of a message.
  Tensor Weights(const ProtobufView& message, uint64_t field,
                 const std::vector<int64_t>& dims) {
    return Cast(ReadWeights(builder_, message.Message(field), owner_, dims),
                DType::kF32);
  }
  // A field that has a value for 0 and for absence.
  double FloatOr(uint64_t field, double otherwise) const {
    const double value = parameters_.Float(field);
    return value == 0 ? otherwise : value;
  }

  int Axis(int64_t axis, int rank);
  std::vector<int64_t> Axes(const std::vector<int64_t>& axes, int rank);
  bool CheckRank(int input, int minimum, int maximum = kMaximumRank);
  bool CheckRange(std::string_view what, int64_t value, int64_t minimum = 1);
  std::optional<int64_t> Extent(const Tensor& x, int axis);
  // Integers that are known when compiling.
  std::optional<std::vector<int64_t>> Constants(int input);

  Tensor Wrap(graph::Value* value) { return {&builder_, value}; }
  Tensor Scalar(double value, DType dtype = DType::kF32) {
    return Wrap(builder_.Scalar(value, dtype));
  }

 private:
  graph::GraphBuilder& builder_;
  ProtobufView parameters_;
  std::shared_ptr<const void> owner_;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
};

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_LAYER_CONTEXT_H_
