// The tensors of a Hugging Face model by the names of GGUF.
//
//   HubTensors tensors(config, files);   // a TensorSource
//
// Errors are one line that names the stored tensor. Does not own the files. Not
// thread-safe.
#ifndef EMBER_FRONTENDS_SAFETENSORS_MODEL_TENSORS_H_
#define EMBER_FRONTENDS_SAFETENSORS_MODEL_TENSORS_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/language_models/model_tensors.h"
#include "frontends/safetensors/config.h"
#include "frontends/safetensors/safetensors_file.h"
#include "frontends/safetensors/tensor_names.h"

namespace ember::safetensors {

class HubTensors : public language_models::TensorSource {
 public:
  // `files`: the model's shards. Each tensor is in one of them.
  HubTensors(const ModelConfig& config,
             const std::vector<SafetensorsFile>& files);

  StatusOr<language_models::Weight> Find(std::string_view name,
                                         graph::GraphBuilder& builder) override;
  std::vector<std::string> Unused() const override;

 private:
  struct Stored {
    const StoredTensor* tensor = nullptr;
    std::shared_ptr<const void> owner;
  };

  // Makes the constant of a stored tensor.
  StatusOr<ops::Tensor> Constant(const std::string& name, const Stored& stored,
                                 graph::GraphBuilder& builder);
  StatusOr<ops::Tensor> Stack(const std::string& pattern,
                              graph::GraphBuilder& builder);
  ops::Tensor Ungroup(ops::Tensor x) const;
  StatusOr<language_models::Weight> Changed(const StoredName& stored,
                                            graph::GraphBuilder& builder);

  const ModelConfig& config_;
  std::map<std::string_view, Stored> stored_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace ember::safetensors

#endif  // EMBER_FRONTENDS_SAFETENSORS_MODEL_TENSORS_H_
