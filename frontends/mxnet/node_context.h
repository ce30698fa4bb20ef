// The view that an operator's function has: the attributes, which are text, and
// the operands.
//
//   void ImportLeakyReLU(NodeContext& c) {
//     const double slope = c.Number("slope", 0.25);
//     c.SetOutput(Select(Less(c.Input(0), 0), c.Input(0) * slope, c.Input(0)));
//   }
//
// Errors and lifetime as for OperandContext.
#ifndef EMBER_FRONTENDS_MXNET_NODE_CONTEXT_H_
#define EMBER_FRONTENDS_MXNET_NODE_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "frontends/mxnet/symbol.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/functions.h"
#include "frontends/ops/operand_context.h"
#include "frontends/ops/tensor.h"

namespace ember::mxnet {

// Names of frontends/ops that import functions use unqualified. Functions on
// tensors need no using-declaration: argument-dependent lookup finds them.
using ops::Apply;
using ops::ApplyAll;
using ops::ComputeType;
using ops::Concat;
using ops::Dim;
using ops::IotaVector;
using ops::kMaxRank;
using ops::LargerOf;
using ops::Opcode;
using ops::Shape;
using ops::SmallerOf;
using ops::Tensor;

class NodeContext : public ops::OperandContext {
 public:
  NodeContext(graph::GraphBuilder& builder, const Node& node,
              std::vector<Tensor> inputs)
      : OperandContext(builder, std::move(inputs)), node_(node) {}

  const Node& node() const { return node_; }

  // These functions read attributes of the node. An attribute whose text is
  // "None" or empty counts as missing. A text that is no value of the requested
  // type is an error.
  bool Has(std::string_view name) const;
  std::string Text(std::string_view name, std::string_view otherwise) const;
  int64_t Integer(std::string_view name, int64_t otherwise);
  double Number(std::string_view name, double otherwise);
  bool Flag(std::string_view name, bool otherwise);
  // Reads a list of integers, such as "(1, 2)", "[1, 2]" or "1". An item "None"
  // becomes nullopt.
  std::vector<std::optional<int64_t>> List(std::string_view name);
  std::vector<int64_t> Integers(std::string_view name);
  // Returns exactly `count` integers; if the attribute is missing, each is
  // `otherwise`.
  std::vector<int64_t> Integers(std::string_view name, size_t count,
                                int64_t otherwise);
  std::vector<double> Numbers(std::string_view name);
  // Returns the type that an attribute names; `otherwise` if it is missing.
  DType Type(std::string_view name, DType otherwise);

 private:
  const Node& node_;
};

}  // namespace ember::mxnet

#endif  // EMBER_FRONTENDS_MXNET_NODE_CONTEXT_H_
