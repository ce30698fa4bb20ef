// What the importer of one operator sees, as far as TensorFlow and TensorFlow
// Lite have it alike: operands in the same order, shapes and axes as operands,
// and where the results go. The operators themselves are in the files beside
// this one; a format's own context adds its attributes (or options).
//
//   void ImportTile(OperatorBase& c) {
//     const auto times = c.Sizes(1, "multiples");
//     if (times) c.SetOutput(0, Repeated(c.Input(0), *times));
//   }
//
// Errors stick in the graph builder and name the operator: after a failure a
// function may return or go on, nothing it builds is used. Not thread-safe;
// lives as long as the call.
#ifndef EMBER_FRONTENDS_TF_COMMON_OPERATOR_BASE_H_
#define EMBER_FRONTENDS_TF_COMMON_OPERATOR_BASE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/builder.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/tensor.h"

namespace ember::tf_common {

// The names of frontends/ops that operators are written in; the functions on
// tensors are found by their arguments.
using ops::Apply;
using ops::ApplyAll;
using ops::AsConstants;
using ops::ComputeType;
using ops::Concat;
using ops::Dim;
using ops::DimScalar;
using ops::IotaVector;
using ops::kMaximumRank;
using ops::LargerOf;
using ops::Opcode;
using ops::Shape;
using ops::SmallerOf;
using ops::Tensor;
using ops::TensorsOf;

class OperatorBase {
 public:
  explicit OperatorBase(graph::GraphBuilder& builder) : builder_(builder) {}
  OperatorBase(const OperatorBase&) = delete;
  OperatorBase& operator=(const OperatorBase&) = delete;
  virtual ~OperatorBase() = default;

  graph::GraphBuilder& builder() { return builder_; }

  // Errors.
  void FailInvalid(std::string message);
  void FailUnsupported(std::string message);
  bool ok() const { return builder_.status().ok(); }

  // Operands; those left out are absent.
  virtual int input_count() const = 0;
  virtual Tensor Input(int index) const = 0;

  // Results. OutputType is what the model says.
  virtual int output_count() const = 0;
  virtual DType OutputType(int index) const = 0;
  virtual void SetOutput(int index, Tensor value) = 0;

  // Integers of an operand that must be known when compiling.
  std::optional<Shape> Contents(int input, std::string_view what);
  std::optional<std::vector<int64_t>> ConstantIntegers(int input,
                                                       std::string_view what);
  // The same, read when the program runs where they are not known.
  std::optional<Shape> Sizes(int input, std::string_view what);
  std::optional<std::vector<double>> ConstantNumbers(int input,
                                                     std::string_view what);

  // Axes brought into 0 … rank - 1; fails for others, and for repeated ones.
  int Axis(int64_t axis, int rank);
  std::vector<int64_t> Axes(const std::vector<int64_t>& axes, int rank);
  // Fails unless the operand is there and has a rank in [minimum, maximum].
  bool CheckRank(int input, int minimum, int maximum = kMaximumRank);
  // Of an option; fails unless it is in [1, kMaximumWindow].
  bool CheckPositive(std::string_view what, int64_t value);

  Tensor Wrap(graph::Value* value) { return {&builder_, value}; }
  Tensor Scalar(double value, DType dtype) {
    return Wrap(builder_.Scalar(value, dtype));
  }
  // A constant vector.
  template <typename T>
  Tensor Vector(DType dtype, const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    return Wrap(builder_.Constant(
        dtype, {static_cast<int64_t>(values.size())},
        graph::ConstantData::Copy({bytes, values.size() * sizeof(T)})));
  }

 private:
  std::string Named(int input, std::string_view what) const;

  graph::GraphBuilder& builder_;
};

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_OPERATOR_BASE_H_
