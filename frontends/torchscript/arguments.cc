#include "frontends/torchscript/arguments.h"

#include <utility>

#include "base/one_line.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

// Returns X of a type outer[X], for example Optional[X]; null for other types.
const Expression* InnerOf(const Expression* type, std::string_view outer) {
  const bool is_it = type != nullptr &&
                     type->kind == Expression::Kind::kSubscript &&
                     type->parts[0].is_name(outer);
  return is_it ? &type->parts[1] : nullptr;
}

}  // namespace

bool Arguments::IsGiven(const Expression* type, const std::string& name) const {
  if (given_.contains(name)) return true;
  while (const Expression* inner = InnerOf(type, "Optional")) type = inner;
  const bool has_parts =
      type != nullptr && type->kind == Expression::Kind::kSubscript;
  const std::string part = name + "_";
  const auto first = given_.lower_bound(part);
  return has_parts && first != given_.end() && first->starts_with(part);
}

// Adds inputs for the items of an argument that is a list or dict. The options
// name the items: NAME_INDEX for a list, NAME_KEY for a dict.
Status Arguments::AddItems(const Expression* type, const std::string& name,
                           int depth, Part& part) {
  const std::string prefix = name + "_";
  const bool is_list = part.kind == Kind::kList;
  if (is_list) {
    for (size_t i = 0; IsGiven(type, prefix + std::to_string(i)) ||
                       (i == 0 && scope_ == Scope::kAll);
         ++i)
      part.keys.push_back(std::to_string(i));
  } else {
    for (auto at = given_.lower_bound(prefix);
         at != given_.end() && at->starts_with(prefix); ++at)
      part.keys.push_back(at->substr(prefix.size()));
  }
  for (const std::string& key : part.keys) {
    EMBER_RETURN_IF_ERROR(
        AddPart(type, prefix + key, depth + 1, part.parts.emplace_back()));
  }
  if (!part.parts.empty() || scope_ == Scope::kAll) return OkStatus();
  const std::string own = OnOneLine(name);
  return InvalidArgumentError(
      "argument '" + own + "': expected the items of a " +
      (is_list ? "list by their numbers ('" + own + "_0', '" + own + "_1' …)"
               : "dict by their keys ('" + own + "_KEY')") +
      ", each with a value (--input) or a shape (--shape), found none");
}

Status Arguments::AddPart(const Expression* type, const std::string& name,
                          int depth, Part& part) {
  if (depth > 8) {
    return UnimplementedError("argument '" + OnOneLine(name) +
                              "': expected at most 8 levels of tuples");
  }
  while (const Expression* inner = InnerOf(type, "Optional")) type = inner;
  if (const Expression* items = InnerOf(type, "Tuple")) {
    part.kind = Kind::kTuple;
    const bool is_one = items->kind != Expression::Kind::kTuple;
    const size_t count = is_one ? 1 : items->parts.size();
    for (size_t i = 0; i < count; ++i) {
      EMBER_RETURN_IF_ERROR(AddPart(is_one ? items : &items->parts[i],
                                    name + "_" + std::to_string(i), depth + 1,
                                    part.parts.emplace_back()));
    }
    return OkStatus();
  }
  if (const Expression* item = InnerOf(type, "List")) {
    part.kind = Kind::kList;
    return AddItems(item, name, depth, part);
  }
  if (const Expression* item = InnerOf(type, "Dict");
      item != nullptr && item->kind == Expression::Kind::kTuple &&
      item->parts.size() == 2 && item->parts[0].is_name("str") &&
      item->parts[1].kind == Expression::Kind::kName) {
    part.kind = Kind::kDict;
    part.name = name;
    return AddItems(&item->parts[1], name, depth, part);
  }
  frontends::ModelInput input;
  input.name = name;
  const std::string text = type == nullptr ? "Tensor" : TypeText(*type);
  if (text == "Tensor") {
    part.kind = Kind::kTensor;
    const auto known = dtypes_.find(name);
    if (known != dtypes_.end()) input.dtype = known->second;
  } else if (text == "int" || text == "float" || text == "bool" ||
             text == "number") {
    part.kind = text == "int"    ? Kind::kInt
                : text == "bool" ? Kind::kBool
                                 : Kind::kFloat;
    input.dtype = text == "int"    ? DType::kI64
                  : text == "bool" ? DType::kBool
                                   : DType::kF64;
    input.dims.emplace();
  } else {
    return UnimplementedError(
        "argument '" + OnOneLine(name) +
        "': expected a type of tensors, numbers, tuples and lists of them, and "
        "dicts of them by str, found " +
        OnOneLine(text));
  }
  part.input = inputs_.size();
  infos_.push_back(
      {.name = name,
       .has_rank = input.dims.has_value(),
       .has_type = part.kind != Kind::kTensor || dtypes_.contains(name)});
  inputs_.push_back(std::move(input));
  return OkStatus();
}

