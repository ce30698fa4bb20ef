// A call of an operator: its schema, and what was given for each parameter.
//
//   Tensor LeakyRelu(Call& c) {
//     const Tensor x = c.tensor("self");
//     return Select(Less(x, 0), x * c.number("negative_slope"), x);
//   }
//
// Errors stick in the machine and name the node: after a failure a function may
// return or go on, nothing it builds is used. Not thread-safe; lives as long as
// the call.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_CALL_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_CALL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/tensor.h"
#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// The names of frontends/ops that operators are written in; the functions on
// tensors are found by their arguments.
using ops::Apply;
using ops::ApplyAll;
using ops::ComputeType;
using ops::Concat;
using ops::IotaVector;
using ops::kMaximumRank;
using ops::LargerOf;
using ops::Opcode;
using ops::SmallerOf;

struct SchemaParameter {
  std::string type;  // "Tensor?", "int[]"
  std::string name;
  std::optional<Value> standard;
};

struct Schema {
  std::string name;  // "aten::conv2d"
  std::vector<SchemaParameter> parameters;
  size_t positional = 0;  // how many of them may be given without their name
};

class Call {
 public:
  // arguments: one per parameter of the schema.
  Call(Machine& machine, const Schema& schema, std::vector<Value> arguments,
       int version)
      : machine_(machine),
        schema_(schema),
        arguments_(std::move(arguments)),
        version_(version) {}

  Machine& machine() { return machine_; }
  graph::GraphBuilder& builder() { return machine_.builder(); }
  const Schema& schema() const { return schema_; }
  // Of the operators that the archive was written with.
  int version() const { return version_; }
  bool ok() { return machine_.ok(); }
  void FailInvalid(const std::string& message) {
    machine_.FailInvalid(message);
  }
  void FailUnsupported(const std::string& message) {
    machine_.FailUnsupported(message);
  }

  const Value& value(std::string_view name) const;
  // Whether it is there and not None.
  bool has(std::string_view name) const;
  // Absent for None.
  Tensor tensor(std::string_view name);
  std::vector<Tensor> tensors(std::string_view name);
  // Numbers that must be known now.
  int64_t integer(std::string_view name);
  double number(std::string_view name);
  bool flag(std::string_view name);
  std::string text(std::string_view name);
  std::vector<int64_t> integers(std::string_view name);
  std::vector<double> numbers(std::string_view name);
  // As many as `count`: one alone stands for all.
  std::vector<int64_t> integers(std::string_view name, size_t count);
  // Numbers that may be expressions, or what only the run knows.
  Dim dim(std::string_view name);
  Shape dims(std::string_view name);
  // An axis of something of this rank, counted from the front.
  int axis(std::string_view name, int rank);
  // Axes, none twice; without any (None or empty): all.
  std::vector<int64_t> axes(std::string_view name, int rank);
  // A number as a tensor of the type, or the tensor; scalars of the run too.
  Tensor scalar(std::string_view name, DType dtype);
  // The type that a ScalarType names; `otherwise` for None.
  DType dtype(std::string_view name, DType otherwise);

  Tensor Number(double value, DType dtype) {
    return {&builder(), builder().Scalar(value, dtype)};
  }
  bool CheckRank(std::string_view name, const Tensor& x, int minimum,
                 int maximum = kMaximumRank);
  // Of indices: i64; an input of the model that is a float should be one.
  Tensor Indices(std::string_view name);

 private:
  std::string What(std::string_view name) const;

  Machine& machine_;
  const Schema& schema_;
  std::vector<Value> arguments_;
  int version_;
};

// PyTorch's number of a type, and the type of a number; nullopt for those that
// no graph has (complex, quantized).
int64_t ScalarTypeOf(DType dtype);
std::optional<DType> DTypeOfScalarType(int64_t number);

int NormalAxis(Machine& machine, int64_t axis, int rank);
// 0, 1 … of all axes.
std::vector<int64_t> AllAxes(const Tensor& x);
// The order of axes that takes back a transposition.
std::vector<int64_t> InverseOrder(const std::vector<int64_t>& order);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_CALL_H_
