// The view that the importer of one layer of a Core ML neural network has: the
// layer's inputs, its parameters, and the results to set.
//
//   void ImportSoftmax(LayerContext& c) {
//     c.SetOutput(0, Softmax(c.Input(0), c.Axis(-3, c.Input(0).rank())));
//   }
//
// Errors and lifetime as for OperandContext.
#ifndef EMBER_FRONTENDS_COREML_LAYER_CONTEXT_H_
#define EMBER_FRONTENDS_COREML_LAYER_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "frontends/coreml/model.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/functions.h"
#include "frontends/ops/operand_context.h"
#include "frontends/ops/tensor.h"
#include "frontends/ops/windows.h"

namespace ember::coreml {

using ops::Apply;
using ops::ApplyAll;
using ops::Concat;
using ops::Dim;
using ops::IotaVector;
using ops::kMaxRank;
using ops::Opcode;
using ops::Shape;
using ops::Tensor;

// Reads weights (WeightParams) of these dims as f32 or f16. The file stores
// them as f32 or f16, or quantized with one scale for all or one per slice of
// the first dim. Fails for other forms.
Tensor ReadWeights(graph::GraphBuilder& builder, const ProtobufView& weights,
                   const std::shared_ptr<const void>& owner,
                   const std::vector<int64_t>& dims);

class LayerContext : public ops::OperandContext {
 public:
  LayerContext(graph::GraphBuilder& builder, const ProtobufView& parameters,
               std::shared_ptr<const void> owner, std::vector<Tensor> inputs,
               size_t outputs)
      : OperandContext(builder, std::move(inputs), outputs),
        parameters_(parameters),
        owner_(std::move(owner)) {}

  const ProtobufView& parameters() const { return parameters_; }

  // Returns the weights in a field of a message.
  Tensor Weights(const ProtobufView& message, uint64_t field,
                 const std::vector<int64_t>& dims) {
    return Cast(ReadWeights(builder(), message.Message(field), owner_, dims),
                DType::kF32);
  }
  // Returns a number of the layer's parameters by its field number, or
  // `otherwise` if it is 0 or absent.
  double FloatOr(uint64_t field, double otherwise) const {
    const double value = parameters_.Float(field);
    return value == 0 ? otherwise : value;
  }

  // Returns the axes as numbers from 0 on, in ascending order. Fails if an axis
  // is named twice.
  std::vector<int64_t> Axes(const std::vector<int64_t>& axes, int rank);
  // Returns false, with an error, unless `value` is in [minimum, maximum].
  bool CheckRange(std::string_view what, int64_t value, int64_t minimum = 1,
                  int64_t maximum = ops::kMaxWindow) {
    return ImportContext::CheckRange(what, value, minimum, maximum);
  }
  // Returns false, with an error, unless the number of groups divides the
  // number of input channels and that of output channels.
  bool CheckGroups(int64_t channels, int64_t outputs, int64_t groups);
  // Returns the elements of an input as integers, which must be known at
  // import; nullopt after an error.
  std::optional<std::vector<int64_t>> Constants(int input);

 private:
  ProtobufView parameters_;
  std::shared_ptr<const void> owner_;
};

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_LAYER_CONTEXT_H_