StatusOr<Arguments> Arguments::Of(const ModuleFile& file,
                                  const Function& method,
                                  const frontends::ImportOptions& options,
                                  const std::map<std::string, DType>& dtypes,
                                  Scope scope) {
  Arguments arguments;
  arguments.dtypes_ = dtypes;
  arguments.scope_ = scope;
  for (const auto& [name, shape] : options.input_shapes)
    arguments.given_.insert(name);
  for (const auto& [name, value] : options.input_values)
    arguments.given_.insert(name);
  const std::vector<std::optional<StoredTensor>> traced =
      file.TracedInputs(method.name);
  for (size_t i = 1; i < method.parameters.size(); ++i) {
    const Parameter& parameter = method.parameters[i];
    Part& part = arguments.parts_.emplace_back();
    const Expression* type = parameter.type ? &*parameter.type : nullptr;
    const bool is_optional =
        parameter.standard || InnerOf(type, "Optional") != nullptr;
    const bool is_left_out =
        is_optional && !arguments.IsGiven(type, parameter.name);
    const size_t first = arguments.inputs_.size();
    if (is_left_out) {
      part.kind = Kind::kNone;
      if (parameter.standard) part.standard = &*parameter.standard;
      if (scope == Scope::kGiven) continue;
      // An optional argument whose type cannot be an input is left out of the
      // list of inputs.
      Part listed;
      if (!arguments.AddPart(type, parameter.name, 0, listed).ok()) {
        arguments.inputs_.resize(first);
        arguments.infos_.resize(first);
      }
      for (size_t k = first; k < arguments.infos_.size(); ++k)
        arguments.infos_[k].is_optional = true;
      continue;
    }
    EMBER_RETURN_IF_ERROR(arguments.AddPart(type, parameter.name, 0, part));
    if (part.kind == Kind::kList || part.kind == Kind::kDict || is_optional)
      for (size_t k = first; k < arguments.infos_.size(); ++k)
        arguments.infos_[k].is_optional = true;
    if (part.kind != Kind::kTensor || i - 1 >= traced.size() || !traced[i - 1])
      continue;
    frontends::ModelInput& input = arguments.inputs_[first];
    if (!dtypes.contains(input.name)) input.dtype = traced[i - 1]->dtype;
    arguments.infos_[first].has_rank = arguments.infos_[first].has_type = true;
    auto& dims = input.dims.emplace();
    for (const int64_t extent : traced[i - 1]->dims)
      dims.push_back({.extent = extent, .may_differ = true});
  }
  return arguments;
}

Value Arguments::ValueOf(const Part& part, const std::vector<Tensor>& inputs,
                         Machine& machine, Interpreter& interpreter) const {
  if (part.standard != nullptr) return interpreter.Standard(*part.standard);
  if (part.kind == Kind::kNone) return Value::None();
  if (part.kind == Kind::kDict) {
    Value dict = machine.NewDict();
    dict.dict->argument = part.name;
    for (size_t i = 0; i < part.parts.size(); ++i) {
      dict.dict->items.emplace_back(
          Value::Text(Kind::kString, part.keys[i]),
          ValueOf(part.parts[i], inputs, machine, interpreter));
    }
    return dict;
  }
  if (part.kind == Kind::kTuple || part.kind == Kind::kList) {
    std::vector<Value> items;
    for (const Part& item : part.parts)
      items.push_back(ValueOf(item, inputs, machine, interpreter));
    return part.kind == Kind::kTuple ? machine.NewTuple(std::move(items))
                                     : machine.NewList(std::move(items));
  }
  const Tensor input = inputs[part.input];
  if (part.kind == Kind::kTensor) return machine.NewTensor(input);
  return machine.ToNumber(part.kind, input);
}

std::vector<Value> Arguments::Values(const std::vector<Tensor>& inputs,
                                     Machine& machine,
                                     Interpreter& interpreter) const {
  std::vector<Value> values;
  for (const Part& part : parts_)
    values.push_back(ValueOf(part, inputs, machine, interpreter));
  return values;
}

}  // namespace ember::torchscript
