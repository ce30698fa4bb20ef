// Reads MXNet's symbol.json (NNVM's graph JSON): ordered nodes with attributes
// that are text.
//
//   EMBER_ASSIGN_OR_RETURN(Symbol symbol, ReadSymbol(text));
//   for (const Node& node : symbol.nodes) node.op;   // "Convolution"
//
// Old versions are read as MXNet upgrades them: attributes as "param", "attr"
// or "attrs", entries without a version, auxiliary states (of BatchNorm before
// 0.9) that the file leaves out, and operators' parameters among the user's
// attributes.
//
// Every entry names a node before its own and a result that is not negative.
// Errors are one line. A value; thread-safe.
//
// Source: NNVM's src/pass/saveload_json.cc and MXNet 1.9.1,
// src/nnvm/legacy_json_util.cc.
#ifndef EMBER_FRONTENDS_MXNET_SYMBOL_H_
#define EMBER_FRONTENDS_MXNET_SYMBOL_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::mxnet {

// A reference to a result of a node.
struct Entry {
  int node = 0;
  int result = 0;
};

struct Node {
  std::string op;  // "null": a variable
  std::string name;
  std::map<std::string, std::string, std::less<>> attributes;
  std::vector<Entry> inputs;
  // True if the node has graphs inside (control flow).
  bool has_subgraphs = false;

  bool is_variable() const { return op == "null"; }
};

struct Symbol {
  std::vector<Node> nodes;
  std::vector<Entry> heads;
  // The graph's attributes that are texts or integers: "mxnet_version",
  // "10901".
  std::map<std::string, std::string, std::less<>> attributes;
};

inline constexpr size_t kMaxNodes = 1 << 18;

StatusOr<Symbol> ReadSymbol(std::string_view text);

// True for text that begins an object and contains the keys "nodes",
// "arg_nodes" and "heads". It is not parsed.
bool IsSymbol(std::string_view contents);

}  // namespace ember::mxnet

#endif  // EMBER_FRONTENDS_MXNET_SYMBOL_H_
