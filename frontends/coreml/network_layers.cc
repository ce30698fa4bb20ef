#include "frontends/coreml/network_layers.h"

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/coreml/layer_context.h"
#include "frontends/coreml/layer_table.h"

namespace ember::coreml {
namespace {

using graph::LoopInputs;
using graph::LoopOutputs;
using graph::LoopRequest;
using graph::Region;
using graph::Value;
using Layers = std::span<const ProtobufView>;

// Numbers of the fields of NeuralNetworkLayer, BranchLayerParams and
// LoopLayerParams.
constexpr uint64_t kLayerName = 1, kLayerInput = 2, kFirstLayerKind = 100;
constexpr uint64_t kBranch = 605, kLoop = 615, kLoopBreak = 620,
                   kLoopContinue = 625;
constexpr uint64_t kIfBranch = 1, kElseBranch = 2;
constexpr uint64_t kMaxIterations = 1, kConditionVariable = 2,
                   kConditionNetwork = 3, kBodyNetwork = 4;

// Names of two flags: "the innermost loop has ended" and "its current iteration
// has ended". Branches pass the flags like blobs. The names begin with a
// character that no name of a model may contain.
constexpr char kOwnNames = '\x01';
const std::string kBroken =
    "\x01"
    "broken";
const std::string kContinued =
    "\x01"
    "continued";

uint64_t KindOfLayer(const ProtobufView& layer) {
  uint64_t kind = 0;
  for (const uint64_t number : layer.Numbers())
    if (number >= kFirstLayerKind) kind = number;
  return kind;
}

std::string NameOfLayer(uint64_t kind) {
  const LayerRow* row = FindLayer(kind);
  return row != nullptr ? std::string(row->name)
                        : "layer " + std::to_string(kind);
}

std::vector<ProtobufView> LayersOf(const ProtobufView& parameters,
                                   uint64_t field) {
  return parameters.Message(field).Messages(kLayers);
}

// Returns the numbers of the fields in which a layer of this kind holds inner
// networks.
std::span<const uint64_t> NetworksOf(uint64_t kind) {
  static constexpr uint64_t kOfBranch[] = {kIfBranch, kElseBranch};
  static constexpr uint64_t kOfLoop[] = {kConditionNetwork, kBodyNetwork};
  if (kind == kBranch) return kOfBranch;
  if (kind == kLoop) return kOfLoop;
  return {};
}

// The effects of a list of layers: the blobs that they and their inner networks
// produce, and whether they may jump out of the current iteration of the
// innermost loop (break, continue).
struct Effects {
  std::set<std::string> blobs;
  bool breaks = false, continues = false;

  bool jumps() const { return breaks || continues; }
  // Returns the names of all values that may differ after the layers.
  std::set<std::string> names() const {
    std::set<std::string> all = blobs;
    if (breaks) all.insert(kBroken);
    if (continues) all.insert(kContinued);
    return all;
  }
};

void AddEffects(Layers layers, int depth, Effects& effects) {
  if (depth > kMaxNesting) return;
  for (const ProtobufView& layer : layers) {
    const uint64_t kind = KindOfLayer(layer);
    for (std::string& name : layer.Texts(kLayerOutput))
      effects.blobs.insert(std::move(name));
    if (kind == kLoopBreak) effects.breaks = true;
    if (kind == kLoopContinue) effects.continues = true;
    for (const uint64_t field : NetworksOf(kind)) {
      Effects inner;
      AddEffects(LayersOf(layer.Message(kind), field), depth + 1, inner);
      effects.blobs.merge(inner.blobs);
      // A jump inside of a loop ends only that loop or its iteration, so it is
      // no effect of the layer that is the loop.
      if (kind == kLoop) continue;
      effects.breaks |= inner.breaks;
      effects.continues |= inner.continues;
    }
  }
}

Effects EffectsOf(Layers layers) {
  Effects effects;
  AddEffects(layers, 0, effects);
  return effects;
}

class LayerImporter {
 public:
  explicit LayerImporter(ModelContext& context) : context_(context) {}

