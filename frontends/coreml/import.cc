#include "frontends/coreml/import.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include "base/one_line.h"
#include "frontends/coreml/importer.h"
#include "frontends/coreml/model.h"

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

// Whether rows may be given, rather than one.
bool IsTable(const std::vector<Feature>& inputs) {
  return !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), IsColumn);
}

// Whether the columns are one input.
bool IsWide(const std::vector<Feature>& inputs) {
  return inputs.size() > kMaximumColumns &&
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
      : model_(model), options_(options), builder_("main") {}

  StatusOr<graph::Graph> Import() {
    if (!options_.entry.empty()) {
      return InvalidArgumentError(
          "entry: expected none, as the main function is imported, found '" +
          options_.entry + "'");
    }
    MissingParts missing;
    FindMissing(model_.root(), 0, missing);
    EMBER_RETURN_IF_ERROR(model_.CheckWhole());
    EMBER_RETURN_IF_ERROR(ErrorOf(missing));
    EMBER_RETURN_IF_ERROR(AddInputs());
    ImportContext context{builder_, model_, table_, table_names_};
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
    EMBER_RETURN_IF_ERROR(model_.CheckWhole());
    return builder_.Finish();
  }

 private:
  static Status ErrorOf(const MissingParts& missing) {
    if (missing.empty()) return OkStatus();
    std::string text = "unsupported operators: ";
    bool first = true;
    for (const auto& [name, use] : missing) {
      text +=
          (first ? "" : ", ") + name + " (" + "layer '" + use.place + "'" +
          (use.count > 1 ? ", " + std::to_string(use.count) + " layers" : "") +
          (use.reason.empty() ? "" : "; " + use.reason) + ")";
      first = false;
    }
    return UnimplementedError(OnOneLine(text));
  }

  // The model's dims with those that are pinned.
  StatusOr<Shape> ShapeOf(const std::string& name, Shape shape,
                          const std::vector<bool>& varies) {
    const std::string what = "input " + Quoted(name);
    const auto pins = options_.input_shapes.find(name);
    if (pins != options_.input_shapes.end()) {
      if (pins->second.size() != shape.size()) {
        return InvalidArgumentError(
            what + ": expected a pinned shape of rank " +
            std::to_string(shape.size()) + ", found rank " +
            std::to_string(pins->second.size()));
      }
      for (size_t i = 0; i < shape.size(); ++i) {
        if (!pins->second[i]) continue;
        const Dim pin(*pins->second[i]);
        const bool fixed = shape[i].is_constant() && shape[i] != pin &&
                           shape[i].constant() >= 0 && !varies[i];
        if (*pins->second[i] < 0 || fixed) {
          return InvalidArgumentError(what + " axis " + std::to_string(i) +
                                      ": expected pin " + shape[i].ToString() +
                                      ", found " +
                                      std::to_string(*pins->second[i]));
        }
        shape[i] = pin;
      }
    }
    for (const Dim& dim : shape) {
      if (!dim.is_constant() || dim.constant() >= 0) continue;
      return UnimplementedError(what +
                                ": expected dims, found some that the model "
                                "leaves open: pin them");
    }
    return shape;
  }

  StatusOr<Tensor> AddInput(const std::string& name, DType dtype,
                            const Shape& shape,
                            const std::string& logical_type) {
    const auto known = options_.input_values.find(name);
    if (known == options_.input_values.end()) {
      return Tensor(&builder_,
                    builder_.Input(name, {dtype, shape}, logical_type));
    }
    const frontends::KnownTensor& value = known->second;
    if (value.strings || !logical_type.empty() || value.dtype != dtype) {
      return InvalidArgumentError(
          "input " + Quoted(name) + ": expected numbers of type " +
          std::string(DTypeName(dtype)) + ", found others");
    }
    return Tensor(&builder_, builder_.Constant(
                                 dtype, value.dims,
                                 {.owner = value.owner, .bytes = value.bytes}));
  }

  Status AddInputs() {
    const std::vector<Feature> inputs =
        FeaturesOf(model_.root().Message(kDescription), 1);
    const Dim rows = IsTable(inputs) ? Dim::Symbol("N") : Dim(1);
    std::vector<std::string> names;
    if (IsWide(inputs)) {
      names.emplace_back(kColumnsInput);
      const auto count = static_cast<int64_t>(inputs.size());
      EMBER_ASSIGN_OR_RETURN(
          const Shape shape,
          ShapeOf(names[0], {rows, Dim(count)}, {true, false}));
      EMBER_ASSIGN_OR_RETURN(table_,
                             AddInput(names[0], DType::kF64, shape, ""));
      for (const Feature& input : inputs) table_names_.push_back(input.name);
      // Where a model takes all of them they need no names.
      const bool has_parts = IsPipeline(KindOf(model_.root()));
      for (int64_t i = 0; has_parts && i < count; ++i) {
        features_[inputs[static_cast<size_t>(i)].name] = {
            Squeeze(SliceAxis(table_, 1, Dim(i), Dim(1)), {1}), ""};
      }
    } else {
      for (const Feature& input : inputs) {
        names.push_back(input.name);
        EMBER_RETURN_IF_ERROR(AddFeature(input, rows));
      }
    }
    for (const auto& [name, pins] : options_.input_shapes) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      std::string list;
      for (const std::string& known : names)
        list += (list.empty() ? "" : ", ") + Quoted(known);
      return InvalidArgumentError("pinned shape: expected one of the inputs " +
                                  list + ", found " + Quoted(name));
    }
    return builder_.status();
  }

  Status AddFeature(const Feature& input, const Dim& rows) {
    Shape shape;
    std::vector<bool> varies = input.varies;
    std::string logical_type;
    DType dtype = input.dtype;
    switch (input.kind) {
      case Feature::kInt64:
      case Feature::kDouble:
        shape = {rows};
        varies = {true};
        break;
      case Feature::kString:
        shape = {rows};
        varies = {true};
        dtype = DType::kI64;
        logical_type = "string";
        break;
      case Feature::kImage:
        shape = {Dim(1), Dim(input.dims[0]), Dim(input.dims[1]),
                 Dim(input.is_gray ? 1 : 3)};
        varies = {false, input.varies[0], input.varies[1], false};
        break;
      case Feature::kArray:
        shape.assign(input.dims.begin(), input.dims.end());
        break;
      default:
        return UnimplementedError("input " + Quoted(input.name) +
                                  ": dictionaries, sequences and states are "
                                  "not supported");
    }
    EMBER_ASSIGN_OR_RETURN(shape, ShapeOf(input.name, shape, varies));
    EMBER_ASSIGN_OR_RETURN(const Tensor value,
                           AddInput(input.name, dtype, shape, logical_type));
    features_[input.name] = {value, logical_type};
    return builder_.status();
  }

  const Model& model_;
  const frontends::ImportOptions& options_;
  graph::GraphBuilder builder_;
  Features features_;
  Tensor table_;
  std::vector<std::string> table_names_;
};

