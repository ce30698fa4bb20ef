#include "frontends/coreml/import.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/one_line.h"
#include "frontends/coreml/importer.h"
#include "frontends/coreml/metadata.h"
#include "frontends/coreml/model.h"
#include "frontends/inputs.h"
#include "frontends/model_bytes.h"
#include "frontends/model_errors.h"

namespace ember::coreml {
namespace {

using ops::Dim;
using ops::Shape;
using ops::Tensor;

constexpr std::string_view kColumnsInput = "features";

bool IsNumber(const Feature& feature) {
  return feature.kind == Feature::kDouble || feature.kind == Feature::kInt64;
}

bool IsColumn(const Feature& feature) {
  return IsNumber(feature) || feature.kind == Feature::kString;
}

// True if the model has inputs, and each is a number, a text or a dictionary.
// The model then accepts several rows at once.
bool IsTable(const std::vector<Feature>& inputs) {
  return !inputs.empty() &&
         std::all_of(inputs.begin(), inputs.end(), [](const Feature& input) {
           return IsColumn(input) || input.kind == Feature::kDictionary;
         });
}

// True if the model has more than kMaxColumns inputs, all of them numbers. They
// then become one input with a column for each.
bool IsWide(const std::vector<Feature>& inputs) {
  return inputs.size() > kMaxColumns &&
         std::all_of(inputs.begin(), inputs.end(), IsNumber);
}

std::string Quoted(const std::string& name) {
  return "'" + OnOneLine(name) + "'";
}

ProtobufView PipelineOf(const ProtobufView& model, uint64_t kind) {
  const ProtobufView pipeline = model.Message(kind);
  return kind == kPipeline ? pipeline : pipeline.Message(1);
}

bool IsPipeline(uint64_t kind) {
  return kind == kPipeline || kind == kPipelineClassifier ||
         kind == kPipelineRegressor;
}
bool IsNetwork(uint64_t kind) {
  return kind == kNetwork || kind == kNetworkClassifier ||
         kind == kNetworkRegressor;
}

class Importer {
 public:
  Importer(const Model& model, const frontends::ImportOptions& options)
      : model_(model),
        options_(options),
        builder_("main", options.operation_limit) {}

  StatusOr<graph::Graph> Import() {
    EMBER_RETURN_IF_ERROR(
        frontends::CheckNoEntry(options_, "the main function is imported"));
    frontends::UnsupportedParts missing("operators", "layer");
    FindMissing(model_.root(), 0, missing);
    EMBER_RETURN_IF_ERROR(model_.CheckWhole());
    EMBER_RETURN_IF_ERROR(missing.ToStatus());
    EMBER_RETURN_IF_ERROR(AddInputs());
    ModelContext context{builder_, model_,
                         frontends::ImportSteps(options_.progress), table_,
                         table_names_};
    EMBER_RETURN_IF_ERROR(ImportAny(context, model_.root(), 0, features_));
    const ProtobufView description = model_.root().Message(kDescription);
    bool found = false;
    for (const Feature& output : FeaturesOf(description, 10)) {
      const auto value = features_.find(output.name);
      if (value == features_.end()) {
        return DataLossError("output " + Quoted(output.name) +
                             ": expected the model to give it, found none");
      }
      builder_.Output(output.name, value->second.value.value(),
                      value->second.logical_type);
      found = true;
    }
    if (!found) return DataLossError("expected outputs, found none");
    for (const ModelState& state : context.states) {
      builder_.Output(state.name, state.value.value(),
                      std::string(frontends::kStateType));
    }
    EMBER_RETURN_IF_ERROR(model_.CheckWhole());
    return builder_.Finish();
  }

 private:
  Status AddInputs() {
    const std::vector<Feature> inputs =
        FeaturesOf(model_.root().Message(kDescription), 1);
    const bool is_table = IsTable(inputs);
    const frontends::ModelDim rows =
        is_table ? frontends::ModelDim{.symbol = "N"}
                 : frontends::ModelDim{.extent = 1, .may_differ = true};
    std::vector<frontends::ModelInput> model_inputs;
    if (IsWide(inputs)) {
      const frontends::ModelDim columns{
          .extent = static_cast<int64_t>(inputs.size())};
      model_inputs.push_back({.name = std::string(kColumnsInput),
                              .dtype = DType::kF64,
                              .dims = std::vector{rows, columns}});
    } else {
      for (const Feature& input : inputs) {
        EMBER_ASSIGN_OR_RETURN(model_inputs.emplace_back(),
                               InputOf(input, rows));
      }
    }
    EMBER_ASSIGN_OR_RETURN(
        const std::vector<graph::Value*> values,
        frontends::AddInputs(model_inputs, options_, builder_));
    if (!IsWide(inputs)) {
      for (size_t i = 0; i < values.size(); ++i) {
        features_[inputs[i].name] = {
            Tensor(&builder_, values[i]), model_inputs[i].logical_type,
            DictionaryKeys(model_.root(), inputs[i].name)};
      }
      return builder_.status();
    }
    table_ = Tensor(&builder_, values[0]);
    for (const Feature& input : inputs) table_names_.push_back(input.name);
    // In a pipeline each column of the merged input becomes a feature, because
    // the models of the pipeline look inputs up by name. Any other model reads
    // all columns together.
    const bool has_parts = IsPipeline(KindOf(model_.root()));
    for (size_t i = 0; has_parts && i < inputs.size(); ++i) {
      features_[inputs[i].name] = {
          Squeeze(SliceAxis(table_, 1, Dim(static_cast<int64_t>(i)), Dim(1)),
                  {1}),
          ""};
    }
    return builder_.status();
  }

