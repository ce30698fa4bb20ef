#include "frontends/inputs.h"

#include <map>
#include <set>
#include <utility>

#include "base/one_line.h"

namespace ember::frontends {
namespace {

using graph::Dim;
using graph::Shape;

Status CheckNames(const std::vector<ModelInput>& inputs,
                  const ImportOptions& options) {
  std::string names;
  for (const ModelInput& input : inputs)
    names += (names.empty() ? "'" : ", '") + OnOneLine(input.name) + "'";
  const auto check = [&](const std::string& name,
                         std::string_view what) -> Status {
    for (const ModelInput& input : inputs)
      if (input.name == name) return OkStatus();
    return InvalidArgumentError(std::string(what) +
                                ": expected one of the inputs " + names +
                                ", found '" + OnOneLine(name) + "'");
  };
  for (const auto& [name, pins] : options.input_shapes)
    EMBER_RETURN_IF_ERROR(check(name, "pinned shape"));
  for (const auto& [name, value] : options.input_values)
    EMBER_RETURN_IF_ERROR(check(name, "given value"));
  return OkStatus();
}

bool IsFixed(const ModelDim& dim) {
  return !dim.may_differ && dim.symbol.empty() && !dim.expression;
}

// Returns the user's pins for an input, one entry per axis: the extent that the
// user fixed, or nullopt. It also edits `input`: a dim that the user wants to
// leave open, and that the model does not really fix, becomes open.
StatusOr<std::vector<std::optional<int64_t>>> PinsOf(
    const ImportOptions& options, ModelInput& input) {
  const std::string what = "input '" + OnOneLine(input.name) + "'";
  std::vector<std::optional<int64_t>> pins;
  if (input.dims) pins.resize(input.dims->size());
  const auto shape = options.input_shapes.find(input.name);
  if (shape != options.input_shapes.end()) pins = shape->second;
  const auto value = options.input_values.find(input.name);
  if (value != options.input_values.end())
    pins.assign(value->second.dims.begin(), value->second.dims.end());
  const bool given = shape != options.input_shapes.end() ||
                     value != options.input_values.end();
  if (!input.dims && !given) {
    return InvalidArgumentError(
        what +
        ": the model does not say how many dims it has: give its shape "
        "(--shape), or a value");
  }
  if (input.dims && pins.size() != input.dims->size()) {
    return InvalidArgumentError(what + ": expected a pinned shape of rank " +
                                std::to_string(input.dims->size()) +
                                ", found rank " + std::to_string(pins.size()));
  }
  if (!given) return pins;
  for (size_t i = 0; i < pins.size(); ++i) {
    if (pins[i] && *pins[i] < 0) {
      return InvalidArgumentError(what + " axis " + std::to_string(i) +
                                  ": expected pin 0 or more, found " +
                                  std::to_string(*pins[i]));
    }
    if (!input.dims) continue;
    ModelDim& dim = (*input.dims)[i];
    if (IsFixed(dim) && pins[i] != dim.extent)
      return FixedDimError(what, i, dim.extent, pins[i]);
    if (dim.may_differ && !pins[i]) dim = OpenDim(input.name, i);
  }
  return pins;
}

struct SymbolPin {
  std::string symbol;
  int64_t extent;
};
// A pin of a dim that is an expression a*N + b also fixes the symbol N. Solves
// a*N + b = `pinned` for N; nullopt for other expressions, and if no integer N
// >= 0 solves it.
std::optional<SymbolPin> SolvedPin(const Dim& expression, int64_t pinned) {
  const std::set<std::string> symbols = expression.Symbols();
  if (symbols.size() != 1) return std::nullopt;
  const std::string& symbol = *symbols.begin();
  const Dim offset = expression.Substitute({{symbol, Dim(0)}});
  const Dim scale = expression.Substitute({{symbol, Dim(1)}}) - offset;
  if (scale * Dim::Symbol(symbol) + offset != expression) return std::nullopt;
  const Dim extent = FloorDivide(Dim(pinned) - offset, scale);
  if (!extent.is_valid() || !extent.is_constant() || extent.constant() < 0 ||
      extent * scale + offset != Dim(pinned))
    return std::nullopt;
  return SymbolPin{symbol, extent.constant()};
}

graph::Value* Known(const ModelInput& input, const KnownTensor& value,
                    graph::GraphBuilder& builder) {
  if (!value.strings) {
    return builder.Constant(input.dtype, value.dims,
                            {.owner = value.owner, .bytes = value.bytes});
  }
  std::vector<int64_t> handles;
  for (const std::string& text : *value.strings)
    handles.push_back(builder.StringHandle(text));
  const auto* begin = reinterpret_cast<const uint8_t*>(handles.data());
  return builder.Constant(
      input.dtype, value.dims,
      graph::ConstantData::Copy({begin, handles.size() * sizeof(int64_t)}));
}

}  // namespace

std::string ToIdentifier(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '_';
    name += plain ? c : '_';
  }
  if (name.empty() || name[0] == '_' || (name[0] >= '0' && name[0] <= '9'))
    name = "d" + name;
  return name;
}

