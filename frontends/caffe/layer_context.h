// The view that the importer of one Caffe layer has: its bottoms (inputs),
// parameters and weights, and the tops (outputs) to set.
//
//   void ImportReLU(LayerContext& c) {
//     const Tensor x = c.Input(0);
//     const double slope = c.layer().relu_param().negative_slope();
//     c.SetOutput(0, Select(Less(x, 0), x * slope, x));
//   }
//
// Errors and lifetime as for OperandContext.
#ifndef EMBER_FRONTENDS_CAFFE_LAYER_CONTEXT_H_
#define EMBER_FRONTENDS_CAFFE_LAYER_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "frontends/caffe/weights.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/functions.h"
#include "frontends/ops/operand_context.h"
#include "frontends/ops/tensor.h"
#include "frontends/ops/windows.h"

namespace ember::caffe {

// Names of frontends/ops that import functions use unqualified.
using ops::Apply;
using ops::ApplyAll;
using ops::Concat;
using ops::Dim;
using ops::DimScalar;
using ops::IotaVector;
using ops::kMaxRank;
using ops::Shape;
using ops::Tensor;

class LayerContext : public ops::OperandContext {
 public:
  // blobs: the layer's weights; null if the weight file has none for this
  // layer.
  LayerContext(graph::GraphBuilder& builder, const LayerParameter& layer,
               std::vector<Tensor> inputs, const std::vector<Blob>* blobs)
      : OperandContext(builder, std::move(inputs),
                       static_cast<size_t>(layer.top_size())),
        layer_(layer),
        blobs_(blobs) {}

  const LayerParameter& layer() const { return layer_; }

  // Weights.
  int blob_count() const {
    return blobs_ == nullptr ? 0 : static_cast<int>(blobs_->size());
  }
  int64_t BlobSize(int index) const {
    return index < blob_count() ? (*blobs_)[index].count() : 0;
  }
  // Returns a blob as a constant with the given dims, whatever dims the file
  // states (old files pad them to four). Fails if the blob is missing or has
  // another number of elements. If the weights lack the layer's blobs, `filler`
  // makes the constant; a random filler is an error.
  Tensor Weight(int index, const std::vector<int64_t>& dims,
                const FillerParameter* filler = nullptr);

  // A state of the layer: the value kept from the previous run (`before`, zeros
  // in the first run), and the value kept for the next run (`after`). Its name
  // is LAYER_name.
  struct State {
    std::string name;
    Tensor before, after;
  };
  Tensor StateInput(std::string_view name, const Shape& shape);
  void SetState(int index, Tensor value) {
    if (index < static_cast<int>(states_.size())) states_[index].after = value;
  }
  const std::vector<State>& states() const { return states_; }

  // Returns false, with an error, unless the bottom is there and has a rank in
  // [minimum, maximum].
  bool CheckRank(int input, int minimum, int maximum = kMaxRank) {
    return ImportContext::CheckRank(
        Input(input), "bottom " + std::to_string(input), minimum, maximum);
  }
  // Returns false, with an error, unless `value` is in [minimum, maximum].
  bool CheckRange(std::string_view what, int64_t value, int64_t minimum = 1,
                  int64_t maximum = ops::kMaxWindow) {
    return ImportContext::CheckRange(what, value, minimum, maximum);
  }

  Tensor Vector(const std::vector<float>& values) {
    return ImportContext::Vector(DType::kF32, values);
  }
  Tensor Vector(const std::vector<int64_t>& values) {
    return Wrap(builder().Integers(values));
  }

 private:
  Tensor Filled(const FillerParameter& filler,
                const std::vector<int64_t>& dims);

  const LayerParameter& layer_;
  const std::vector<Blob>* blobs_;
  std::vector<State> states_;
};

// Converts constant extents to a shape.
Shape ShapeOf(const std::vector<int64_t>& dims);
// Returns the product of dims [first, last); 1 if there are none.
Dim ElementCount(const Shape& shape, size_t first, size_t last);

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_LAYER_CONTEXT_H_
