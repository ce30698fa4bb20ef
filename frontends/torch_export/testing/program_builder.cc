#include "frontends/torch_export/testing/program_builder.h"

#include <map>
#include <nlohmann/json.hpp>

#include "frontends/torchscript/testing/archive_builder.h"

namespace ember::torch_export {
namespace {

// The helpers below compose JSON as text, so that only this file of the tests
// knows the names of the schema.
std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}
std::string Member(const std::string& key, const std::string& json) {
  return Quoted(key) + ": " + json;
}
std::string Object(const std::vector<std::string>& members) {
  std::string text = "{";
  for (const std::string& member : members)
    text += (text.size() > 1 ? ", " : "") + member;
  return text + "}";
}
std::string Tagged(const std::string& tag, const std::string& json) {
  return Object({Member(tag, json)});
}
std::string List(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items)
    text += (text.size() > 1 ? ", " : "") + item;
  return text + "]";
}
void Append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}
bool IsNumber(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

// Returns the number by which the schema (its enum ScalarType) denotes a type.
int SchemaType(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return 1;
    case DType::kI8:
      return 2;
    case DType::kI16:
      return 3;
    case DType::kI32:
      return 4;
    case DType::kI64:
      return 5;
    case DType::kF16:
      return 6;
    case DType::kF64:
      return 8;
    case DType::kBool:
      return 12;
    case DType::kBF16:
      return 13;
    default:
      return 7;
  }
}

std::string ExtentJson(const std::string& extent) {
  if (IsNumber(extent)) return Tagged("as_int", extent);
  return Tagged("as_expr", Object({Member("expr_str", Quoted(extent)),
                                   Member("hint", "null")}));
}
std::string MetaJson(DType dtype, const std::vector<std::string>& extents,
                     int64_t offset = 0) {
  std::vector<std::string> sizes;
  std::vector<std::string> strides;
  int64_t stride = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    sizes.insert(sizes.begin(), ExtentJson(extents[i]));
    strides.insert(strides.begin(), ExtentJson(std::to_string(stride)));
    if (IsNumber(extents[i])) stride *= std::stoll(extents[i]);
  }
  return Object({Member("dtype", std::to_string(SchemaType(dtype))),
                 Member("sizes", List(sizes)), Member("requires_grad", "false"),
                 Member("device", R"({"type": "cpu", "index": null})"),
                 Member("strides", List(strides)),
                 Member("storage_offset", ExtentJson(std::to_string(offset))),
                 Member("layout", "7")});
}
std::vector<std::string> Texts(const std::vector<int64_t>& numbers) {
  std::vector<std::string> texts;
  for (const int64_t number : numbers) texts.push_back(std::to_string(number));
  return texts;
}
std::string NameJson(const std::string& name) {
  return Tagged("name", Quoted(name));
}
std::string FullTarget(const std::string& target) {
  for (const char* module : {"_operator.", "math.", "torch.", "builtins."})
    if (target.starts_with(module)) return target;
  return "torch.ops." + target;
}

}  // namespace

Given None() { return {Tagged("as_none", "true"), ""}; }
Given Tensor(const std::string& name) {
  return {Tagged("as_tensor", NameJson(name)), ""};
}
Given Tensors(const std::vector<std::string>& names) {
  std::vector<std::string> items;
  for (const std::string& name : names) items.push_back(NameJson(name));
  return {Tagged("as_tensors", List(items)), ""};
}
Given OptionalTensors(const std::vector<std::string>& names) {
  std::vector<std::string> items;
  for (const std::string& name : names)
    items.push_back(name.empty() ? None().json : Tensor(name).json);
  return {Tagged("as_optional_tensors", List(items)), ""};
}
Given Int(int64_t value) {
  return {Tagged("as_int", std::to_string(value)), ""};
}
Given Ints(const std::vector<int64_t>& values) {
  return {Tagged("as_ints", List(Texts(values))), ""};
}
Given Float(double value) {
  return {Tagged("as_float", nlohmann::json(value).dump()), ""};
}
Given Bool(bool value) {
  return {Tagged("as_bool", value ? "true" : "false"), ""};
}
Given Text(const std::string& value) {
  return {Tagged("as_string", Quoted(value)), ""};
}
Given Type(DType dtype) {
  return {Tagged("as_scalar_type", std::to_string(SchemaType(dtype))), ""};
}
Given Device(const std::string& type) {
  return {Tagged("as_device", Tagged("type", Quoted(type))), ""};
}
Given SymInt(const std::string& name) {
  return {Tagged("as_sym_int", Tagged("as_name", Quoted(name))), ""};
}
Given SymInts(const std::vector<std::string>& values) {
  std::vector<std::string> items;
  for (const std::string& value : values)
    items.push_back(IsNumber(value) ? Tagged("as_int", value)
                                    : Tagged("as_name", Quoted(value)));
  return {Tagged("as_sym_ints", List(items)), ""};
}
Given Named(std::string name, Given argument) {
  return {std::move(argument.json), std::move(name)};
}
Given Graph(const std::string& name, const GraphText& graph) {
  return {Tagged("as_graph", Object({Member("name", Quoted(name)),
                                     Member("graph", graph.Json())})),
          ""};
}