Status Named(const Status& status, std::string_view name) {
  return Status(status.code(), OnOneLine(status.message()))
      .WithContext("model '" + OnOneLine(name) + "'");
}

StatusOr<graph::Graph> ImportRead(const StatusOr<Model>& model,
                                  const frontends::ImportOptions& options,
                                  std::string_view name) {
  if (!model.ok()) return Named(model.status(), name);
  StatusOr<graph::Graph> graph = Importer(*model, options).Import();
  if (!graph.ok()) return Named(graph.status(), name);
  return graph;
}

}  // namespace

void AddMissing(MissingParts& missing, const std::string& name,
                const std::string& place, std::string_view reason) {
  Missing& use = missing[name];
  if (use.count++ > 0) return;
  use.place = place;
  use.reason = reason;
}

void FindMissing(const ProtobufView& model, int depth, MissingParts& missing) {
  const uint64_t kind = KindOf(model);
  if (IsNetwork(kind)) return FindMissingLayers(model.Message(kind), missing);
  if (kind == kProgram)
    return FindMissingOperations(model.Message(kind), missing);
  if (IsPipeline(kind)) {
    if (depth >= kMaximumDepth)
      return AddMissing(missing, "pipeline", "", "it is too deep");
    for (const ProtobufView& part : PipelineOf(model, kind).Messages(1))
      FindMissing(part, depth + 1, missing);
    return;
  }
  if (IsClassic(kind)) return;
  const std::string_view name = KindName(kind);
  AddMissing(missing,
             name.empty() ? "model of kind " + std::to_string(kind)
                          : std::string(name),
             "", "models of this kind are not read");
}

Status ImportAny(ImportContext& context, const ProtobufView& model, int depth,
                 Features& features) {
  const uint64_t kind = KindOf(model);
  if (IsNetwork(kind)) return ImportNetwork(context, model, kind, features);
  if (kind == kProgram) return ImportProgram(context, model, features);
  if (IsClassic(kind)) return ImportClassic(context, model, kind, features);
  if (!IsPipeline(kind) || depth >= kMaximumDepth)
    return UnimplementedError("unsupported kind of model");
  for (const ProtobufView& part : PipelineOf(model, kind).Messages(1))
    EMBER_RETURN_IF_ERROR(ImportAny(context, part, depth + 1, features));
  return OkStatus();
}

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const frontends::ImportOptions& options) {
  std::filesystem::path file(path);
  if (!file.has_filename()) file = file.parent_path();
  return ImportRead(Model::Open(path), options, file.filename().string());
}

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  if (owner == nullptr) {
    // As aligned as a mapped file.
    constexpr std::align_val_t kAlignment{64};
    auto* copy = static_cast<uint8_t*>(
        ::operator new(std::max<size_t>(bytes.size(), 1), kAlignment));
    if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
    owner = std::shared_ptr<uint8_t>(
        copy, [](uint8_t* memory) { ::operator delete(memory, kAlignment); });
    bytes = {copy, bytes.size()};
  }
  return ImportRead(Model::Read(bytes, std::move(owner)), options, name);
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    const std::string& path, const frontends::ImportOptions& /*options*/) {
  EMBER_ASSIGN_OR_RETURN(const Model model, Model::Open(path));
  const std::vector<Feature> inputs =
      FeaturesOf(model.root().Message(kDescription), 1);
  if (IsWide(inputs))
    return std::vector<frontends::InputInfo>{{std::string(kColumnsInput)}};
  std::vector<frontends::InputInfo> infos;
  for (const Feature& input : inputs) infos.push_back({input.name});
  return infos;
}

}  // namespace ember::coreml
