// The node as the importer of a TensorFlow operator sees it: operands,
// attributes with their defaults, and the results to set.
//
//   void ImportLeakyRelu(OperatorContext& c) {
//     const Tensor x = c.Input(0);
//     c.SetOutput(0, Select(Less(x, 0), x * c.Number("alpha", 0.2), x));
//   }
//
// Attributes that a file omits have the operator's default, which the caller
// gives. Errors and lifetime are those of OperatorBase.
#ifndef EMBER_FRONTENDS_TENSORFLOW_OPERATOR_CONTEXT_H_
#define EMBER_FRONTENDS_TENSORFLOW_OPERATOR_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/tensorflow/model.h"
#include "frontends/tensorflow/value.h"
#include "frontends/tf_common/operator_base.h"

namespace ember::tensorflow {

// Names that import functions use unqualified. Functions on tensors are found
// by argument-dependent lookup.
using tf_common::Apply;
using tf_common::ApplyAll;
using tf_common::AsConstants;
using tf_common::ComputeType;
using tf_common::Concat;
using tf_common::Dim;
using tf_common::DimScalar;
using tf_common::IotaVector;
using tf_common::kMaxRank;
using tf_common::LargerOf;
using tf_common::Opcode;
using tf_common::Shape;
using tf_common::SmallerOf;
using tf_common::Tensor;
using tf_common::TensorsOf;

using AttributeMap = google::protobuf::Map<std::string, AttrValue>;

// Returns an attribute of a node. If a function leaves the attribute open
// ("$T"), returns the attribute of the function's call. Null if the attribute
// is omitted.
const AttrValue* ResolveAttribute(const Node& node, std::string_view name,
                                  const AttributeMap* call);

class OperatorContext : public tf_common::OperatorBase {
 public:
  // `call`: attributes of the call of the function that contains the node, or
  // null.
  OperatorContext(graph::GraphBuilder& builder, const Node& node,
                  const AttributeMap* call, std::vector<Value> inputs,
                  int outputs, std::shared_ptr<const void> owner);

  const Node& node() const { return node_; }
  // Returns the owner that keeps the protos alive.
  const std::shared_ptr<const void>& owner() const { return owner_; }

  // These functions return operands. Input fails for an operand that is no
  // tensor of plain numbers.
  int input_count() const override { return static_cast<int>(inputs_.size()); }
  Tensor Input(int index) const override;
  const Value& InputValue(int index) const;

  // These functions set and return results. OutputType returns the type that
  // SetOutputType was given.
  int output_count() const override {
    return static_cast<int>(outputs_.size());
  }
  void SetOutputCount(int64_t count);
  DType OutputType(int index) const override;
  void SetOutputType(int index, DType dtype);
  void SetOutput(int index, Tensor value) override {
    SetValue(index, Value(std::move(value)));
  }
  void SetValue(int index, Value value);
  std::vector<Value>& outputs() { return outputs_; }

  // Attributes.
  int64_t Integer(std::string_view name, int64_t otherwise) const;
  double Number(std::string_view name, double otherwise) const;
  bool Flag(std::string_view name, bool otherwise) const;
  std::string Text(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> Integers(std::string_view name,
                                std::vector<int64_t> otherwise) const;
  std::vector<float> Numbers(std::string_view name) const;
  // Returns an attribute of type type; `otherwise` if it is omitted. Fails for
  // types without a dtype.
  DType Type(std::string_view name, DType otherwise);
  DataType FileType(std::string_view name, DataType otherwise) const;
  // Returns an attribute of type shape; -1 is an open extent. Nullopt if the
  // shape has no rank.
  std::optional<std::vector<int64_t>> ShapeAttribute(
      std::string_view name) const;
  const AttrValue* Attribute(std::string_view name) const {
    return ResolveAttribute(node_, name, call_);
  }

  // Returns the list of an operand; fails and returns null if it is no list.
  const List* InputList(int index);
  void SetList(int index, List list);

 private:
  const Node& node_;
  const AttributeMap* call_;
  std::vector<Value> inputs_, outputs_;
  std::vector<std::optional<DType>> output_types_;
  std::shared_ptr<const void> owner_;
};

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_OPERATOR_CONTEXT_H_