void GraphText::TensorInput(const std::string& name, DType dtype,
                            const std::vector<std::string>& extents) {
  Append(inputs_, Tensor(name).json);
  Append(tensors_, Member(name, MetaJson(dtype, extents)));
}
void GraphText::SymIntInput(const std::string& name) {
  Append(inputs_, SymInt(name).json);
}
void GraphText::ConstantInput(const std::string& json) {
  Append(inputs_, json);
}

void GraphText::AddNode(const std::string& target,
                        const std::vector<Given>& inputs,
                        const std::string& outputs, const std::string& name) {
  std::vector<std::string> arguments;
  for (const Given& input : inputs) {
    arguments.push_back(
        Object({Member("name", Quoted(input.name)), Member("arg", input.json),
                Member("kind", input.name.empty() ? "1" : "2")}));
  }
  Append(nodes_, Object({Member("target", Quoted(FullTarget(target))),
                         Member("inputs", List(arguments)),
                         Member("outputs", outputs), Member("metadata", "{}"),
                         Member("is_hop_single_tensor_return", "null"),
                         Member("name", Quoted(name))}));
}
void GraphText::Node(const std::string& target,
                     const std::vector<Given>& inputs,
                     const std::string& result) {
  AddNode(target, inputs, List({Tensor(result).json}), result);
}
void GraphText::TupleNode(const std::string& target,
                          const std::vector<Given>& inputs,
                          const std::vector<std::string>& results) {
  std::vector<std::string> outputs;
  for (const std::string& result : results)
    outputs.push_back(Tensor(result).json);
  AddNode(target, inputs, List(outputs), results.at(0));
}
void GraphText::ListNode(const std::string& target,
                         const std::vector<Given>& inputs,
                         const std::vector<std::string>& results) {
  AddNode(target, inputs, List({Tensors(results).json}), results.at(0));
}
void GraphText::SymNode(const std::string& target,
                        const std::vector<Given>& inputs,
                        const std::string& result) {
  AddNode(target, inputs, List({SymInt(result).json}), result);
}
void GraphText::Effect(const std::string& target,
                       const std::vector<Given>& inputs) {
  AddNode(target, inputs, "[]", "effect");
}
void GraphText::Result(const Given& value) { Append(outputs_, value.json); }

std::string GraphText::Json() const {
  return Object({Member("inputs", "[" + inputs_ + "]"),
                 Member("outputs", "[" + outputs_ + "]"),
                 Member("nodes", "[" + nodes_ + "]"),
                 Member("tensor_values", "{" + tensors_ + "}"),
                 Member("sym_int_values", "{}"),
                 Member("sym_bool_values", "{}"),
                 Member("is_single_tensor_return", "false"),
                 Member("custom_obj_values", "{}")});
}

