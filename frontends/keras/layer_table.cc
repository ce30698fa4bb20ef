#include "frontends/keras/layer_table.h"

#include <map>
#include <string>

#include "base/one_line.h"

namespace ember::keras {
namespace {

constexpr std::string_view kCode =
    "it computes by Python's byte code: make it of layers, or of keras.ops";
constexpr std::string_view kOtherFramework =
    "it runs a program of another framework: export that program";
constexpr std::string_view kLookup =
    "vocabularies are files of their own: look words up before the model";
constexpr std::string_view kStrings =
    "hashes of strings are not here: make the indices an input of the model";
constexpr std::string_view kSpectrogram =
    "there are no complex numbers here: transform signals before the model";
constexpr std::string_view kCell =
    "a cell is not called by itself: put it into an RNN";
constexpr std::string_view kCuDnn =
    "its weights are in cuDNN's order: load it with Keras into LSTM or GRU, "
    "and save that";
constexpr std::string_view kRandomImage =
    "its configuration alone does not define its effect on images outside of "
    "training";
constexpr std::string_view kAdaptive =
    "its windows differ in size: use a pooling layer with a size";
constexpr std::string_view kTensorFlowCall =
    "a method, property or slice of a tensor that the model takes without a "
    "layer: use a layer (Cropping, Reshape, Permute …)";
constexpr std::string_view kTensorFlowNode =
    "it is a node of a TensorFlow graph: save the model with TensorFlow 2.4 or "
    "newer, or as a SavedModel";

using enum Masking;
constexpr std::nullptr_t kNone = nullptr;

constexpr LayerRow kLayers[] = {
#define EMBER_ROW(name, masking, weights, inner, function) \
  {#name, masking, weights, inner, function},
#define EMBER_NO(op, why) {.name = #op, .reason = why},
    EMBER_KERAS_LAYERS(EMBER_ROW, EMBER_NO)
#undef EMBER_ROW
#undef EMBER_NO
};

constexpr FunctionRow kFunctions[] = {
#define EMBER_FUNCTION(keras2, keras3, function) {keras2, keras3, function},
#define EMBER_SCALAR(keras2, keras3, function) \
  {keras2, keras3, [](LayerContext& c) { CallScalar(c, ops::function); }},
    EMBER_KERAS_FUNCTIONS(EMBER_FUNCTION, EMBER_SCALAR)
#undef EMBER_FUNCTION
#undef EMBER_SCALAR
};

bool IsFunctionOfKeras3(const Layer& layer) {
  return layer.module.find(".ops") != std::string::npos;
}

// Returns the rows for functions, by their names in the given version of Keras.
const std::map<std::string_view, LayerRow>& Functions(bool keras3) {
  static const auto* const kTables = [] {
    auto* tables = new std::map<std::string_view, LayerRow>[2];
    for (const FunctionRow& row : kFunctions) {
      const LayerRow layer{.name = row.keras3.empty() ? row.keras2 : row.keras3,
                           .masking = Masking::kPass,
                           .import = row.import};
      if (!row.keras2.empty()) tables[0].emplace(row.keras2, layer);
      if (!row.keras3.empty()) tables[1].emplace(row.keras3, layer);
    }
    return tables;
  }();
  return kTables[keras3 ? 1 : 0];
}

}  // namespace

std::span<const LayerRow> LayerRows() { return kLayers; }
std::span<const FunctionRow> FunctionRows() { return kFunctions; }

std::string ClassNameOf(const Layer& layer) {
  if (layer.class_name == "TFOpLambda")
    return "function tf." + OnOneLine(layer.config.Text("function"));
  if (IsFunctionOfKeras3(layer))
    return "function keras.ops " + OnOneLine(layer.class_name);
  return OnOneLine(layer.class_name);
}

const LayerRow* FindRow(const Layer& layer) {
  if (layer.class_name == "TFOpLambda") {
    const auto& functions = Functions(false);
    const auto found = functions.find(layer.config.Text("function"));
    return found == functions.end() ? nullptr : &found->second;
  }
  if (IsFunctionOfKeras3(layer)) {
    const auto& functions = Functions(true);
    const auto found = functions.find(layer.class_name);
    return found == functions.end() ? nullptr : &found->second;
  }
  static const auto* const kByName = [] {
    auto* rows = new std::map<std::string_view, const LayerRow*>;
    for (const LayerRow& row : kLayers) rows->emplace(row.name, &row);
    return rows;
  }();
  const auto found = kByName->find(layer.class_name);
  return found == kByName->end() ? nullptr : found->second;
}

}  // namespace ember::keras