  Status Import(Layers layers, Scope& blobs) {
    EMBER_RETURN_IF_ERROR(blobs.CheckDepth());
    context_.steps.Expect(layers.size());
    for (size_t i = 0; i < layers.size(); ++i) {
      const uint64_t kind = KindOfLayer(layers[i]);
      EMBER_RETURN_IF_ERROR(ImportLayer(layers[i], kind, blobs));
      if (kind == kLoopBreak || kind == kLoopContinue) return OkStatus();
      if (kind != kBranch || !EffectsOf(layers.subspan(i, 1)).jumps()) continue;
      // The remaining layers run only if the branch has not ended the
      // iteration.
      const Layers rest = layers.subspan(i + 1);
      if (rest.empty()) return OkStatus();
      return ImportEither(Not(Left(blobs)), rest, {}, blobs);
    }
    return OkStatus();
  }

 private:
  Status ImportLayer(const ProtobufView& layer, uint64_t kind, Scope& blobs) {
    const LayerRow* row = FindLayer(kind);
    if (row == nullptr || !row->is_read())
      return UnimplementedError("unsupported operator " + NameOfLayer(kind));
    EMBER_RETURN_IF_ERROR(context_.steps.Begin(row->name));
    EMBER_RETURN_IF_ERROR(blobs.CountStep(steps_));
    const std::string origin =
        OnOneLine(layer.Text(kLayerName)) + " (" + std::string(row->name) + ")";
    blobs.builder().SetOrigin(origin);
    const std::string where = "node '" + origin + "'";
    const std::vector<std::string> names = layer.Texts(kLayerInput);
    if (static_cast<int>(names.size()) < row->minimum_inputs ||
        static_cast<int>(names.size()) > row->maximum_inputs) {
      return DataLossError(where + ": expected at least " +
                           std::to_string(row->minimum_inputs) +
                           " inputs, found " + std::to_string(names.size()));
    }
    std::vector<Tensor> inputs;
    for (const std::string& input : names) {
      const MilValue* found = blobs.Find(input);
      if (found == nullptr)
        return blobs.Missing(input, "blob", "a layer").WithContext(where);
      inputs.push_back(found->tensor);
    }
    const ProtobufView parameters = layer.Message(kind);
    if (row->import == nullptr) {
      const Status status = ImportControl(parameters, kind, inputs, blobs);
      EMBER_RETURN_IF_ERROR(blobs.builder().status());
      return status;
    }
    const std::vector<std::string> results = layer.Texts(kLayerOutput);
    LayerContext c(blobs.builder(), parameters, context_.model.owner(),
                   std::move(inputs), results.size());
    row->import(c);
    EMBER_RETURN_IF_ERROR(blobs.builder().status());
    for (size_t i = 0; i < results.size(); ++i) {
      if (!c.outputs()[i]) {
        return UnimplementedError(where + ": output " + std::to_string(i) +
                                  " is not supported");
      }
      if (results[i].starts_with(kOwnNames))
        return DataLossError(where + ": expected a name, found '" +
                             OnOneLine(results[i]) + "'");
      blobs.Set(results[i], {.tensor = c.outputs()[i]});
    }
    return OkStatus();
  }

  Status ImportControl(const ProtobufView& parameters, uint64_t kind,
                       const std::vector<Tensor>& inputs, Scope& blobs) {
    if (kind == kBranch) {
      return ImportEither(AsCondition(inputs[0]),
                          LayersOf(parameters, kIfBranch),
                          LayersOf(parameters, kElseBranch), blobs);
    }
    if (kind == kLoop) return ImportLoop(parameters, inputs, blobs);
    const std::string& flag = kind == kLoopBreak ? kBroken : kContinued;
    if (blobs.Find(flag) == nullptr) {
      return DataLossError("node '" + blobs.builder().origin() +
                           "': expected to be in a loop, found none");
    }
    blobs.Set(flag, {.tensor = Truth(blobs, true)});
    return OkStatus();
  }