  StatusOr<frontends::ModelInput> InputOf(const Feature& feature,
                                          const frontends::ModelDim& rows) {
    frontends::ModelInput input{.name = feature.name, .dtype = feature.dtype};
    std::vector<frontends::ModelDim>& dims = input.dims.emplace();
    switch (feature.kind) {
      case Feature::kInt64:
      case Feature::kDouble:
        dims = {rows};
        break;
      case Feature::kString:
        dims = {rows};
        input.dtype = DType::kI64;
        input.logical_type = "string";
        break;
      case Feature::kImage:
        dims = {{.extent = 1},
                {.extent = feature.dims[0], .may_differ = feature.varies[0]},
                {.extent = feature.dims[1], .may_differ = feature.varies[1]},
                {.extent = feature.is_gray ? 1 : 3}};
        break;
      case Feature::kArray:
        for (size_t i = 0; i < feature.dims.size(); ++i) {
          dims.push_back(
              {.extent = feature.dims[i],
               .may_differ = feature.varies[i] || feature.dims[i] < 0});
        }
        break;
      case Feature::kDictionary: {
        const auto keys = static_cast<int64_t>(
            DictionaryKeys(model_.root(), feature.name).size());
        if (keys == 0) {
          return UnimplementedError(
              "input " + Quoted(feature.name) +
              ": expected a dictionary whose keys a vectorizer of the model "
              "knows, found none");
        }
        input.dtype = DType::kF64;
        dims = {rows, {.extent = keys}};
        break;
      }
      default:
        return UnimplementedError("input " + Quoted(feature.name) +
                                  ": sequences are "
                                  "not supported");
    }
    const auto pins = options_.input_shapes.find(feature.name);
    for (size_t i = 0; i < dims.size(); ++i) {
      const bool pinned = pins != options_.input_shapes.end() &&
                          i < pins->second.size() && pins->second[i];
      if (dims[i].extent >= 0 || pinned) continue;
      return UnimplementedError("input " + Quoted(feature.name) +
                                ": expected dims, found some that the model "
                                "leaves open: pin them");
    }
    return input;
  }

  const Model& model_;
  const frontends::ImportOptions& options_;
  graph::GraphBuilder builder_;
  Features features_;
  Tensor table_;
  std::vector<std::string> table_names_;
};

StatusOr<graph::Graph> ImportRead(const Model& model,
                                  const frontends::ImportOptions& options,
                                  std::string_view name) {
  StatusOr<graph::Graph> graph = Importer(model, options).Import();
  if (!graph.ok()) return frontends::OfModel(graph.status(), name);
  graph->set_metadata(MetadataOf(model));
  return graph;
}

}  // namespace

bool ReadsKind(uint64_t kind) {
  return IsNetwork(kind) || IsPipeline(kind) || IsClassic(kind) ||
         kind == kProgram;
}

void FindMissing(const ProtobufView& model, int depth,
                 frontends::UnsupportedParts& missing) {
  const uint64_t kind = KindOf(model);
  if (IsNetwork(kind)) return FindMissingLayers(model.Message(kind), missing);
  if (kind == kProgram)
    return FindMissingOperations(model.Message(kind), missing);
  if (IsPipeline(kind)) {
    if (depth >= kMaxDepth)
      return missing.Add("pipeline", "", "it is too deep");
    for (const ProtobufView& part : PipelineOf(model, kind).Messages(1))
      FindMissing(part, depth + 1, missing);
    return;
  }
  if (ReadsKind(kind)) return;
  const std::string_view name = KindName(kind);
  missing.Add(name.empty() ? "model of kind " + std::to_string(kind)
                           : std::string(name),
              "", "models of this kind are not read");
}

Status ImportAny(ModelContext& context, const ProtobufView& model, int depth,
                 Features& features) {
  const uint64_t kind = KindOf(model);
  if (IsNetwork(kind)) return ImportNetwork(context, model, kind, features);
  if (kind == kProgram) return ImportProgram(context, model, features);
  if (IsClassic(kind)) return ImportClassic(context, model, kind, features);
  if (!IsPipeline(kind) || depth >= kMaxDepth)
    return UnimplementedError("unsupported kind of model");
  for (const ProtobufView& part : PipelineOf(model, kind).Messages(1))
    EMBER_RETURN_IF_ERROR(ImportAny(context, part, depth + 1, features));
  return OkStatus();
}

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options) {
  std::filesystem::path path(file.path());
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  const StatusOr<std::shared_ptr<const Model>> model = Model::Open(file);
  if (!model.ok()) return frontends::OfModel(model.status(), name);
  return ImportRead(**model, options, name);
}

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  graph::ConstantData file = frontends::KeptBytes(bytes, std::move(owner));
  const StatusOr<Model> model = Model::Read(file.bytes, std::move(file.owner));
  if (!model.ok()) return frontends::OfModel(model.status(), name);
  return ImportRead(*model, options, name);
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& /*options*/) {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model,
                         Model::Open(file));
  const std::vector<Feature> inputs =
      FeaturesOf(model->root().Message(kDescription), 1);
  if (IsWide(inputs))
    return std::vector<frontends::InputInfo>{{std::string(kColumnsInput)}};
  std::vector<frontends::InputInfo> infos;
  infos.reserve(inputs.size());
  for (const Feature& input : inputs) infos.push_back({input.name});
  return infos;
}

}  // namespace ember::coreml
