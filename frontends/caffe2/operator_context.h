// The view that an operator's function has: its arguments and its operands.
//
//   void ImportLeakyRelu(OperatorContext& c) {
//     const Tensor x = c.Input(0);
//     c.SetOutput(Select(Less(x, 0), x * c.Number("alpha", 0.01), x));
//   }
//
// Errors and lifetime as for OperandContext.
#ifndef EMBER_FRONTENDS_CAFFE2_OPERATOR_CONTEXT_H_
#define EMBER_FRONTENDS_CAFFE2_OPERATOR_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/functions.h"
#include "frontends/ops/operand_context.h"
#include "frontends/ops/tensor.h"
#include "third_party/caffe2/caffe2.pb.h"

namespace ember::caffe2 {

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
using ops::Shape;
using ops::SmallerOf;
using ops::Tensor;

// Returns the type of a number of TensorProto; nullopt if Ember has no such
// type.
std::optional<DType> TypeOfNumber(int64_t number);

// Returns the operator's argument of this name; null if it has none.
const Argument* FindArgument(const OperatorDef& op, std::string_view name);

class OperatorContext : public ops::OperandContext {
 public:
  // Makes the context of an operator. `owner` keeps `op` alive.
  OperatorContext(graph::GraphBuilder& builder, const OperatorDef& op,
                  std::shared_ptr<const void> owner, std::vector<Tensor> inputs)
      : OperandContext(builder, std::move(inputs)),
        op_(op),
        owner_(std::move(owner)) {}

  const OperatorDef& op() const { return op_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  // These functions read arguments of the operator. An argument that holds
  // another kind of value than the function returns is an error.
  bool Has(std::string_view name) const {
    return FindArgument(op_, name) != nullptr;
  }
  int64_t Integer(std::string_view name, int64_t otherwise);
  bool Flag(std::string_view name, bool otherwise) {
    return Integer(name, otherwise ? 1 : 0) != 0;
  }
  double Number(std::string_view name, double otherwise);
  std::string Text(std::string_view name, std::string_view otherwise);
  std::vector<int64_t> Integers(std::string_view name);
  // Returns the element type that the argument `name` holds as a number or as a
  // name; `otherwise` if it is absent.
  DType Type(std::string_view name, DType otherwise);
  // Returns the axis that an argument names; -1 is the last.
  int AxisOf(std::string_view name, int64_t otherwise, int rank) {
    return Axis(Integer(name, otherwise), rank);
  }
  // Returns true if the argument "order" says that channels come last. Fails
  // and returns false if it is neither NCHW nor NHWC.
  bool ChannelsLast();

  // Returns a vector with an element for each channel, along dim `axis` of
  // `rank`, in the type of the computation. Fails if the input is not a vector.
  Tensor PerChannel(int input, int axis, int rank, DType type);

 private:
  const OperatorDef& op_;
  std::shared_ptr<const void> owner_;
};

// Reshapes to [product of the dims before axis, product of the dims from axis
// on].
Tensor AsRows(Tensor x, int axis);

}  // namespace ember::caffe2

#endif  // EMBER_FRONTENDS_CAFFE2_OPERATOR_CONTEXT_H_
