// The view that a layer's function has of one call: the layer's configuration,
// its weights, and the tensors with their masks.
//
//   void ImportDense(LayerContext& c) {
//     Tensor y = MatMul(c.Input(0), c.Weight("kernel", 2));
//     if (c.config().Flag("use_bias", true)) y = y + c.Weight("bias", 1);
//     c.SetOutput(Activated(c, y));
//   }
//
// A tensor may carry a mask (Masking, Embedding with mask_zero): bool [batch,
// steps], absent where there is none. A column of the layer table says which
// layers pass it on (layer_table.h).
//
// Errors and lifetime as for ImportContext.
#ifndef EMBER_FRONTENDS_KERAS_LAYER_CONTEXT_H_
#define EMBER_FRONTENDS_KERAS_LAYER_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "frontends/keras/config.h"
#include "frontends/keras/network.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/functions.h"
#include "frontends/ops/import_context.h"
#include "frontends/ops/tensor.h"

namespace ember::keras {

// Names of frontends/ops that import functions use unqualified. Functions on
// tensors need no using-declaration: argument-dependent lookup finds them.
using ops::Apply;
using ops::ComputeType;
using ops::Concat;
using ops::Dim;
using ops::DimScalar;
using ops::IotaVector;
using ops::kMaxRank;
using ops::LargerOf;
using ops::Opcode;
using ops::Shape;
using ops::SmallerOf;
using ops::Tensor;

// A tensor with its mask.
struct Signal {
  Tensor value;
  Tensor mask;
};

// An argument of a call after its references were replaced by tensors: one or
// more tensors, or a constant.
struct Given {
  std::vector<Signal> signals;
  std::optional<Config> constant;
  bool is_list = false;
  // If the argument is a list with several entries: its items, tensors and
  // constants, in order.
  std::vector<Given> items;
};

class LayerContext;

// Interface of the importer that calls layers: weights, state, and inner
// layers.
class Host {
 public:
  virtual ~Host() = default;
  // Returns the weight with this path; absent if the file has no such weight.
  virtual Tensor FindWeight(const std::string& path,
                            graph::GraphBuilder& builder) = 0;
  // Returns the value of a state as the previous run set it.
  virtual Tensor State(const std::string& name, DType dtype,
                       const Shape& shape) = 0;
  virtual void SetState(const std::string& name, Tensor value) = 0;
  // Calls a layer, which may be a whole model. path: the prefix of its weights'
  // paths.
  virtual std::vector<Signal> CallLayer(const Layer& layer,
                                        const std::string& path,
                                        const std::vector<Signal>& inputs,
                                        int depth) = 0;
  // Major version of Keras: 2 or 3.
  virtual int major_version() const = 0;
};

class LayerContext : public ops::ImportContext {
 public:
  LayerContext(Host& host, graph::GraphBuilder& builder, const Layer& layer,
               std::string path, int depth)
      : ImportContext(builder),
        host_(host),
        layer_(layer),
        path_(std::move(path)),
        depth_(depth) {}

  Host& host() { return host_; }
  const Layer& layer() const { return layer_; }
  const Config& config() const { return layer_.config; }
  // Path of the layer's weights, ending in '/'.
  const std::string& path() const { return path_; }
  int depth() const { return depth_; }
  int major_version() const { return host_.major_version(); }
  // The type that the layer computes in, from its dtype policy.
  DType compute_type() const { return compute_type_; }
  void set_compute_type(DType type) { compute_type_ = type; }

  // The tensors that the layer is called with, in order.
  std::vector<Signal> inputs;
  // Positional arguments of the call. `inputs` has the tensors that they
  // contain.
  std::vector<Given> arguments;
  // Named arguments.
  std::vector<std::pair<std::string, Given>> named;

  int input_count() const { return static_cast<int>(inputs.size()); }
  Tensor Input(int index) const {
    return index < input_count() ? inputs[static_cast<size_t>(index)].value
                                 : Tensor();
  }
  Tensor Mask(int index) const {
    return index < input_count() ? inputs[static_cast<size_t>(index)].mask
                                 : Tensor();
  }
  const Given* Named(std::string_view name) const;
  // Returns a tensor among the named arguments; absent if the call has no such
  // argument.
  Tensor NamedTensor(std::string_view name) const;

  // Returns a weight in the type that the layer computes in. The result is
  // absent, with an error, if the file has none or one of another rank. A rank
  // of -1 accepts any rank.
  Tensor Weight(std::string_view name, int rank = -1);
  bool HasWeight(std::string_view name);

  // Results.
  void SetOutput(Tensor value) { SetOutput(0, value); }
  void SetOutput(int index, Tensor value);
  // Sets the mask of a result. Layers that pass their inputs' masks on
  // (Masking::kPass) need not call it.
  void SetMask(int index, Tensor mask);
  std::vector<Signal>& outputs() { return outputs_; }
  bool mask_is_set() const { return mask_is_set_; }

  // Returns false, with an error, unless the input is there and has a rank in
  // [minimum, maximum].
  bool CheckRank(int input, int minimum, int maximum = kMaxRank) {
    return ImportContext::CheckRank(
        Input(input), "input " + std::to_string(input), minimum, maximum);
  }
  bool is_channels_first();

  // Returns a constant of type f32 and rank 1 that holds `values`.
  Tensor Vector(const std::vector<double>& values);

 private:
  Host& host_;
  const Layer& layer_;
  std::string path_;
  int depth_;
  DType compute_type_ = DType::kF32;
  std::vector<Signal> outputs_;
  bool mask_is_set_ = false;
};

// AsChannelsLast moves the channels to the last dim if the layer's data_format
// is channels_first. FromChannelsLast moves them back.
Tensor AsChannelsLast(LayerContext& c, Tensor x);
Tensor FromChannelsLast(LayerContext& c, Tensor y);

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_LAYER_CONTEXT_H_
