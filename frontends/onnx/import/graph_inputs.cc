#include "frontends/onnx/import/graph_inputs.h"

#include <map>
#include <set>

#include "base/one_line.h"
#include "frontends/inputs.h"
#include "frontends/onnx/import/model_index.h"
#include "frontends/onnx/node/tensor.h"
#include "frontends/onnx/node/tensor_proto.h"

namespace ember::onnx {
namespace {

using graph::Dim;

std::string Named(const std::string& input) { return "input '" + input + "'"; }

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

// Gives each open dim its symbol. Dims with the same name in the model get the
// same symbol; an unnamed dim gets a symbol of its own.
class SymbolNames {
 public:
  Dim Named(const std::string& parameter) {
    auto [entry, added] = by_parameter_.emplace(parameter, "");
    if (added) entry->second = Unique(ToIdentifier(parameter));
    return Dim::Symbol(entry->second);
  }
  Dim Fresh(const std::string& input, int axis) {
    return Dim::Symbol(
        Unique(ToIdentifier(input) + "_" + std::to_string(axis)));
  }

 private:
  // Makes the name unique: the second is name_, the third name_3. Two names of
  // a model may differ only in characters that an identifier cannot have.
  std::string Unique(const std::string& name) {
    if (used_.insert(name).second) return name;
    std::string other = name + "_";
    for (int& last = last_.try_emplace(name, 2).first->second;
         !used_.insert(other).second;)
      other = name + "_" + std::to_string(++last);
    return other;
  }

  std::map<std::string, std::string> by_parameter_;
  std::set<std::string> used_;
  // For each name of a symbol that occurred more than once: the number at the
  // end of its last variant, or 2 if that variant is the name with only "_"
  // appended.
  std::map<std::string, int> last_;
};

bool IsNameOfUnknown(const std::string& parameter) {
  return parameter.empty() || parameter == "?" || parameter == "-1" ||
         parameter == "None";
}

class InputReader {
 public:
  explicit InputReader(const ImportOptions& options) : options_(options) {}

  StatusOr<InputType> Read(const ValueInfoProto& info) {
    InputType input;
    input.name = info.name();
    if (!info.type().has_tensor_type()) {
      StatusOr<SequenceType> sequence = ReadSequenceType(info.type());
      if (!sequence.ok())
        return sequence.status().WithContext(Named(input.name));
      // The model may leave the rank of a sequence's elements open. If the user
      // fixes extents for the elements, their number is the rank.
      const auto pins = options_.input_shapes.find(input.name);
      if (pins != options_.input_shapes.end() &&
          sequence->kind != SequenceKind::kMap)
        sequence->rank = static_cast<int>(pins->second.size());
      if (sequence->rank < 0) {
        return InvalidArgumentError(
            Named(input.name) +
            ": the model does not give the rank of its elements; pin a shape");
      }
      input.sequence = *sequence;
      return input;
    }
    const TypeProto::Tensor& type = info.type().tensor_type();
    StatusOr<DType> dtype = StorageFromOnnx(type.elem_type());
    if (!dtype.ok()) return dtype.status().WithContext(Named(input.name));
    if (IsCarriedType(type.elem_type())) input.carried_type = type.elem_type();
    input.type.dtype = *dtype;
    EMBER_ASSIGN_OR_RETURN(input.type.shape, ReadShape(input.name, type));
    return input;
  }

  // Returns the symbols whose extents the user fixed
  // (ImportOptions::input_shapes), with these extents.
  const std::map<std::string, Dim>& pinned() const { return pinned_; }

 private:
  StatusOr<graph::Shape> ReadShape(const std::string& name,
                                   const TypeProto::Tensor& type) {
    auto pins = options_.input_shapes.find(name);
    const bool has_pins = pins != options_.input_shapes.end();
    if (!type.has_shape() && !has_pins) {
      const auto value = options_.input_values.find(name);
      if (value != options_.input_values.end())
        return graph::Shape(value->second.dims.begin(),
                            value->second.dims.end());
      return InvalidArgumentError(
          Named(name) + ": the model does not give its rank; pin its shape");
    }
    const int rank = type.has_shape() ? type.shape().dim_size()
                                      : static_cast<int>(pins->second.size());
    if (rank > kMaxRank) {
      return InvalidArgumentError(Named(name) + ": expected at most " +
                                  std::to_string(kMaxRank) + " dims, found " +
                                  std::to_string(rank));
    }
    if (has_pins && static_cast<int>(pins->second.size()) != rank) {
      return InvalidArgumentError(Named(name) +
                                  ": expected a pinned shape of rank " +
                                  std::to_string(rank) + ", found rank " +
                                  std::to_string(pins->second.size()));
    }
    graph::Shape shape;
    for (int axis = 0; axis < rank; ++axis) {
      Dim dim;
      if (type.has_shape()) {
        EMBER_ASSIGN_OR_RETURN(dim,
                               ReadDim(name, axis, type.shape().dim(axis)));
      } else {
        dim = symbols_.Fresh(name, axis);
      }
      if (has_pins) {
        EMBER_RETURN_IF_ERROR(Pin(name, axis, pins->second[axis], dim));
      }
      shape.push_back(dim);
    }
    return shape;
  }

