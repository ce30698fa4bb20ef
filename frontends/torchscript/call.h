// A call of an operator: its schema, and the values given for its parameters.
//
//   Tensor LeakyRelu(Call& c) {
//     const Tensor x = c.tensor("self");
//     return Select(Less(x, 0), x * c.number("negative_slope"), x);
//   }
//
// Errors stay in the machine and name the node. After a failure a function may
// return or continue: the values that it builds are not used. Not thread-safe;
// lives as long as the call.
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
#include "frontends/ops/functions.h"
#include "frontends/ops/tensor.h"
#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// Makes names of frontends/ops available to the code of operators. Functions on
// tensors are found by argument-dependent lookup.
using ops::Apply;
using ops::ApplyAll;
using ops::ComputeType;
using ops::Concat;
using ops::IotaVector;
using ops::kMaxRank;
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
  // Number of leading parameters that may be given by position; the others are
  // given by name only.
  size_t positional = 0;
};

class Call {
 public:
  // Makes a call. `arguments`: one value per parameter of the schema.
  Call(Machine& machine, const Schema& schema, std::vector<Value> arguments,
       int version)
      : machine_(machine),
        schema_(schema),
        arguments_(std::move(arguments)),
        version_(version) {}

  Machine& machine() { return machine_; }
  graph::GraphBuilder& builder() { return machine_.builder(); }
  const Schema& schema() const { return schema_; }
  // Returns the version of PyTorch's operators for which the archive was
  // written; some operators changed their meaning.
  int version() const { return version_; }
  bool ok() { return machine_.ok(); }
  void FailInvalid(const std::string& message) {
    machine_.FailInvalid(message);
  }
  void FailUnsupported(const std::string& message) {
    machine_.FailUnsupported(message);
  }

  const Value& value(std::string_view name) const;
  // True if the argument is given and not None.
  bool has(std::string_view name) const;
  // Returns an argument that is a tensor or a number as a tensor; an absent
  // tensor for None.
  Tensor tensor(std::string_view name);
  std::vector<Tensor> tensors(std::string_view name);
  // The following functions return an argument by name. It must be known during
  // the import; otherwise they fail.
  int64_t integer(std::string_view name);
  double number(std::string_view name);
  bool flag(std::string_view name);
  std::string text(std::string_view name);
  std::vector<int64_t> integers(std::string_view name);
  std::vector<double> numbers(std::string_view name);
  // Returns `count` integers; a single integer is repeated.
  std::vector<int64_t> integers(std::string_view name, size_t count);
  // dim and dims return integers that may be expressions of open dims. An
  // integer that only the run knows becomes a new symbol.
  Dim dim(std::string_view name);
  Shape dims(std::string_view name);
  // Returns an axis of a tensor of this rank, as a number from 0 on.
  int axis(std::string_view name, int rank);
  // Returns axes as numbers from 0 on, in ascending order; an axis that is
  // named twice is an error. If the argument is None or an empty list, it
  // returns all axes.
  std::vector<int64_t> axes(std::string_view name, int rank);
  // Returns a number, or a tensor, as a tensor of type `dtype`. The number may
  // be known only at run time. A number that an integer type cannot hold wraps
  // around, as in PyTorch: -3 is 253 in u8.
  Tensor scalar(std::string_view name, DType dtype);
  // Returns the type that an argument names by its ScalarType number;
  // `otherwise` for None.
  DType dtype(std::string_view name, DType otherwise);

  Tensor Number(double value, DType dtype) {
    return {&builder(), builder().Scalar(value, dtype)};
  }
  bool CheckRank(std::string_view name, const Tensor& x, int minimum,
                 int maximum = kMaxRank);
  // Returns indices as i64. If the indices are an input of the model that was
  // assumed to be a float, the import is tried again with i64 as its type.
  Tensor Indices(std::string_view name);

 private:
  std::string What(std::string_view name) const;

  Machine& machine_;
  const Schema& schema_;
  std::vector<Value> arguments_;
  int version_;
};

// ScalarTypeOf returns PyTorch's number of a type. DTypeOfScalarType returns
// the type; nullopt for types that no graph has (complex, quantized).
int64_t ScalarTypeOf(DType dtype);
std::optional<DType> DTypeOfScalarType(int64_t number);

// Returns the number to which a whole number wraps around in an integer type of
// at most 32 bits; other numbers are returned unchanged.
double Wrapped(double number, DType dtype);

int NormalAxis(Machine& machine, int64_t axis, int rank);
// Returns x, or a vector of one element if x has no dims. Operators along an
// axis accept tensors without dims in this form.
Tensor WithAxis(const Tensor& x);
// Undoes WithAxis for a result: returns y without dims if `x` has none, else y.
Tensor WithoutAxis(const Tensor& y, const Tensor& x);
// Returns false, with a message, if two operands of a product have different
// types. If `x` is an input without a stated type, the import is tried again
// with the other operand's type for it.
bool CheckNumbers(Call& c, std::string_view name, const Tensor& x,
                  std::string_view other_name, const Tensor& other);
// Broadcasts both tensors to their common shape. Returns false after an error.
bool BroadcastTogether(Call& c, Tensor& a, Tensor& b);
// Returns all axes: 0, 1 …
std::vector<int64_t> AllAxes(const Tensor& x);
// Returns the order of axes for a transposition that undoes the one by `order`.
std::vector<int64_t> InverseOrder(const std::vector<int64_t>& order);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_CALL_H_