void ProgramBuilder::Input(const std::string& name, DType dtype,
                           const std::vector<std::string>& extents) {
  TensorInput(name, dtype, extents);
  Append(input_specs_, Tagged("user_input", Tagged("arg", Tensor(name).json)));
}
void ProgramBuilder::SymInput(const std::string& name) {
  SymIntInput(name);
  Append(input_specs_, Tagged("user_input", Tagged("arg", SymInt(name).json)));
}
void ProgramBuilder::Constant(const std::string& name, int64_t value) {
  ConstantInput(Int(value).json);
  Append(input_specs_,
         Tagged("constant_input", Object({Member("name", Quoted(name)),
                                          Member("value", Int(value).json)})));
}
void ProgramBuilder::Add(const std::string& name, const std::string& spec,
                         Stored stored) {
  TensorInput(name, stored.dtype, Texts(stored.dims));
  Append(input_specs_, spec);
  stored_.push_back(std::move(stored));
}
void ProgramBuilder::Parameter(const std::string& name,
                               const std::string& parameter, DType dtype,
                               const std::vector<int64_t>& dims,
                               const std::vector<uint8_t>& bytes) {
  Add(name,
      Tagged("parameter",
             Object({Member("arg", NameJson(name)),
                     Member("parameter_name", Quoted(parameter))})),
      {parameter, dtype, dims, bytes, false});
}
void ProgramBuilder::Buffer(const std::string& name, const std::string& buffer,
                            DType dtype, const std::vector<int64_t>& dims,
                            const std::vector<uint8_t>& bytes,
                            bool is_persistent) {
  Add(name,
      Tagged("buffer",
             Object({Member("arg", NameJson(name)),
                     Member("buffer_name", Quoted(buffer)),
                     Member("persistent", is_persistent ? "true" : "false")})),
      {buffer, dtype, dims, bytes, !is_persistent});
}
void ProgramBuilder::TensorConstant(const std::string& name,
                                    const std::string& constant, DType dtype,
                                    const std::vector<int64_t>& dims,
                                    const std::vector<uint8_t>& bytes) {
  Add(name,
      Tagged("tensor_constant",
             Object({Member("arg", NameJson(name)),
                     Member("tensor_constant_name", Quoted(constant))})),
      {constant, dtype, dims, bytes, true});
}
void ProgramBuilder::ShareStorage(const std::string& of, int64_t offset) {
  stored_.back().shares = of;
  stored_.back().offset = offset;
}
void ProgramBuilder::Output(const std::string& name) {
  Result(Tensor(name));
  Append(output_specs_,
         Tagged("user_output", Tagged("arg", Tensor(name).json)));
}
void ProgramBuilder::SymOutput(const std::string& name) {
  Result(SymInt(name));
  Append(output_specs_,
         Tagged("user_output", Tagged("arg", SymInt(name).json)));
}
void ProgramBuilder::BufferMutation(const std::string& name,
                                    const std::string& buffer) {
  Result(Tensor(name));
  Append(output_specs_,
         Tagged("buffer_mutation",
                Object({Member("arg", NameJson(name)),
                        Member("buffer_name", Quoted(buffer))})));
}
void ProgramBuilder::InputMutation(const std::string& name,
                                   const std::string& input) {
  Result(Tensor(name));
  Append(output_specs_,
         Tagged("user_input_mutation",
                Object({Member("arg", NameJson(name)),
                        Member("user_input_name", Quoted(input))})));
}
void ProgramBuilder::Range(const std::string& symbol,
                           std::optional<int64_t> least,
                           std::optional<int64_t> largest) {
  const auto json = [](std::optional<int64_t> value) {
    return value ? std::to_string(*value) : std::string("null");
  };
  Append(ranges_, Member(symbol, Object({Member("min_val", json(least)),
                                         Member("max_val", json(largest))})));
}
void ProgramBuilder::Version(int64_t major, int64_t minor) {
  major_ = major;
  minor_ = minor;
}

std::string ProgramBuilder::ProgramJson() const {
  const std::string signature =
      Object({Member("input_specs", "[" + input_specs_ + "]"),
              Member("output_specs", "[" + output_specs_ + "]")});
  const std::string calls = List(
      {Object({Member("fqn", Quoted("")),
               Member("signature",
                      Object({Member("inputs", "[]"), Member("outputs", "[]"),
                              Member("in_spec", Quoted("")),
                              Member("out_spec", Quoted(out_spec_))}))})});
  const std::string version = Object({Member("major", std::to_string(major_)),
                                      Member("minor", std::to_string(minor_))});
  return Object(
      {Member("graph_module",
              Object({Member("graph", Json()), Member("signature", signature),
                      Member("module_call_graph", calls),
                      Member("metadata", "{}")})),
       Member("opset_version", R"({"aten": 10})"),
       Member("range_constraints", "{" + ranges_ + "}"),
       Member("schema_version", version),
       Member("torch_version", Quoted("2.8.0"))});
}

std::string ProgramBuilder::AddPayloads(archive::ZipBuilder& zip,
                                        bool constants) const {
  std::string config;
  std::map<std::string, std::string> entries;
  for (const Stored& stored : stored_) {
    if (stored.is_constant != constants) continue;
    std::string& entry = entries[stored.name];
    if (stored.shares.empty()) {
      entry = (constants ? "tensor_" : "weight_") +
              std::to_string(entries.size() - 1);
      zip.Add((constants ? "net/data/constants/" : "net/data/weights/") + entry,
              {stored.bytes.begin(), stored.bytes.end()});
    } else {
      entry = entries.at(stored.shares);
    }
    Append(config,
           Member(stored.name,
                  Object({Member("path_name", Quoted(entry)),
                          Member("is_param", constants ? "false" : "true"),
                          Member("use_pickle", "false"),
                          Member("tensor_meta",
                                 MetaJson(stored.dtype, Texts(stored.dims),
                                          stored.offset))})));
  }
  return Tagged("config", "{" + config + "}");
}

