// The tensors of a model by the names that GGUF gives them, with their shapes
// checked.
//
//   ModelTensors tensors(source, builder);
//   Weight w = tensors.Required("blk.0.attn_q.weight", {512, 512});
//   Weight b = tensors.Optional("blk.0.attn_q.bias", {512});
//   EMBER_RETURN_IF_ERROR(tensors.CheckAllUsed());
//
// A format's reader implements TensorSource; formats with other names translate
// them. Errors stick to the builder: a missing tensor, a wrong shape, a type
// that is not supported. After an error the tensors are failed ones
// (frontends/ops/tensor.h). Not thread-safe.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_MODEL_TENSORS_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_MODEL_TENSORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "frontends/language_models/weight.h"

namespace ember::language_models {

class TensorSource {
 public:
  virtual ~TensorSource() = default;
  // Makes the constant of a tensor; the weight is absent if the model has no
  // such tensor. Called once for each name.
  virtual StatusOr<Weight> Find(std::string_view name,
                                graph::GraphBuilder& builder) = 0;
  // Returns the names of the model's tensors that Find has not returned or
  // used. Tensors without a meaning for the graph, such as stored tables, are
  // left out.
  virtual std::vector<std::string> Unused() const = 0;
};

// In a list of expected dims this number fits any extent.
inline constexpr int64_t kAnyExtent = -1;

class ModelTensors {
 public:
  ModelTensors(TensorSource& source, graph::GraphBuilder& builder)
      : source_(source), builder_(builder) {}

  graph::GraphBuilder& builder() const { return builder_; }
  bool ok() const { return builder_.status().ok(); }

  bool Has(std::string_view name) { return Find(name).present(); }
  // True if the model has the tensor and it has this number of dims.
  bool HasRank(std::string_view name, int rank) {
    return Has(name) && Find(name).rank() == rank;
  }
  // Return the tensor; Optional returns an absent one if there is none.
  Weight Required(std::string_view name, const std::vector<int64_t>& dims);
  Weight Optional(std::string_view name, const std::vector<int64_t>& dims);
  // Fails if the graph does not use one of the model's tensors: it would then
  // not compute what the model does.
  Status CheckAllUsed() const;

 private:
  const Weight& Find(std::string_view name);
  Weight Checked(std::string_view name, const Weight& weight,
                 const std::vector<int64_t>& dims);
  // Returns a weight whose tensor is a failed one (frontends/ops/tensor.h), for
  // use after an error.
  Weight Failed();

  TensorSource& source_;
  graph::GraphBuilder& builder_;
  std::map<std::string, Weight, std::less<>> found_;
};

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_MODEL_TENSORS_H_
