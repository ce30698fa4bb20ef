// The view that the import of one operation has: operands, attributes, regions,
// and the graph under construction.
//
//   void ImportPad(OperationContext& c) {
//     const Tensor x = c.Operand(0);
//     c.SetResult(Pad(x, …));
//   }
//
// The graph builder keeps errors, which name the operation and its position in
// the file. Functions may continue after an error: operands then behave as
// frontends/ops/tensor.h says. Does not own; not thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_OPERATION_CONTEXT_H_
#define EMBER_FRONTENDS_STABLEHLO_OPERATION_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "compiler/graph/builder/control_flow.h"
#include "frontends/ops/errors.h"
#include "frontends/ops/tensor.h"
#include "frontends/stablehlo/module.h"

namespace ember::stablehlo {

// Import functions use Tensor and its operators unqualified.
using namespace ops;

// An SSA value of the program as values of the graph: a tensor, two tensors for
// a complex value, `members` for a tuple, or nothing for a token.
struct Imported {
  Tensor tensor;
  Tensor imaginary;
  std::vector<Imported> members;

  bool is_tensor() const { return tensor.present() && !imaginary.present(); }
  bool is_complex() const { return imaginary.present(); }
};

// Imports regions and functions from within an operation.
class RegionImporter {
 public:
  virtual ~RegionImporter() = default;

  // Imports a region with these arguments and returns its results. `inside`:
  // the graph's region to which the operations are added; null adds them to the
  // graph that contains the operation. `lifted`: the region works on scalars,
  // but each argument is a tensor of many of them (or one scalar that applies
  // to all).
  virtual std::vector<Imported> Run(const Region& region,
                                    std::vector<Imported> arguments,
                                    graph::Region* inside, bool lifted) = 0;
  // Imports a call of a function of the module and returns its results.
  virtual std::vector<Imported> Call(std::string_view function,
                                     std::vector<Imported> arguments) = 0;
  // Calls `use` with an importer that adds imported operations to a region of
  // the graph.
  virtual void Enter(graph::Region& inside,
                     const std::function<void(RegionImporter&)>& use) = 0;
};

class OperationContext {
 public:
  OperationContext(graph::GraphBuilder& builder, const Operation& operation,
                   std::vector<Imported> operands,
                   std::vector<Type> result_types, RegionImporter& regions,
                   bool lifted)
      : builder_(builder),
        operation_(operation),
        operands_(std::move(operands)),
        result_types_(std::move(result_types)),
        results_(result_types_.size()),
        regions_(regions),
        lifted_(lifted) {}

  graph::GraphBuilder& builder() const { return builder_; }
  const Operation& operation() const { return operation_; }
  RegionImporter& regions() const { return regions_; }
  bool lifted() const { return lifted_; }
  bool ok() const { return builder_.status().ok(); }

  int operand_count() const { return static_cast<int>(operands_.size()); }
  std::vector<Imported>& operands() { return operands_; }
  const Imported& Any(int index) const {
    return operands_[static_cast<size_t>(index)];
  }
  // Returns an operand that must be a tensor of real numbers; fails for other
  // values.
  Tensor Operand(int index) const;
  // Returns the operands [first, last), which must all be tensors.
  std::vector<Tensor> Operands(int first, int last) const;

  int result_count() const { return static_cast<int>(result_types_.size()); }
  const Type& ResultType(int index = 0) const {
    return result_types_[static_cast<size_t>(index)];
  }
  // Returns the dtype of a result's elements; fails if there is none.
  DType ResultDType(int index = 0) const;
  // Returns a result's shape; fails unless it is static.
  Shape ResultShape(int index = 0) const;
  void SetResult(Tensor value) { SetResult(0, value); }
  void SetResult(int index, Tensor value) {
    SetResult(index, Imported{.tensor = value});
  }
  void SetResult(int index, Imported value) {
    results_[static_cast<size_t>(index)] = std::move(value);
  }
  std::vector<Imported>& results() { return results_; }

  // These functions read attributes. An attribute of another kind than the
  // function returns is an error.
  bool Has(std::string_view name) const;
  const Attribute* Find(std::string_view name) const;
  int64_t Integer(std::string_view name,
                  std::optional<int64_t> otherwise) const;
  bool Flag(std::string_view name, bool otherwise) const;
  double Number(std::string_view name) const;
  // Returns the integers of a list, an array or a dense value, with nested
  // lists one after the other. The result is empty if the attribute is left
  // out.
  std::vector<int64_t> Integers(std::string_view name) const;
  // Returns the integers in a field of a structure. If `structure` is null, the
  // field is an attribute of the operation, as in vhlo.
  std::vector<int64_t> Integers(const Attribute* structure,
                                std::string_view name) const;
  int64_t Integer(const Attribute* structure, std::string_view name,
                  int64_t otherwise) const;
  // Returns a string, a symbol or the word of an enum; empty if it is left out.
  std::string Text(std::string_view name) const;

  // Returns the region with this index; null, with an error, if the operation
  // has no such region.
  const Region* FindRegion(size_t index) const;
  // Runs a region on tensors. The region is written for scalars (as comparators
  // and combiners are); each tensor holds many such scalars, and the region is
  // applied to each of them.
  std::vector<Tensor> RunLifted(const Region& region,
                                const std::vector<Tensor>& arguments,
                                graph::Region* inside = nullptr) const;

  void FailInvalid(std::string message) const {
    ops::FailInvalid(builder_, std::move(message));
  }
  void FailUnsupported(std::string message) const {
    ops::FailUnsupported(builder_, std::move(message));
  }
  // Returns false, with an error, unless the list has `expected` entries.
  bool CheckLength(const std::vector<int64_t>& list, std::string_view name,
                   size_t expected) const;
  // Returns false, with an error, unless the axes are in [0, rank) and unique
  // and, if `sorted`, ascending.
  bool CheckAxes(const std::vector<int64_t>& axes, std::string_view name,
                 int rank, bool sorted = false) const;
  bool CheckRange(const std::vector<int64_t>& list, std::string_view name,
                  int64_t least, int64_t most) const;

  Tensor Scalar(double value, DType dtype) const {
    return {&builder_, builder_.Scalar(value, dtype)};
  }
  // Returns a constant of the type. The value is exact in all 64 bits (a double
  // would round it); narrower types keep its low bits.
  Tensor IntegerScalar(int64_t value, DType dtype) const;

 private:
  graph::GraphBuilder& builder_;
  const Operation& operation_;
  std::vector<Imported> operands_;
  std::vector<Type> result_types_;
  std::vector<Imported> results_;
  RegionImporter& regions_;
  bool lifted_;
};

bool Contains(const std::vector<int64_t>& values, int64_t value);
// Returns the integers 0, 1, …, extent - 1 (i64) along an axis of a tensor of
// this rank, whose other dims are 1.
Tensor IotaAlong(graph::GraphBuilder& builder, const Dim& extent, int axis,
                 int rank);
// Returns all elements of x as a vector, in row-major order.
Tensor Flattened(Tensor x);

// Returns the name of the operation of a region that takes two scalars and has
// only one operation: "add", "multiply", "maximum", "minimum", "and", "or", or
// "first" and "second" if it returns an argument. Empty for all other regions.
std::string_view CombinerOf(const Region& region);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_OPERATION_CONTEXT_H_