void ProgramBuilder::Arranged(const std::string& out_spec) {
  out_spec_ = out_spec;
}
void ProgramBuilder::AddTensorsOf(const ProgramBuilder& other) {
  stored_.insert(stored_.end(), other.stored_.begin(), other.stored_.end());
}

std::string ProgramBuilder::ArchiveOf(const std::string& program_json) const {
  archive::ZipBuilder zip;
  const std::string weights = AddPayloads(zip, false);
  zip.Add("net/data/weights/model_weights_config.json", weights);
  const std::string constants = AddPayloads(zip, true);
  zip.Add("net/data/constants/model_constants_config.json", constants);
  zip.Add("net/models/model.json", program_json);
  zip.Add("net/archive_format", "pt2");
  zip.Add("net/archive_version", "0");
  zip.Add("net/byteorder", "little");
  return zip.Finish();
}

// Wraps the pickle instructions of a tensor so that it has a Python attribute.
// PyTorch uses one function for parameters with attributes, and another one for
// other tensors.
static std::string WithAttributes(const std::string& tensor,
                                  bool is_parameter) {
  const std::string attributes =
      "}" + torchscript::PickleText("_dynamo_static_input_type") +
      torchscript::PickleText("unguarded") + "s";
  if (is_parameter) {
    return "ctorch._utils\n_rebuild_parameter_with_state\n(" + tensor + "\x88" +
           "ccollections\nOrderedDict\n)R" + attributes + "tR";
  }
  const std::string function = "ctorch._utils\n_rebuild_tensor_v2\n";
  const std::string arguments =
      tensor.substr(function.size(), tensor.size() - function.size() - 1);
  return "ctorch._tensor\n_rebuild_from_type_v2\n(" + function +
         "ctorch\nTensor\n" + arguments + attributes + "tR";
}

std::string ProgramBuilder::SavedDict(bool constants,
                                      bool with_attributes) const {
  archive::ZipBuilder zip;
  std::string items;
  int count = 0;
  std::map<std::string, std::string> keys;
  for (const Stored& stored : stored_) {
    if (stored.is_constant != constants) continue;
    std::string& key = keys[stored.name];
    key =
        stored.shares.empty() ? std::to_string(count) : keys.at(stored.shares);
    ++count;
    if (stored.shares.empty())
      zip.Add("archive/data/" + key,
              {stored.bytes.begin(), stored.bytes.end()});
    std::vector<int64_t> strides(stored.dims.size());
    int64_t stride = 1;
    for (size_t i = stored.dims.size(); i-- > 0;) {
      strides[i] = stride;
      stride *= stored.dims[i];
    }
    const std::string tensor = torchscript::PickleTensor(
        key, stored.dtype, stored.dims, strides, stored.offset);
    // PyTorch pickles a parameter as a call around the tensor,
    // _rebuild_parameter.
    items += torchscript::PickleText(stored.name);
    if (with_attributes) {
      items += WithAttributes(tensor, count % 2 == 0);
      continue;
    }
    items += constants ? tensor
                       : "ctorch._utils\n_rebuild_parameter\n(" + tensor +
                             "\x88" + "ccollections\nOrderedDict\n)RtR";
  }
  zip.Add("archive/data.pkl", std::string("\x80\x02") +
                                  "ccollections\nOrderedDict\n)R(" + items +
                                  "u.");
  zip.Add("archive/byteorder", "little");
  return zip.Finish();
}

std::string ProgramBuilder::OldArchive(bool with_attributes) const {
  archive::ZipBuilder zip;
  zip.Add("serialized_state_dict.pt", SavedDict(false, with_attributes));
  zip.Add("serialized_constants.pt", SavedDict(true, with_attributes));
  std::string json = ProgramJson();
  for (const std::string kind : {", \"kind\": 1", ", \"kind\": 2"})
    for (size_t at = 0; (at = json.find(kind, at)) != std::string::npos;)
      json.erase(at, kind.size());
  zip.Add("serialized_exported_program.json", json);
  zip.Add("version", std::to_string(major_) + "." + std::to_string(minor_));
  return zip.Finish();
}

}  // namespace ember::torch_export
