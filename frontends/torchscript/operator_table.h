// The operators of TorchScript that models may use: one row per overload, as
// PyTorch writes schemas, with the function that builds it or the reason why it
// is not supported. If several rows have the same name, the first one that
// accepts the arguments is used. The type "Operand" means a tensor or a number,
// "Number" a number only, and "Complex" a tensor of complex numbers, which no
// other type accepts. A name that ends in '_' uses the row without the '_', and
// writes the result to the first operand.
//
// docs/coverage/torchscript.md is generated from this table.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_OPERATOR_TABLE_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_OPERATOR_TABLE_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/torchscript/call.h"

namespace ember::torchscript {

struct OperatorRow {
  using TensorFunction = Tensor (*)(Call&);
  using ValueFunction = Value (*)(Call&);

  constexpr OperatorRow(std::string_view schema, TensorFunction function)
      : schema(schema), tensor(function) {}
  constexpr OperatorRow(std::string_view schema, ValueFunction function)
      : schema(schema), value(function) {}
  // Makes the row of an operator that is not supported, with the reason.
  constexpr OperatorRow(std::string_view schema, std::string_view reason)
      : schema(schema), reason(reason) {}

  // The schema, such as "conv2d(Tensor input, Tensor weight, …)". A name
  // without a namespace is in aten.
  std::string_view schema;
  TensorFunction tensor = nullptr;
  ValueFunction value = nullptr;
  std::string_view reason;

  bool is_supported() const { return reason.empty(); }
};

// Each of these functions returns the rows of one family of operators.
std::span<const OperatorRow> CoreRows();
std::span<const OperatorRow> ItemRows();
std::span<const OperatorRow> ListRows();
std::span<const OperatorRow> DictRows();
std::span<const OperatorRow> TextRows();
std::span<const OperatorRow> NumberRows();
std::span<const OperatorRow> ElementwiseRows();
std::span<const OperatorRow> ActivationRows();
std::span<const OperatorRow> ReductionRows();
std::span<const OperatorRow> MovementRows();
std::span<const OperatorRow> PartRows();
std::span<const OperatorRow> ArrangementRows();
std::span<const OperatorRow> DiagonalRows();
std::span<const OperatorRow> PaddingRows();
std::span<const OperatorRow> IndexingRows();
std::span<const OperatorRow> CreationRows();
std::span<const OperatorRow> ConvolutionRows();
std::span<const OperatorRow> PoolingRows();
std::span<const OperatorRow> NormalizationRows();
std::span<const OperatorRow> ContractionRows();
std::span<const OperatorRow> RecurrentRows();
std::span<const OperatorRow> ImageRows();
std::span<const OperatorRow> ExportedRows();
std::span<const OperatorRow> TransformerRows();
std::span<const OperatorRow> SamplingRows();
std::span<const OperatorRow> SpecialRows();
std::span<const OperatorRow> PositionRows();
std::span<const OperatorRow> StatisticsRows();
std::span<const OperatorRow> NormRows();
std::span<const OperatorRow> LossRows();
std::span<const OperatorRow> QuantizedLayerRows();
std::span<const OperatorRow> QuantizedRows();
std::span<const OperatorRow> FourierRows();
std::span<const OperatorRow> SystemRows();
std::span<const OperatorRow> RefusedRows();

struct TableEntry {
  const OperatorRow* row;
  Schema schema;
};

// Returns all rows of a name ("aten::add"); empty if there is none.
std::span<const TableEntry> FindOperator(std::string_view name);
// Returns the names of all operators of the table, sorted.
std::vector<std::string> OperatorNames();

struct Argument {
  // Name of the parameter, if the argument is given by name; else empty.
  std::string keyword;
  Value value;
};
// Returns the arguments in the schema's order; nullopt if the arguments do not
// fit the schema.
std::optional<std::vector<Value>> BindArguments(
    const Schema& schema, const std::vector<Argument>& arguments);

// Calls the first row of this name that accepts the arguments; fails if there
// is none. Operators that are composed of other operators use it.
Value CallRow(Call& c, std::string_view name,
              const std::vector<Argument>& arguments);
// Like CallRow, but returns the result as a tensor; the row must return one.
Tensor CallTensorRow(Call& c, std::string_view name,
                     const std::vector<Argument>& arguments);
// Calls the row `name` with the arguments of the call `c` whose names are those
// of parameters of the row, and with `others`.
Value Redirect(Call& c, std::string_view name,
               const std::vector<Argument>& others = {});

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_OPERATOR_TABLE_H_
