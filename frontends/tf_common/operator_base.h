// The import context of operators that are the same in TensorFlow and
// TensorFlow Lite: operands in the same order, shapes and axes as operands, and
// the results to set. The operators are in the other files of this folder; a
// format's own context adds its attributes (or options).
//
//   void ImportTile(OperatorBase& c) {
//     const auto times = c.Sizes(1, "multiples");
//     if (times) c.SetOutput(0, Repeated(c.Input(0), *times));
//   }
//
// Errors and lifetime are those of ImportContext.
#ifndef EMBER_FRONTENDS_TF_COMMON_OPERATOR_BASE_H_
#define EMBER_FRONTENDS_TF_COMMON_OPERATOR_BASE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/functions.h"
#include "frontends/ops/import_context.h"
#include "frontends/ops/tensor.h"

namespace ember::tf_common {

// Names of frontends/ops that import functions use unqualified. Functions on
// tensors are found by argument-dependent lookup.
using ops::Apply;
using ops::ApplyAll;
using ops::AsConstants;
using ops::ComputeType;
using ops::Concat;
using ops::Dim;
using ops::DimScalar;
using ops::IotaVector;
using ops::kMaxRank;
using ops::LargerOf;
using ops::Opcode;
using ops::Shape;
using ops::SmallerOf;
using ops::Tensor;
using ops::TensorsOf;

class OperatorBase : public ops::ImportContext {
 public:
  using ImportContext::ImportContext;

  // These functions return operands. An omitted operand is an absent tensor.
  virtual int input_count() const = 0;
  virtual Tensor Input(int index) const = 0;

  // These functions set results. OutputType returns the type that the model
  // states.
  virtual int output_count() const = 0;
  virtual DType OutputType(int index) const = 0;
  virtual void SetOutput(int index, Tensor value) = 0;

  // These functions are the checks of ImportContext, for an operand that is
  // given by its index.
  std::optional<Shape> Contents(int input, std::string_view what) {
    return ImportContext::Contents(Input(input), Named(input, what));
  }
  std::optional<std::vector<int64_t>> ConstantIntegers(int input,
                                                       std::string_view what) {
    return ImportContext::ConstantIntegers(Input(input), Named(input, what));
  }
  std::optional<Shape> Sizes(int input, std::string_view what) {
    return ImportContext::Sizes(Input(input), Named(input, what));
  }
  std::optional<std::vector<double>> ConstantNumbers(int input,
                                                     std::string_view what) {
    return ImportContext::ConstantNumbers(Input(input), Named(input, what));
  }
  bool CheckRank(int input, int minimum, int maximum = kMaxRank) {
    return ImportContext::CheckRank(
        Input(input), "input " + std::to_string(input), minimum, maximum);
  }

 private:
  static std::string Named(int input, std::string_view what) {
    return std::string(what) + " (input " + std::to_string(input) + ")";
  }
};

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_OPERATOR_BASE_H_
