#include "frontends/torch_export/program.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/one_line.h"

namespace ember::torch_export {
namespace {

using Json = nlohmann::json;

constexpr int kMaxGraphs = 32;  // Largest nesting depth of graphs.
constexpr int kMaxLists = 8;    // Largest nesting depth of lists.
// Largest depth of the tree that describes the structure of results.
constexpr int kMaxTrees = 32;
constexpr size_t kMaxNodes = size_t{1} << 20;
// A bound of at least this number counts as infinity, as older writers use
// Python's largest integers for it.
constexpr int64_t kUnlimited = int64_t{1} << 62;

// Converts the number that the schema gives an element type to PyTorch's own.
// Complex and quantized types get numbers without a dtype, and are refused
// later.
int64_t ScalarTypeOf(int64_t number) {
  constexpr int64_t kBFloat16 = 13;
  return number == kBFloat16 ? 15 : number - 1;
}

std::string Shown(const Json& json) {
  if (json.is_array()) return "a list";
  if (json.is_object()) return "an object";
  std::string text =
      json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  constexpr size_t kLongest = 60;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "…";
  return OnOneLine(text);
}

// A union of the schema. In JSON it is an object with one member, whose name
// (`tag`) says which alternative `value` is.
struct Tagged {
  std::string_view tag;
  const Json* value = nullptr;
};

// Appends a name for each leaf of the tree that describes the structure of the
// results (torch.utils._pytree's spec). The names are made from the keys of
// dicts. Returns false if the JSON is no such tree, or a larger one than the
// limits allow.
bool AddLeafNames(const Json& spec, const std::string& name, int depth,
                  std::vector<std::string>& names) {
  if (!spec.is_object() || !spec.contains("type") ||
      !spec.contains("children_spec") || depth > kMaxTrees ||
      names.size() > kMaxNodes)
    return false;
  const Json& children = spec["children_spec"];
  if (!children.is_array()) return false;
  if (spec["type"].is_null()) {
    names.push_back(name);
    return true;
  }
  // `context` points into the tree, because a copy of the JSON would recurse as
  // deeply as the file nests. `parsed` is for files that have it as text.
  Json parsed;
  const Json* context = spec.contains("context") ? &spec["context"] : &parsed;
  if (context->is_string()) {
    parsed = Json::parse(context->get<std::string>(), nullptr, false);
    context = &parsed;
  }
  const Json& keys = *context;
  const bool has_keys = keys.is_array() && keys.size() == children.size();
  for (size_t i = 0; i < children.size(); ++i) {
    std::string own;
    if (has_keys && keys[i].is_string())
      own = keys[i].get<std::string>();
    else if (!name.empty())
      own = std::to_string(i);
    if (!name.empty()) own = name + "_" + own;
    if (!AddLeafNames(children[i], own, depth + 1, names)) return false;
  }
  return true;
}

// Reads the JSON of a program. The first error is kept; malformed parts are
// read as empty ones.
class Reader {
 public:
  Program ReadProgram(const Json& json) {
    Program program;
    const Json& module = Member(json, "graph_module");
    const Json& signature = Member(module, "signature");
    for (const Json& item : List(signature, "input_specs"))
      program.inputs.push_back(ReadInputSpec(item));
    for (const Json& item : List(signature, "output_specs"))
      program.outputs.push_back(ReadOutputSpec(item));
    program.graph = ReadGraph(Member(module, "graph"));
    ReadRanges(json, program);
    ReadResultNames(module, program);
    CheckCount("input", program.graph.inputs.size(), program.inputs.size());
    CheckCount("output", program.graph.outputs.size(), program.outputs.size());
    return program;
  }

  std::map<std::string, Payload, std::less<>> ReadPayloads(const Json& json) {
    std::map<std::string, Payload, std::less<>> payloads;
    const Json& config = Member(json, "config");
    if (!Expect(config.is_object(), "an object", config)) return payloads;
    for (const auto& [name, item] : config.items()) {
      where_ = "'" + OnOneLine(name) + "'";
      Payload payload;
      payload.entry = Text(item, "path_name");
      payload.is_pickle = item.is_object() && item.contains("use_pickle") &&
                          item["use_pickle"] == true;
      const Json* meta = Find(item, "tensor_meta");
      if (meta != nullptr) payload.meta = ReadTensorMeta(*meta);
      payloads.emplace(name, std::move(payload));
    }
    return payloads;
  }

