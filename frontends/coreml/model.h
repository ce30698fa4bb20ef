// A Core ML file, opened: an .mlmodel, or the model of an .mlpackage with the
// folder of its weights.
//
//   frontends::ModelFile file("a.mlpackage");
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<const Model> model,
//                          Model::Open(file));
//   model->root().Message(500);   // the neural network
//
// The format is protobuf (Apple's Model.proto, specification versions 1 to 9),
// read in place, without parsing it into objects (frontends/protobuf_view.h);
// field numbers are named where they are used. Errors are one line. Immutable.
#ifndef EMBER_FRONTENDS_COREML_MODEL_H_
#define EMBER_FRONTENDS_COREML_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/file.h"
#include "base/status.h"
#include "frontends/model_file.h"
#include "frontends/protobuf_view.h"

namespace ember::coreml {

using frontends::ProtobufView;

// An input or output of a model, as the model's description declares it.
struct Feature {
  enum Kind {
    kInt64,
    kDouble,
    kString,
    kImage,
    kArray,
    kDictionary,
    kState,
    kOther
  };
  std::string name;
  Kind kind = kOther;
  // Dims of an array, or [height, width] of an image. A size that varies is
  // given by its default, or by -1 if it has no bound.
  std::vector<int64_t> dims;
  std::vector<bool> varies;  // One element per dim: true if the extent varies.
  DType dtype = DType::kF32;
  // Order of the colors of an image: gray, BGR, or RGB if neither flag is true.
  bool is_gray = false, is_bgr = false;
};

// Numbers of the fields of the message Model. Most of them hold the model
// itself, with one field for each kind of model.
enum ModelField : uint64_t {
  kVersion = 1,
  kDescription = 2,
  kPipelineClassifier = 200,
  kPipelineRegressor = 201,
  kPipeline = 202,
  kGlmRegressor = 300,
  kSvmRegressor = 301,
  kTreeRegressor = 302,
  kNetworkRegressor = 303,
  kGlmClassifier = 400,
  kSvmClassifier = 401,
  kTreeClassifier = 402,
  kNetworkClassifier = 403,
  kNeighbors = 404,
  kNetwork = 500,
  kProgram = 502,
  kOneHotEncoder = 600,
  kImputer = 601,
  kFeatureVectorizer = 602,
  kDictionaryVectorizer = 603,
  kScaler = 604,
  kCategoricalMapping = 606,
  kNormalizer = 607,
  kArrayFeatureExtractor = 609,
  kSuppression = 610,
  kIdentity = 900,
};

// Returns a name for a kind, such as "a support vector regressor", also for
// kinds that are not imported; "" for unknown ones.
std::string_view KindName(uint64_t number);
// Returns the numbers of all kinds that have a name, ascending.
std::vector<uint64_t> KnownKinds();
// Returns the field with the model's kind; 0 if there is none.
uint64_t KindOf(const ProtobufView& model);

std::vector<Feature> FeaturesOf(const ProtobufView& description,
                                uint64_t number);

class Model {
 public:
  // Reads a model's file, or that of a package's folder, once. Later calls
  // return the same model.
  static StatusOr<std::shared_ptr<const Model>> Open(
      frontends::ModelFile& file);
  // Reads from memory, which `owner` keeps alive. Weights in other files are
  // refused.
  static StatusOr<Model> Read(std::span<const uint8_t> bytes,
                              std::shared_ptr<const void> owner);

  ProtobufView root() const { return {bytes_, damage_.get()}; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  bool damaged() const { return *damage_; }
  // Fails if any message that was read is damaged.
  Status CheckWhole() const;
  // Opens a file of weights, by the path in the model ("@model_path/…").
  StatusOr<std::shared_ptr<const MappedFile>> WeightsFile(
      const std::string& path) const;

 private:
  std::span<const uint8_t> bytes_;
  std::shared_ptr<const void> owner_;
  // The model's folder. Empty if the model was read from memory.
  std::string folder_;
  std::string path_;  // Path of the model's file.
  std::shared_ptr<bool> damage_ = std::make_shared<bool>(false);
  std::shared_ptr<std::map<std::string, std::shared_ptr<const MappedFile>>>
      files_;
};

bool IsModel(std::string_view contents);

// Returns the path of an .mlpackage's model; empty if the folder has another
// extension.
std::string FileOfPackage(const std::string& folder);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_MODEL_H_
