#include "frontends/mxnet/symbol.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/one_line.h"

namespace ember::mxnet {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxText = size_t{256} << 20;

Status Malformed(const std::string& where, std::string_view expected) {
  return DataLossError("symbol: " + where + ": expected " +
                       std::string(expected));
}

std::optional<int64_t> IntegerOf(const Json& json) {
  if (!json.is_number_integer()) return std::nullopt;
  if (json.is_number_unsigned() &&
      json.get<uint64_t>() > static_cast<uint64_t>(1) << 40)
    return std::nullopt;
  return json.get<int64_t>();
}

// Reads [node, result] or [node, result, version]; the node is before `limit`.
StatusOr<Entry> ReadEntry(const Json& json, size_t limit,
                          const std::string& where) {
  const bool is_list = json.is_array() && json.size() >= 2;
  const auto node = is_list ? IntegerOf(json[0]) : std::nullopt;
  const auto result = is_list ? IntegerOf(json[1]) : std::nullopt;
  if (!node || !result || *node < 0 || *node >= static_cast<int64_t>(limit) ||
      *result < 0 || *result > 65535)
    return Malformed(where, "[node, result] of a node before it");
  return Entry{static_cast<int>(*node), static_cast<int>(*result)};
}

// An operator whose auxiliary states (such as the moving mean) are missing in
// files from before MXNet 0.9. `names`: the states' names, which are appended
// to the node's name.
struct Auxiliary {
  std::string_view op;
  // Number of the operator's inputs in such files, without the auxiliary
  // states.
  size_t inputs;
  std::vector<std::string_view> names;
};
const std::vector<Auxiliary>& Auxiliaries() {
  static const auto* const kRows = new std::vector<Auxiliary>{
      {"BatchNorm", 3, {"moving_mean", "moving_var"}},
      {"BatchNorm_v1", 3, {"moving_mean", "moving_var"}},
      {"CuDNNBatchNorm", 3, {"moving_mean", "moving_var"}},
      {"IdentityAttachKLSparseReg", 1, {"moving_avg"}},
  };
  return *kRows;
}

std::string TextOf(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  // A list or an object becomes "": printing would recurse as deeply as they
  // nest, and attributes are never lists.
  return json.is_structured() ? "" : json.dump();
}

void ReadAttributes(const Json& json, Node& node) {
  // Reads every key that exists, not only one of them: versions with "param"
  // for the operator's parameters have the user's own attributes in "attr".
  for (const char* key : {"attr", "param", "attrs"}) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_object()) continue;
    for (const auto& [name, value] : found->items())
      node.attributes[name] = TextOf(value);
  }
}

// Reads the attributes of the graph. Each attribute comes with its type:
// "mxnet_version": ["int", 10901].
void ReadGraphAttributes(const Json& json, Symbol& symbol) {
  const auto attributes = json.find("attrs");
  if (attributes == json.end() || !attributes->is_object()) return;
  for (const auto& [name, value] : attributes->items()) {
    if (!value.is_array() || value.size() != 2) continue;
    std::string text = TextOf(value[1]);
    if (!text.empty()) symbol.attributes.emplace(name, std::move(text));
  }
}

}  // namespace

bool IsSymbol(std::string_view contents) {
  const size_t first = contents.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || contents[first] != '{') return false;
  return contents.find("\"nodes\"") != std::string_view::npos &&
         contents.find("\"arg_nodes\"") != std::string_view::npos &&
         contents.find("\"heads\"") != std::string_view::npos;
}

StatusOr<Symbol> ReadSymbol(std::string_view text) {
  if (text.size() > kMaxText) {
    return ResourceExhaustedError("symbol: expected at most " +
                                  std::to_string(kMaxText) + " bytes, found " +
                                  std::to_string(text.size()));
  }
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return DataLossError("symbol: expected a JSON object, found none");
  const auto nodes = json.find("nodes");
  const auto heads = json.find("heads");
  if (nodes == json.end() || !nodes->is_array() || heads == json.end() ||
      !heads->is_array())
    return Malformed("the graph", "lists 'nodes' and 'heads'");
  if (nodes->size() > kMaxNodes) {
    return ResourceExhaustedError("symbol: expected at most " +
                                  std::to_string(kMaxNodes) + " nodes, found " +
                                  std::to_string(nodes->size()));
  }
  Symbol symbol;
  // Index in `symbol.nodes` of each node of the file. The two indices differ
  // because variables may be inserted.
  std::vector<int> places;
  for (const Json& item : *nodes) {
    const std::string where = "node " + std::to_string(places.size());
    Node node;
    const auto op = item.is_object() ? item.find("op") : item.end();
    const auto name = item.is_object() ? item.find("name") : item.end();
    if (!item.is_object() || op == item.end() || !op->is_string() ||
        name == item.end() || !name->is_string())
      return Malformed(where, "an 'op' and a 'name'");
    node.op = op->get<std::string>();
    node.name = name->get<std::string>();
    ReadAttributes(item, node);
    node.has_subgraphs = item.contains("subgraphs");
    if (const auto inputs = item.find("inputs"); inputs != item.end()) {
      if (!inputs->is_array()) return Malformed(where, "a list 'inputs'");
      for (const Json& input : *inputs) {
        EMBER_ASSIGN_OR_RETURN(Entry entry,
                               ReadEntry(input, places.size(), where));
        entry.node = places[static_cast<size_t>(entry.node)];
        node.inputs.push_back(entry);
      }
    }
    for (const Auxiliary& row : Auxiliaries()) {
      if (node.op != row.op || node.inputs.size() != row.inputs) continue;
      for (const std::string_view state : row.names) {
        Node variable;
        variable.op = "null";
        variable.name = node.name + "_" + std::string(state);
        node.inputs.push_back({static_cast<int>(symbol.nodes.size()), 0});
        symbol.nodes.push_back(std::move(variable));
      }
    }
    places.push_back(static_cast<int>(symbol.nodes.size()));
    symbol.nodes.push_back(std::move(node));
  }
  for (const Json& head : *heads) {
    EMBER_ASSIGN_OR_RETURN(Entry read, ReadEntry(head, places.size(), "heads"));
    read.node = places[static_cast<size_t>(read.node)];
    symbol.heads.push_back(read);
  }
  if (symbol.heads.empty()) return Malformed("heads", "a result, found none");
  ReadGraphAttributes(json, symbol);
  return symbol;
}

}  // namespace ember::mxnet