  static Tensor Truth(Scope& blobs, bool value) {
    graph::GraphBuilder& builder = blobs.builder();
    return {&builder, builder.Scalar(value ? 1 : 0, DType::kBool)};
  }
  static Tensor AsCondition(const Tensor& x) {
    return NotEqual(Reshape(Cast(x, DType::kF32), {}), 0);
  }
  // True if the current iteration of the innermost loop has ended.
  static Tensor Left(Scope& blobs) {
    return Or(blobs.Find(kBroken)->tensor, blobs.Find(kContinued)->tensor);
  }

  // Imports a conditional: `yes` runs if the condition is true, else `no`.
  Status ImportEither(const Tensor& condition, Layers yes, Layers no,
                      Scope& blobs) {
    EMBER_RETURN_IF_ERROR(blobs.builder().status());
    graph::IfRegions regions(blobs.builder());
    std::set<std::string> names = EffectsOf(yes).names();
    names.merge(EffectsOf(no).names());
    Scope then(blobs, regions.then());
    EMBER_RETURN_IF_ERROR(Import(yes, then));
    Scope otherwise(blobs, regions.otherwise());
    EMBER_RETURN_IF_ERROR(Import(no, otherwise));
    std::vector<std::string> kept;
    std::vector<Value*> then_values, else_values;
    for (const std::string& name : names) {
      const MilValue* a = then.Find(name);
      const MilValue* b = otherwise.Find(name);
      // An error ends the import here. A value after an error has no type, and
      // would be reported as one that a branch does not produce.
      EMBER_RETURN_IF_ERROR(then.builder().status());
      EMBER_RETURN_IF_ERROR(otherwise.builder().status());
      if (a == nullptr || b == nullptr ||
          a->tensor.dtype() != b->tensor.dtype() ||
          a->tensor.rank() != b->tensor.rank()) {
        blobs.Lose(name);
        continue;
      }
      kept.push_back(name);
      then_values.push_back(a->tensor.value());
      else_values.push_back(b->tensor.value());
    }
    if (kept.empty()) return OkStatus();
    const std::vector<Value*> results =
        regions.Build(condition.value(), then_values, else_values);
    EMBER_RETURN_IF_ERROR(blobs.builder().status());
    for (size_t i = 0; i < kept.size(); ++i)
      blobs.Set(kept[i], {.tensor = Tensor(&blobs.builder(), results[i])});
    return OkStatus();
  }

  // Imports the network that computes the condition of a loop, and returns the
  // condition's blob.
  StatusOr<Tensor> ImportCondition(const ProtobufView& parameters,
                                   Scope& blobs) {
    EMBER_RETURN_IF_ERROR(
        Import(LayersOf(parameters, kConditionNetwork), blobs));
    return Condition(parameters, blobs);
  }
  static StatusOr<Tensor> Condition(const ProtobufView& parameters,
                                    Scope& blobs) {
    const std::string name = parameters.Text(kConditionVariable);
    const MilValue* found = blobs.Find(name);
    if (found == nullptr)
      return blobs.Missing(name, "blob", "the condition's network");
    return AsCondition(found->tensor);
  }

