#include "frontends/coreml/model.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "frontends/file_inside.h"

namespace ember::coreml {
namespace {

namespace fs = std::filesystem;

struct Kind {
  uint64_t number;
  std::string_view name;
};
constexpr Kind kKinds[] = {
    {kPipelineClassifier, "pipeline classifier"},
    {kPipelineRegressor, "pipeline regressor"},
    {kPipeline, "pipeline"},
    {kGlmRegressor, "generalized linear regressor"},
    {kSvmRegressor, "support vector regressor"},
    {kTreeRegressor, "tree ensemble regressor"},
    {kNetworkRegressor, "neural network regressor"},
    {304, "Bayesian probit regressor"},
    {kGlmClassifier, "generalized linear classifier"},
    {kSvmClassifier, "support vector classifier"},
    {kTreeClassifier, "tree ensemble classifier"},
    {kNetworkClassifier, "neural network classifier"},
    {kNeighbors, "k nearest neighbors classifier"},
    {kNetwork, "neural network"},
    {501, "item similarity recommender"},
    {kProgram, "ML program"},
    {555, "custom model"},
    {556, "linked model"},
    {560, "class confidence thresholding"},
    {kOneHotEncoder, "one-hot encoder"},
    {kImputer, "imputer"},
    {kFeatureVectorizer, "feature vectorizer"},
    {kDictionaryVectorizer, "dictionary vectorizer"},
    {kScaler, "scaler"},
    {kCategoricalMapping, "categorical mapping"},
    {kNormalizer, "normalizer"},
    {kArrayFeatureExtractor, "array feature extractor"},
    {kSuppression, "non-maximum suppression"},
    {kIdentity, "identity"},
    {2000, "text classifier"},
    {2001, "word tagger"},
    {2002, "vision feature print"},
    {2003, "sound analysis preprocessing"},
    {2004, "gazetteer"},
    {2005, "word embedding"},
    {2006, "audio feature print"},
    {3000, "serialized model"},
};

Status NotAModel(const std::string& what) {
  return DataLossError("expected a Core ML model, found " + what);
}

DType ArrayTypeOf(int64_t number) {
  switch (number) {
    case 65600:
      return DType::kF64;
    case 131104:
      return DType::kI32;
    case 131080:
      return DType::kI8;
    case 65552:
      return DType::kF16;
    default:
      return DType::kF32;
  }
}

void ReadImage(const ProtobufView& type, Feature& feature) {
  feature.kind = Feature::kImage;
  feature.dims = {type.Integer(2), type.Integer(1)};
  feature.varies = {false, false};
  feature.dtype = DType::kU8;
  const int64_t color = type.Integer(3);
  feature.is_gray = color == 10 || color == 40;
  feature.is_bgr = color == 30;
  if (color == 40) feature.dtype = DType::kF16;
  if (type.Has(21)) {  // sizes
    for (const ProtobufView& size : type.Message(21).Messages(1)) {
      const int64_t extents[] = {size.Integer(2), size.Integer(1)};
      for (size_t i = 0; i < 2; ++i) {
        if (feature.dims[i] == 0) feature.dims[i] = extents[i];
        feature.varies[i] = feature.varies[i] || extents[i] != feature.dims[i];
      }
    }
  }
  if (type.Has(31)) feature.varies = {true, true};
}

void ReadArray(const ProtobufView& type, Feature& feature) {
  feature.kind = Feature::kArray;
  feature.dims = type.Integers(1);
  feature.dtype = ArrayTypeOf(type.Integer(2));
  const std::vector<ProtobufView> shapes = type.Message(21).Messages(1);
  if (feature.dims.empty() && !shapes.empty())
    feature.dims = shapes.front().Integers(1);
  const std::vector<ProtobufView> ranges = type.Message(31).Messages(1);
  if (feature.dims.empty()) {
    for (const ProtobufView& range : ranges)
      feature.dims.push_back(range.Integer(1));
  }
  feature.varies.assign(feature.dims.size(), false);
  for (const ProtobufView& shape : shapes) {
    const std::vector<int64_t> other = shape.Integers(1);
    for (size_t i = 0; i < feature.dims.size() && i < other.size(); ++i)
      if (other[i] != feature.dims[i]) feature.varies[i] = true;
  }
  // If there are fewer size ranges than dims, the ranges belong to the last
  // dims.
  const size_t skipped =
      feature.dims.size() - std::min(feature.dims.size(), ranges.size());
  for (size_t i = 0; i < ranges.size() && i + skipped < feature.dims.size();
       ++i) {
    if (ranges[i].Integer(2) != ranges[i].Integer(1))
      feature.varies[i + skipped] = true;
  }
}

Feature ReadFeature(const ProtobufView& description) {
  Feature feature;
  feature.name = description.Text(1);
  const ProtobufView type = description.Message(3);
  if (type.Has(1)) {
    feature.kind = Feature::kInt64;
    feature.dtype = DType::kI64;
  } else if (type.Has(2)) {
    feature.kind = Feature::kDouble;
    feature.dtype = DType::kF64;
  } else if (type.Has(3)) {
    feature.kind = Feature::kString;
  } else if (type.Has(4)) {
    ReadImage(type.Message(4), feature);
  } else if (type.Has(5)) {
    ReadArray(type.Message(5), feature);
  } else if (type.Has(6)) {
    feature.kind = Feature::kDictionary;
  } else if (type.Has(8)) {
    ReadArray(type.Message(8).Message(1), feature);
    feature.kind = Feature::kState;
  }
  return feature;
}

// Fails unless a file of a package is in a folder of the package itself. A link
// to another folder is refused, because weights are looked up next to the file.
// The file itself may be a link, as in caches of downloads.
Status CheckIsInPackage(const fs::path& file) {
  for (fs::path folder = file.parent_path(); !folder.empty();
       folder = folder.parent_path()) {
    if (folder.extension() == ".mlpackage") {
      if (frontends::IsFolderInside(folder.string(),
                                    file.parent_path().string()))
        return OkStatus();
      return frontends::FileInside(folder.string(),
                                   file.lexically_relative(folder).string(),
                                   "package's file")
          .status();
    }
    if (folder == folder.parent_path()) break;
  }
  return OkStatus();
}

}  // namespace

std::string_view KindName(uint64_t number) {
  for (const Kind& kind : kKinds)
    if (kind.number == number) return kind.name;
  return "";
}

std::vector<uint64_t> KnownKinds() {
  std::vector<uint64_t> numbers;
  for (const Kind& kind : kKinds) numbers.push_back(kind.number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

uint64_t KindOf(const ProtobufView& model) {
  uint64_t found = 0;
  for (const uint64_t number : model.Numbers())
    if (number >= 200) found = number;
  return found;
}

std::vector<Feature> FeaturesOf(const ProtobufView& description,
                                uint64_t number) {
  std::vector<Feature> features;
  for (const ProtobufView& feature : description.Messages(number))
    features.push_back(ReadFeature(feature));
  return features;
}

StatusOr<Model> Model::Read(std::span<const uint8_t> bytes,
                            std::shared_ptr<const void> owner) {
  Model model;
  model.bytes_ = bytes;
  model.owner_ = std::move(owner);
  model.files_ = std::make_shared<
      std::map<std::string, std::shared_ptr<const MappedFile>>>();
  if (!model.root().Has(kDescription) || KindOf(model.root()) == 0) {
    return NotAModel(std::to_string(bytes.size()) +
                     " bytes without a description and a kind of model");
  }
  EMBER_RETURN_IF_ERROR(model.CheckWhole());
  return model;
}

std::string FileOfPackage(const std::string& folder) {
  fs::path package(folder);
  if (!package.has_filename()) package = package.parent_path();
  if (package.extension() != ".mlpackage") return "";
  // Apple's tools always place the model at this path, so the package's
  // manifest, which names the path, is not read. If the file is missing there,
  // the first .mlmodel in the package is used.
  const fs::path usual =
      package / "Data" / "com.apple.CoreML" / "model.mlmodel";
  std::error_code error;
  if (fs::is_regular_file(usual, error)) return usual.string();
  for (fs::recursive_directory_iterator it(package, error), end;
       !error && it != end; it.increment(error)) {
    if (it.depth() > 4) it.disable_recursion_pending();
    if (it->path().extension() == ".mlmodel") return it->path().string();
  }
  return usual.string();
}

StatusOr<std::shared_ptr<const Model>> Model::Open(frontends::ModelFile& file) {
  std::error_code error;
  if (fs::is_directory(file.path(), error)) {
    const std::string in_package = FileOfPackage(file.path());
    if (!in_package.empty()) file = frontends::ModelFile(in_package);
  }
  EMBER_RETURN_IF_ERROR(CheckIsInPackage(file.path()));
  const auto read =
      [&](const graph::ConstantData& contents) -> StatusOr<Model> {
    EMBER_ASSIGN_OR_RETURN(Model model, Read(contents.bytes, contents.owner));
    model.folder_ = file.folder();
    model.path_ = file.path();
    return model;
  };
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<Model> model,
                         file.Parsed<Model>(read));
  return std::shared_ptr<const Model>(std::move(model));
}

Status Model::CheckWhole() const {
  if (!damaged()) return OkStatus();
  return NotAModel("one that is damaged: a part of it does not parse");
}

StatusOr<std::shared_ptr<const MappedFile>> Model::WeightsFile(
    const std::string& path) const {
  constexpr std::string_view kPrefix = "@model_path/";
  std::string name = path;
  if (name.starts_with(kPrefix)) name = name.substr(kPrefix.size());
  std::shared_ptr<const MappedFile>& file = (*files_)[name];
  if (file != nullptr) return file;
  EMBER_ASSIGN_OR_RETURN(
      const std::string inside,
      frontends::FileInside(folder_, name, "weights file", path_));
  EMBER_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(inside));
  file = std::make_shared<const MappedFile>(std::move(mapped));
  return file;
}

bool IsModel(std::string_view contents) {
  const std::span<const uint8_t> bytes(
      reinterpret_cast<const uint8_t*>(contents.data()), contents.size());
  frontends::ProtobufFields fields(bytes);
  frontends::ProtobufField field;
  bool has_description = false, has_kind = false;
  while (fields.Next(field)) {
    const bool is_message = field.type == frontends::WireType::kBytes;
    if (field.number == kDescription) has_description = is_message;
    if (field.number >= 200) {
      if (!is_message || KindName(field.number).empty()) return false;
      has_kind = true;
    } else if (field.number != kVersion && field.number != kDescription &&
               field.number != 10) {
      return false;
    }
  }
  return has_description && has_kind && !fields.damaged();
}

}  // namespace ember::coreml