  StatusOr<Dim> ReadDim(const std::string& name, int axis,
                        const TensorShapeProto::Dimension& dim) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      return Dim(dim.dim_value());
    if (dim.has_dim_value() && dim.dim_value() < -1) {
      return InvalidArgumentError(
          Named(name) + " axis " + std::to_string(axis) +
          ": expected a dim of at least 0, or -1 for an open one, found " +
          std::to_string(dim.dim_value()));
    }
    if (dim.has_dim_param() && !IsNameOfUnknown(dim.dim_param()) &&
        !options_.separate_dims) {
      return symbols_.Named(dim.dim_param());
    }
    return symbols_.Fresh(name, axis);
  }

  // Sets a dim to the extent `pin` that the user fixed, or leaves it open if
  // `pin` is nullopt. Fails if the model fixes another extent.
  Status Pin(const std::string& name, int axis, std::optional<int64_t> pin,
             Dim& dim) {
    const std::string what = Named(name) + " axis " + std::to_string(axis);
    if (pin && *pin < 0) {
      return InvalidArgumentError(what + ": expected pin 0 or more, found " +
                                  std::to_string(*pin));
    }
    if (dim.is_constant()) {
      if (pin == dim.constant()) return OkStatus();
      return frontends::FixedDimError(Named(name), axis, dim.constant(), pin);
    }
    if (!pin) return OkStatus();
    const auto [entry, added] = pinned_.emplace(dim.ToString(), Dim(*pin));
    if (!added && entry->second != Dim(*pin)) {
      return InvalidArgumentError(
          what + ": expected pin " + entry->second.ToString() +
          ", as another input has for the same dim '" + entry->first +
          "', found " + std::to_string(*pin));
    }
    dim = Dim(*pin);
    return OkStatus();
  }

  const ImportOptions& options_;
  SymbolNames symbols_;
  std::map<std::string, Dim> pinned_;
};

Status CheckPins(const std::vector<InputType>& inputs,
                 const ImportOptions& options) {
  for (const auto& [name, pins] : options.input_shapes) {
    bool found = false;
    std::string names;
    for (const InputType& input : inputs) {
      found = found || input.name == name;
      names += (names.empty() ? "'" : ", '") + input.name + "'";
    }
    if (!found) {
      return InvalidArgumentError("pinned shape: expected one of the inputs " +
                                  names + ", found '" + name + "'");
    }
  }
  return OkStatus();
}

}  // namespace

std::string ToIdentifier(std::string_view text) {
  std::string name;
  for (char c : text) name += IsLetterOrDigit(c) ? c : '_';
  // A name that is empty or begins with a digit is no identifier, and names
  // that begin with an underscore are reserved for the compiler. Such a name
  // gets a letter in front.
  if (name.empty() || name[0] == '_' || (name[0] >= '0' && name[0] <= '9'))
    name = "d" + name;
  return name;
}

bool FitsType(const TypeProto& type, const Tensor& value) {
  if (!type.has_tensor_type() || value.sequence() != nullptr) return true;
  const TypeProto::Tensor& stated = type.tensor_type();
  if (stated.has_shape() && stated.shape().dim_size() != value.rank())
    return false;
  const int32_t element = stated.elem_type();
  if (element == TensorProto::UNDEFINED) return true;
  if (IsCarriedType(element)) return element == value.carried_type();
  const StatusOr<DType> dtype = DTypeFromOnnx(element);
  return dtype.ok() && *dtype == value.dtype() && value.carried_type() == 0;
}

Status CheckName(std::string_view what, const std::string& name) {
  if (OnOneLine(name) == name) return OkStatus();
  return InvalidArgumentError(std::string(what) + " '" + OnOneLine(name) +
                              "': expected a name without control characters");
}

StatusOr<std::vector<InputType>> ReadInputs(const GraphProto& graph,
                                            const ImportOptions& options) {
  std::set<std::string> initializers;
  for (const TensorProto& tensor : graph.initializer())
    initializers.insert(tensor.name());
  std::set<std::string> names;
  std::vector<InputType> inputs;
  InputReader reader(options);
  for (const ValueInfoProto& info : graph.input()) {
    if (info.name().empty())
      return InvalidArgumentError("an input of the graph has no name");
    EMBER_RETURN_IF_ERROR(CheckName("input", info.name()));
    if (!names.insert(info.name()).second) {
      return InvalidArgumentError(Named(info.name()) + " occurs twice");
    }
    const bool is_named = options.input_shapes.contains(info.name()) ||
                          options.input_values.contains(info.name());
    if (initializers.count(info.name()) > 0 && !is_named) continue;
    EMBER_ASSIGN_OR_RETURN(InputType input, reader.Read(info));
    inputs.push_back(std::move(input));
  }
  for (InputType& input : inputs) {
    for (Dim& dim : input.type.shape) dim = dim.Substitute(reader.pinned());
  }
  EMBER_RETURN_IF_ERROR(CheckPins(inputs, options));
  return inputs;
}

}  // namespace ember::onnx