  Status ImportLoop(const ProtobufView& parameters,
                    const std::vector<Tensor>& inputs, Scope& blobs) {
    const std::vector<ProtobufView> body = LayersOf(parameters, kBodyNetwork);
    const std::vector<ProtobufView> condition =
        LayersOf(parameters, kConditionNetwork);
    const Effects effects = EffectsOf(body);
    const int64_t most = parameters.Integer(kMaxIterations);
    const std::string origin = blobs.builder().origin();
    if (most < 0)
      return DataLossError("node '" + origin +
                           "': maxLoopIterations: expected less than 2^63");
    LoopRequest request;
    request.conditional = true;
    if (!inputs.empty()) {
      request.limit = Reshape(Cast(inputs[0], DType::kI64), {}).value();
    } else if (most > 0 || condition.empty()) {
      request.limit = blobs.builder().DimValue(Dim(most));
    }
    if (!condition.empty()) {
      EMBER_ASSIGN_OR_RETURN(const Tensor first,
                             ImportCondition(parameters, blobs));
      request.condition = first.value();
    }
    // Blobs that exist before the loop are carried from iteration to iteration;
    // all other blobs exist within one iteration only.
    std::set<std::string> names = effects.blobs;
    names.merge(EffectsOf(condition).blobs);
    std::vector<std::string> carried;
    for (const std::string& name : names) {
      const MilValue* before = blobs.Find(name);
      if (before == nullptr) continue;
      carried.push_back(name);
      request.carried.push_back(before->tensor.value());
    }
    EMBER_RETURN_IF_ERROR(blobs.builder().status());
    const auto build_iteration = [&](Region& region, const LoopInputs& in,
                                     LoopOutputs& out) -> Status {
      Scope inner(blobs, region);
      for (size_t i = 0; i < carried.size(); ++i)
        inner.Set(carried[i],
                  {.tensor = Tensor(&region.builder(), in.carried[i])});
      inner.Set(kBroken, {.tensor = Truth(inner, false)});
      inner.Set(kContinued, {.tensor = Truth(inner, false)});
      EMBER_RETURN_IF_ERROR(Import(body, inner));
      const Tensor stays = Not(inner.Find(kBroken)->tensor);
      Tensor proceed = effects.breaks ? stays : Truth(inner, true);
      if (!condition.empty() && effects.breaks) {
        EMBER_RETURN_IF_ERROR(ImportEither(stays, condition, {}, inner));
        EMBER_ASSIGN_OR_RETURN(const Tensor holds,
                               Condition(parameters, inner));
        proceed = And(stays, holds);
      } else if (!condition.empty()) {
        EMBER_ASSIGN_OR_RETURN(proceed, ImportCondition(parameters, inner));
      }
      out.proceed = proceed.value();
      for (const std::string& name : carried) {
        const MilValue* after = inner.Find(name);
        if (after == nullptr) return inner.Missing(name, "blob", "a layer");
        out.carried.push_back(after->tensor.value());
      }
      return inner.builder().status();
    };
    const std::vector<Value*> results =
        BuildLoop(blobs.builder(), request,
                  [&](Region& region, const LoopInputs& in) -> LoopOutputs {
                    LoopOutputs out;
                    const Status status = build_iteration(region, in, out);
                    if (!status.ok()) region.builder().Fail(status);
                    return out;
                  });
    EMBER_RETURN_IF_ERROR(blobs.builder().status());
    for (const std::string& name : names) blobs.Lose(name);
    for (size_t i = 0; i < carried.size(); ++i)
      blobs.Set(carried[i], {.tensor = Tensor(&blobs.builder(), results[i])});
    blobs.builder().SetOrigin(origin);
    return OkStatus();
  }

  ModelContext& context_;
  int64_t steps_ = 0;
};

void FindMissingIn(Layers layers, int depth,
                   frontends::UnsupportedParts& missing) {
  if (depth > kMaxNesting)
    return missing.Add("branches and loops", "", "they are too deep");
  for (const ProtobufView& layer : layers) {
    const uint64_t kind = KindOfLayer(layer);
    const LayerRow* row = FindLayer(kind);
    if (row == nullptr || !row->is_read()) {
      missing.Add(NameOfLayer(kind), layer.Text(kLayerName),
                  row == nullptr ? "" : row->reason);
    }
    for (const uint64_t field : NetworksOf(kind))
      FindMissingIn(LayersOf(layer.Message(kind), field), depth + 1, missing);
  }
}

}  // namespace

void FindMissingLayers(const ProtobufView& network,
                       frontends::UnsupportedParts& missing) {
  FindMissingIn(network.Messages(kLayers), 0, missing);
}

Status ImportLayers(ModelContext& context, const ProtobufView& network,
                    Scope& blobs) {
  return LayerImporter(context).Import(network.Messages(kLayers), blobs);
}

}  // namespace ember::coreml