Status FixedDimError(std::string_view input, size_t axis, int64_t fixed,
                     std::optional<int64_t> found) {
  const std::string extent = std::to_string(fixed);
  return InvalidArgumentError(
      std::string(input) + " axis " + std::to_string(axis) + ": expected " +
      extent + ", as the model fixes this dim, found " +
      (found ? std::to_string(*found) : "'?' for an open one") + "; give " +
      extent + ", or export the model with this dim open");
}

ModelDim OpenDim(std::string_view input, size_t axis) {
  return {.symbol = ToIdentifier(input) + "_" + std::to_string(axis)};
}

StatusOr<std::vector<graph::Value*>> AddInputs(std::vector<ModelInput> inputs,
                                               const ImportOptions& options,
                                               graph::GraphBuilder& builder) {
  EMBER_RETURN_IF_ERROR(CheckNames(inputs, options));
  std::vector<std::vector<std::optional<int64_t>>> pins;
  // Maps the name of a dim to the extent that the user fixed for it. The extent
  // applies to every dim with this name.
  std::map<std::string, int64_t> extents;
  for (ModelInput& input : inputs) {
    EMBER_ASSIGN_OR_RETURN(pins.emplace_back(), PinsOf(options, input));
    for (size_t i = 0; input.dims && i < pins.back().size(); ++i) {
      if (!pins.back()[i]) continue;
      const ModelDim& dim = (*input.dims)[i];
      std::optional<SymbolPin> pin;
      if (options.separate_dims) continue;
      if (!dim.symbol.empty()) pin = {dim.symbol, *pins.back()[i]};
      if (dim.expression) pin = SolvedPin(*dim.expression, *pins.back()[i]);
      if (!pin) continue;
      const auto [at, is_new] = extents.emplace(pin->symbol, pin->extent);
      if (!is_new && at->second != pin->extent) {
        return InvalidArgumentError(
            "input '" + OnOneLine(input.name) + "' axis " + std::to_string(i) +
            ": expected " + std::to_string(at->second) +
            ", as another input has for the same dim, found " +
            std::to_string(pin->extent));
      }
    }
  }
  std::vector<graph::Value*> values;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const ModelInput& input = inputs[k];
    Shape shape;
    for (size_t i = 0; i < pins[k].size(); ++i) {
      const ModelDim dim =
          input.dims ? (*input.dims)[i] : OpenDim(input.name, i);
      const auto pinned = extents.find(dim.symbol);
      if (pins[k][i]) {
        shape.push_back(Dim(*pins[k][i]));
      } else if (dim.expression) {
        const Dim known =
            dim.expression->Substitute({extents.begin(), extents.end()});
        shape.push_back(known.is_constant()
                            ? known
                            : Dim::Symbol(OpenDim(input.name, i).symbol));
      } else if (dim.symbol.empty()) {
        shape.push_back(Dim(dim.extent));
      } else if (options.separate_dims) {
        shape.push_back(Dim::Symbol(OpenDim(input.name, i).symbol));
      } else if (pinned != extents.end()) {
        shape.push_back(Dim(pinned->second));
      } else {
        shape.push_back(Dim::Symbol(dim.symbol));
      }
    }
    const auto known = options.input_values.find(input.name);
    if (known == options.input_values.end()) {
      values.push_back(
          builder.Input(input.name, {input.dtype, shape}, input.logical_type));
    } else {
      const bool strings = input.logical_type == "string";
      const KnownTensor& value = known->second;
      if (value.strings.has_value() != strings ||
          (!strings && value.dtype != input.dtype)) {
        return InvalidArgumentError(
            "input '" + OnOneLine(input.name) + "': expected type " +
            (strings ? "string" : std::string(DTypeName(input.dtype))) +
            ", found " +
            (value.strings ? "string" : std::string(DTypeName(value.dtype))));
      }
      values.push_back(Known(input, value, builder));
    }
    EMBER_RETURN_IF_ERROR(builder.status());
  }
  return values;
}

}  // namespace ember::frontends