  Status CheckVersion(const Json& json) {
    const Json* version = Find(json, "schema_version");
    // schema_version is an object with a major and a minor number; in older
    // files it is only a number.
    int64_t major = 0;
    if (version != nullptr && version->is_object())
      major = Integer(Member(*version, "major"));
    else if (version != nullptr)
      major = Integer(*version);
    if (!error_.ok()) return error_;
    if (major >= kOldestSchema && major <= kNewestSchema) return OkStatus();
    std::string found =
        version == nullptr ? "none" : "version " + std::to_string(major);
    const Json* torch = Find(json, "torch_version");
    if (torch != nullptr && torch->is_string())
      found += " (PyTorch " + OnOneLine(torch->get<std::string>()) + ")";
    return UnimplementedError(
        "schema_version: expected " + std::to_string(kOldestSchema) + " to " +
        std::to_string(kNewestSchema) + ", found " + found);
  }

  const Status& error() const { return error_; }

 private:
  void Fail(std::string message) {
    if (!error_.ok()) return;
    if (!where_.empty()) message = where_ + ": " + message;
    error_ = DataLossError(std::move(message));
  }
  bool Expect(bool holds, std::string_view expected, const Json& found) {
    if (!holds)
      Fail("expected " + std::string(expected) + ", found " + Shown(found));
    return holds;
  }

