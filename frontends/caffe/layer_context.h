// What the importer of one Caffe layer sees: its bottoms, parameters and
// weights, and where its tops go.
//
//   void ImportReLU(LayerContext& c) {
//     const Tensor x = c.Input(0);
//     const double slope = c.layer().relu_param().negative_slope();
//     c.SetOutput(0, Select(Less(x, 0), x * slope, x));
//   }
//
// Errors stick in the graph builder and name the layer: after a failure a
// function may return or go on, nothing it builds is used. Not thread-safe;
// lives as long as the call.
#ifndef EMBER_FRONTENDS_CAFFE_LAYER_CONTEXT_H_
#define EMBER_FRONTENDS_CAFFE_LAYER_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/builder.h"
#include "frontends/caffe/weights.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/tensor.h"
#include "frontends/ops/windows.h"

namespace ember::caffe {

// The names of frontends/ops that layers are written in.
using ops::Apply;
using ops::ApplyAll;
using ops::Concat;
using ops::Dim;
using ops::DimScalar;
using ops::IotaVector;
using ops::kMaximumRank;
using ops::Shape;
using ops::Tensor;

class LayerContext {
 public:
  // blobs: null if the weights have none of this layer.
  LayerContext(graph::GraphBuilder& builder, const LayerParameter& layer,
               std::vector<Tensor> inputs, const std::vector<Blob>* blobs)
      : builder_(builder),
        layer_(layer),
        inputs_(std::move(inputs)),
        blobs_(blobs),
        outputs_(static_cast<size_t>(layer.top_size())) {}

  graph::GraphBuilder& builder() { return builder_; }
  const LayerParameter& layer() const { return layer_; }

  // Errors.
  void FailInvalid(std::string message);
  void FailUnsupported(std::string message);
  bool ok() const { return builder_.status().ok(); }

  // Bottoms.
  int input_count() const { return static_cast<int>(inputs_.size()); }
  Tensor Input(int index) const {
    return index < input_count() ? inputs_[index] : Tensor();
  }
  const std::vector<Tensor>& inputs() const { return inputs_; }

  // Tops.
  int output_count() const { return static_cast<int>(outputs_.size()); }
  void SetOutput(int index, Tensor value) {
    if (index < output_count()) outputs_[index] = value;
  }
  const std::vector<Tensor>& outputs() const { return outputs_; }

  // Weights.
  int blob_count() const {
    return blobs_ == nullptr ? 0 : static_cast<int>(blobs_->size());
  }
  int64_t BlobSize(int index) const {
    return index < blob_count() ? (*blobs_)[index].count() : 0;
  }
  // A blob as a constant of these dims; fails if it is not there or has another
  // number of elements (old files have other dims). filler: what stands for
  // the blobs of a layer that the weights do not have, if it is no random one.
  Tensor Weight(int index, const std::vector<int64_t>& dims,
                const FillerParameter* filler = nullptr);

  // State: what the layer kept from the run before, zeros at first, and what
  // it keeps for the next. Its name is LAYER_name.
  struct State {
    std::string name;
    Tensor before, after;
  };
  Tensor StateInput(std::string_view name, const Shape& shape);
  void SetState(int index, Tensor value) {
    if (index < static_cast<int>(states_.size())) states_[index].after = value;
  }
  const std::vector<State>& states() const { return states_; }

  // Brought into 0 … rank - 1; fails for others.
  int Axis(int64_t axis, int rank);
  bool CheckRank(int input, int minimum, int maximum = kMaximumRank);
  // Fails unless it is in [minimum, kMaximumWindow].
  bool CheckRange(std::string_view what, int64_t value, int64_t minimum = 1);
  // The extents of some dims, which must be known when compiling.
  std::optional<std::vector<int64_t>> Extents(const Tensor& x, int first,
                                              int last);
  std::optional<int64_t> Extent(const Tensor& x, int axis);

  Tensor Wrap(graph::Value* value) { return {&builder_, value}; }
  Tensor Scalar(double value, DType dtype = DType::kF32) {
    return Wrap(builder_.Scalar(value, dtype));
  }
  Tensor Vector(const std::vector<float>& values);
  Tensor Vector(const std::vector<int64_t>& values);

 private:
  Tensor Filled(const FillerParameter& filler,
                const std::vector<int64_t>& dims);

  graph::GraphBuilder& builder_;
  const LayerParameter& layer_;
  std::vector<Tensor> inputs_;
  const std::vector<Blob>* blobs_;
  std::vector<Tensor> outputs_;
  std::vector<State> states_;
};

// Constants as a shape, and the other way round.
Shape ShapeOf(const std::vector<int64_t>& dims);
// The product; 1 for none.
Dim ElementCount(const Shape& shape, size_t first, size_t last);

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_LAYER_CONTEXT_H_