  // Returns a member of an object; null if it is absent or null.
  static const Json* Find(const Json& object, std::string_view key) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }
  const Json& Member(const Json& object, std::string_view key) {
    static const Json* const kNothing = new Json();
    const Json* found = Find(object, key);
    if (found == nullptr) {
      Fail("expected a member '" + std::string(key) + "', found none");
      return *kNothing;
    }
    return *found;
  }
  // Returns a member that is a list; an empty list if it is absent.
  const Json& List(const Json& object, std::string_view key) {
    static const Json* const kNoItems = new Json(Json::array());
    const Json* found = Find(object, key);
    if (found == nullptr || !Expect(found->is_array(), "a list", *found))
      return *kNoItems;
    return *found;
  }
  std::string Text(const Json& object, std::string_view key) {
    const Json& text = Member(object, key);
    if (!error_.ok() || !Expect(text.is_string(), "a string", text)) return "";
    return text.get<std::string>();
  }
  int64_t Integer(const Json& json) {
    const bool fits =
        json.is_number_integer() &&
        (!json.is_number_unsigned() ||
         json.get<uint64_t>() <=
             static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
    if (!Expect(fits, "an integer of 64 bits", json)) return 0;
    return json.get<int64_t>();
  }
  // Reads a number. Newer writers use words such as "Infinity" for numbers that
  // JSON does not have.
  double Number(const Json& json) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (json == "Infinity") return kInfinity;
    if (json == "-Infinity") return -kInfinity;
    if (json == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (!Expect(json.is_number(), "a number", json)) return 0;
    return json.get<double>();
  }
  bool Flag(const Json& json) {
    return Expect(json.is_boolean(), "true or false", json) && json.get<bool>();
  }
  // Reads a union: the member that is not null. Writers may add further members
  // that are null.
  Tagged Union(const Json& json) {
    if (json.is_object()) {
      for (const auto& [tag, value] : json.items())
        if (!value.is_null()) return {tag, &value};
    }
    Expect(false, "an object with one member", json);
    return {"", &json};
  }
  void CheckCount(std::string_view what, size_t in_graph, size_t in_signature) {
    if (in_graph == in_signature) return;
    where_.clear();
    Fail("expected an entry of the signature for each " + std::string(what) +
         " of the graph (" + std::to_string(in_graph) + "), found " +
         std::to_string(in_signature));
  }

  Extent ReadExtent(const Json& json) {
    Extent extent;
    const Tagged one = Union(json);
    if (one.tag == "as_int") {
      extent.number = Integer(*one.value);
    } else if (one.tag == "as_expr") {
      extent.expression = Text(*one.value, "expr_str");
      if (extent.expression.empty()) Fail("expected an expression, found none");
    } else {
      Fail("expected an extent 'as_int' or 'as_expr', found '" +
           OnOneLine(one.tag) + "'");
    }
    return extent;
  }
  TensorMeta ReadTensorMeta(const Json& json) {
    TensorMeta meta;
    meta.scalar_type = ScalarTypeOf(Integer(Member(json, "dtype")));
    for (const Json& size : List(json, "sizes"))
      meta.sizes.push_back(ReadExtent(size));
    for (const Json& stride : List(json, "strides"))
      meta.strides.push_back(ReadExtent(stride));
    const Json* offset = Find(json, "storage_offset");
    // storage_offset is a union like the extents; in the first versions of the
    // schema it is a plain number.
    if (offset != nullptr && offset->is_object())
      meta.offset = ReadExtent(*offset);
    else if (offset != nullptr)
      meta.offset.number = Integer(*offset);
    return meta;
  }

  static Argument Make(Argument::Kind kind, std::string text = "") {
    Argument argument;
    argument.kind = kind;
    argument.text = std::move(text);
    return argument;
  }
  Argument MakeInteger(Argument::Kind kind, int64_t integer) {
    Argument argument = Make(kind);
    argument.integer = integer;
    return argument;
  }

  // Reads a list of arguments. The schema has a tag for each type of list,
  // which is the tag of its items (`tag`) with an 's' appended, and one for
  // lists of lists.
  Argument ReadItems(const Json& json, std::string_view tag, int depth) {
    Argument list = Make(Argument::Kind::kList);
    if (!Expect(json.is_array(), "a list", json)) return list;
    for (const Json& item : json) {
      if (!error_.ok()) break;
      list.items.push_back(ReadTagged({tag, &item}, depth + 1));
    }
    return list;
  }

  Argument ReadTagged(const Tagged& one, int depth) {
    using Kind = Argument::Kind;
    if (depth > kMaxLists) {
      Fail("expected at most " + std::to_string(kMaxLists) +
           " lists within each other, found more");
      return {};
    }
    const auto [tag, value] = one;
    if (tag == "as_none") return {};
    if (tag == "as_tensor") return Make(Kind::kTensor, Text(*value, "name"));
    if (tag == "as_name") {
      if (!Expect(value->is_string(), "a name", *value)) return {};
      return Make(Kind::kSymbol, value->get<std::string>());
    }
    if (tag == "as_int") return MakeInteger(Kind::kInteger, Integer(*value));
    if (tag == "as_bool") return MakeInteger(Kind::kBool, Flag(*value) ? 1 : 0);
    if (tag == "as_float") {
      Argument number = Make(Kind::kFloat);
      number.number = Number(*value);
      return number;
    }
    if (tag == "as_string") {
      if (!Expect(value->is_string(), "a string", *value)) return {};
      return Make(Kind::kText, value->get<std::string>());
    }
    if (tag == "as_scalar_type")
      return MakeInteger(Kind::kScalarType, ScalarTypeOf(Integer(*value)));
    if (tag == "as_memory_format" || tag == "as_layout")
      return MakeInteger(Kind::kOption, Integer(*value));
    if (tag == "as_device") return Make(Kind::kDevice, Text(*value, "type"));
    if (tag == "as_sym_int" || tag == "as_sym_float" || tag == "as_sym_bool" ||
        tag == "as_optional_tensor")
      return ReadTagged(Union(*value), depth + 1);
    if (tag == "as_graph") {
      Argument graph = Make(Kind::kGraph, Text(*value, "name"));
      const std::string outer = where_;
      graph.graph =
          std::make_shared<const Graph>(ReadGraph(Member(*value, "graph")));
      where_ = outer;
      return graph;
    }
    static constexpr std::pair<std::string_view, std::string_view> kLists[] = {
        {"as_tensors", "as_tensor"},
        {"as_ints", "as_int"},
        {"as_floats", "as_float"},
        {"as_strings", "as_string"},
        {"as_bools", "as_bool"},
        {"as_sym_ints", "as_sym_int"},
        {"as_sym_floats", "as_sym_float"},
        {"as_sym_bools", "as_sym_bool"},
        {"as_optional_tensors", "as_optional_tensor"},
        {"as_nested_tensors", "as_tensors"},
        {"as_int_lists", "as_ints"}};
    for (const auto& [list, item] : kLists)
      if (tag == list) return ReadItems(*value, item, depth);
    return Make(Kind::kOther, std::string(tag));
  }
  Argument ReadArgument(const Json& json) { return ReadTagged(Union(json), 0); }

  std::string NameOf(const Json& json, const std::vector<Argument>& outputs) {
    const Json* name = Find(json, "name");
    if (name != nullptr && name->is_string()) return name->get<std::string>();
    for (const Argument& output : outputs) {
      if (!output.text.empty()) return output.text;
      if (!output.items.empty()) return output.items[0].text;
    }
    return "";
  }
  Node ReadNode(const Json& json) {
    Node node;
    node.target = Text(json, "target");
    where_ = "node of " + OnOneLine(node.target);
    for (const Json& item : List(json, "outputs"))
      node.outputs.push_back(ReadArgument(item));
    node.name = NameOf(json, node.outputs);
    where_ =
        "node '" + OnOneLine(node.name) + "' (" + OnOneLine(node.target) + ")";
    for (const Json& item : List(json, "inputs")) {
      NamedArgument& input = node.inputs.emplace_back();
      input.name = Text(item, "name");
      input.value = ReadArgument(Member(item, "arg"));
      const Json* kind = Find(item, "kind");
      if (kind != nullptr && *kind == 1)
        input.passing = NamedArgument::Passing::kPosition;
      if (kind != nullptr && *kind == 2)
        input.passing = NamedArgument::Passing::kName;
      if (!error_.ok()) break;
    }
    return node;
  }

  Graph ReadGraph(const Json& json) {
    Graph graph;
    if (++depth_ > kMaxGraphs) {
      Fail("expected at most " + std::to_string(kMaxGraphs) +
           " graphs within each other, found more");
      return graph;
    }
    where_ = "graph";
    for (const Json& item : List(json, "inputs"))
      graph.inputs.push_back(ReadArgument(item));
    for (const Json& item : List(json, "nodes")) {
      if (!error_.ok()) break;
      if (++nodes_ > kMaxNodes) {
        Fail("expected at most " + std::to_string(kMaxNodes) +
             " nodes, found more");
      }
      graph.nodes.push_back(ReadNode(item));
    }
    where_ = "graph";
    for (const Json& item : List(json, "outputs"))
      graph.outputs.push_back(ReadArgument(item));
    const Json* tensors = Find(json, "tensor_values");
    if (tensors != nullptr &&
        Expect(tensors->is_object(), "an object", *tensors)) {
      for (const auto& [name, meta] : tensors->items()) {
        where_ = "tensor '" + OnOneLine(name) + "'";
        graph.tensors.emplace(name, ReadTensorMeta(meta));
        if (!error_.ok()) break;
      }
    }
    --depth_;
    return graph;
  }

  InputSpec ReadInputSpec(const Json& json) {
    using Kind = InputSpec::Kind;
    struct Row {
      std::string_view tag;
      Kind kind;
      std::string_view name;
    };
    static constexpr Row kRows[] = {
        {"parameter", Kind::kParameter, "parameter_name"},
        {"buffer", Kind::kBuffer, "buffer_name"},
        {"tensor_constant", Kind::kTensorConstant, "tensor_constant_name"},
        {"constant_input", Kind::kConstant, "name"},
        {"custom_obj", Kind::kObject, "custom_obj_name"},
        {"token", Kind::kToken, ""},
        {"user_input", Kind::kUser, ""}};
    where_ = "input_specs";
    const auto [tag, value] = Union(json);
    for (const Row& row : kRows) {
      if (row.tag != tag) continue;
      return {row.kind, row.name.empty() ? "" : Text(*value, row.name)};
    }
    Fail("expected a kind of input, found '" + OnOneLine(tag) + "'");
    return {};
  }
  OutputSpec ReadOutputSpec(const Json& json) {
    using Kind = OutputSpec::Kind;
    struct Row {
      std::string_view tag;
      Kind kind;
      std::string_view name;
    };
    static constexpr Row kRows[] = {
        {"user_output", Kind::kUser, ""},
        {"loss_output", Kind::kUser, ""},
        {"buffer_mutation", Kind::kBufferMutation, "buffer_name"},
        {"parameter_mutation", Kind::kBufferMutation, "parameter_name"},
        {"user_input_mutation", Kind::kInputMutation, "user_input_name"},
        {"token", Kind::kToken, ""},
        {"gradient_to_parameter", Kind::kGradient, "parameter_name"},
        {"gradient_to_user_input", Kind::kGradient, "user_input_name"}};
    where_ = "output_specs";
    const auto [tag, value] = Union(json);
    for (const Row& row : kRows) {
      if (row.tag != tag) continue;
      return {row.kind, row.name.empty() ? "" : Text(*value, row.name)};
    }
    Fail("expected a kind of output, found '" + OnOneLine(tag) + "'");
    return {};
  }

  // Reads the names of the results. The names are optional, so parts that are
  // not understood are ignored.
  static void ReadResultNames(const Json& module, Program& program) {
    const Json* calls = Find(module, "module_call_graph");
    if (calls == nullptr || !calls->is_array() || calls->empty()) return;
    const Json* signature = Find((*calls)[0], "signature");
    if (signature == nullptr) return;
    const Json* text = Find(*signature, "out_spec");
    if (text == nullptr || !text->is_string()) return;
    // [version, tree]
    const Json spec = Json::parse(text->get<std::string>(), nullptr, false);
    if (!spec.is_array() || spec.size() != 2) return;
    if (!AddLeafNames(spec[1], "", 0, program.result_names))
      program.result_names.clear();
  }

  void ReadRanges(const Json& json, Program& program) {
    const Json* ranges = Find(json, "range_constraints");
    if (ranges == nullptr) return;
    where_ = "range_constraints";
    if (!Expect(ranges->is_object(), "an object", *ranges)) return;
    for (const auto& [symbol, item] : ranges->items()) {
      Range range;
      // A bound that does not fit 64 bits counts as no bound.
      const Json* least = Find(item, "min_val");
      const Json* largest = Find(item, "max_val");
      if (least != nullptr && least->is_number_integer())
        range.least = least->get<int64_t>();
      if (largest != nullptr && largest->is_number_integer() &&
          !(largest->is_number_unsigned() &&
            largest->get<uint64_t>() >= static_cast<uint64_t>(kUnlimited)) &&
          largest->get<int64_t>() < kUnlimited)
        range.largest = largest->get<int64_t>();
      program.ranges.emplace(symbol, range);
    }
  }

  Status error_;
  // Name of the part of the document that is being read, for errors; empty for
  // the whole document.
  std::string where_;
  int depth_ = 0;
  size_t nodes_ = 0;
};

}  // namespace

StatusOr<Program> ReadProgram(const Json& json) {
  Reader reader;
  EMBER_RETURN_IF_ERROR(reader.CheckVersion(json));
  Program program = reader.ReadProgram(json);
  if (!reader.error().ok()) return reader.error();
  return program;
}

StatusOr<std::map<std::string, Payload, std::less<>>> ReadPayloads(
    const Json& json) {
  Reader reader;
  std::map<std::string, Payload, std::less<>> payloads =
      reader.ReadPayloads(json);
  if (!reader.error().ok()) return reader.error();
  return payloads;
}

}  // namespace ember::torch_export
