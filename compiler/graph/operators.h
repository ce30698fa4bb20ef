// The table of operators. An operator is one record: operands, attributes, type
// inference, definition as tensor expressions, and doc line. All code that
// knows operators is driven by the table.
//
// Elementwise operators are not written by hand: every arithmetic row of the
// dispatch instruction table is an operator, with numpy broadcasting. Unary and
// classifying rows are named by the row's text (neg, exp, is_nan), binary and
// comparing ones by the row's name (add, floor_divide, less_equal, shift_left);
// OperatorNamed(opcode) finds them. The others:
//
// clang-format off
//   constant {value, dtype, shape}           a tensor known when compiling
//   shape_value {values}                     i64[k] of integer expressions
//   iota {shape, axis, dtype}                the index along an axis
//   select (c, a, b), cast {dtype}, bitcast {dtype}
//   reshape {shape}, transpose {permutation}, broadcast {shape}
//                  Element counts must be equal as expressions (Dim's rules): a
//                  symbolic reshape that cannot be shown to fit is an error.
//   assume {shape}                           dims assumed equal to others; checked when run
//   slice {starts, steps, sizes}             element start + i*step; steps may be negative
//   pad {low, high, mode} (x [, scalar])     mode: constant, edge, reflect, wrap
//   concat {axis} (x...)                     one dispatch stage per operand
//   gather {axis} (data, indices)            numpy.take; indices already non-negative
//   gather_elements {axis}, gather_nd {batch_dims}, scatter_elements {axis, update}, scatter_nd {update}
//   contract {spec: "bik,bkj->bij"} (a, b)   sum of products over labels not in the result
//   conv {strides, dilations, low, high, groups}              x[N, spatial…, C] w[window…, C/g, O]
//   conv_transpose {strides, dilations, low, high, output_padding, groups}     w[window…, C, O/g]
//                  Contractions of f16 and bf16 give f32: products and sums are
//                  exact to f32, and a cast operation after it rounds once
//                  (GraphBuilder adds it).
//   reduce {combiner: sum|product|minimum|maximum, axes}      dims removed
//   arg_reduce {mode: maximum|minimum, axis, last: 0|1}       i64, dim removed
//   reduce_window {combiner, window, strides, dilations, low, high}   per dim of x; positions
//                                            outside are the combiner's identity
//
// Run by the program, not by a dispatch (compiler/graph/operators/program.cc has the details):
//
//   extents {defines, message?} (x: i64[k])  x, none negative: defines one symbol per element;
//                                            with a message it is a check (GraphBuilder::Require)
//   if (c: bool[], captures...) then else    the results of one of its regions
//   loop {…} (carried..., scanned..., captures...) body
//   top_k {axis, k, largest} (x), non_zero {defines} (x), unique {defines, sorted} (x),
//   non_max_suppression {defines, …} (boxes, scores, thresholds)
// On strings, which are i64 handles (compiler/graph/operators/strings.cc, Graph::strings):
//   string_concat (a, b), string_lower, string_upper, string_rank (x),
//   string_split {defines, delimiter, most} (x), regex_full_match {pattern} (x),
//   string_to_number {dtype} (x), number_to_string (x)
// clang-format on
//
// Keep the list short: a new operator needs a reason
// (docs/adding/graph-operator.md).
#ifndef EMBER_COMPILER_GRAPH_OPERATORS_H_
#define EMBER_COMPILER_GRAPH_OPERATORS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/graph/program_form.h"
#include "tensor/builder/builder.h"

namespace ember::graph {

// Access to operands inside one stage of a definition. It hides whether an
// operand is a buffer or, by fusion, another operator's element.
class ElementContext {
 public:
  virtual ~ElementContext() = default;
  virtual const Operation& operation() const = 0;
  // Returns the element of an operand at the indices (one per dim, i64), which
  // must be within its shape.
  virtual tensor::Scalar Load(int operand,
                              std::span<const tensor::Scalar> indices) = 0;
  // Returns the element of an operand at the indices, or `otherwise` if any
  // index is outside of the operand's shape.
  virtual tensor::Scalar Pad(int operand,
                             std::span<const tensor::Scalar> indices,
                             tensor::Scalar otherwise) = 0;
  // Returns a dim as an i64 scalar.
  virtual tensor::Scalar Extent(const Dim& dim) = 0;
  virtual tensor::Scalar Index(int64_t value) = 0;
  virtual tensor::Scalar Constant(double value, DType type) = 0;
  // Makes a constant; it is exact for 64-bit integers.
  virtual tensor::Scalar IntegerConstant(int64_t value, DType type) = 0;
};

// One stage of a definition that is not elementwise.
class StageContext : public ElementContext {
 public:
  virtual tensor::Scalar SpatialAxis(const Dim& extent) = 0;
  virtual tensor::Scalar ReductionAxis(const Dim& extent) = 0;
  // Stores to result `result` of the operation at the indices, and ends the
  // stage.
  virtual void Yield(tensor::Scalar value, int result,
                     std::span<const tensor::Scalar> indices,
                     tensor::Combiner combiner = tensor::Combiner::kNone,
                     tensor::Update update = tensor::Update::kAssign) = 0;
  // A value of a fold and its initial value. In a call, result[i] is the result
  // that value i is stored to; -1: not stored, which only trailing values may
  // be.
  struct FoldValue {
    tensor::Scalar value;
    tensor::Scalar initial;
    int result;
  };
  virtual void YieldFold(std::span<const FoldValue> values,
                         std::span<const tensor::Scalar> indices,
                         const tensor::StageBuilder::Combine& combine) = 0;
};

class StagesContext {
 public:
  virtual ~StagesContext() = default;
  virtual const Operation& operation() const = 0;
  virtual StageContext& AddStage() = 0;
};

// The computation of an operator. Exactly one of the two functions is set;
// `constant` and operators that the program runs have neither.
struct Definition {
  // Computes one element of the only result at `indices`. It is inlined into
  // the users of the element, or becomes a stage.
  tensor::Scalar (*element)(ElementContext& context,
                            std::span<const tensor::Scalar> indices) = nullptr;
  // Makes the stages that store the results.
  void (*stages)(StagesContext& context) = nullptr;
};

enum class AttributeKind : uint8_t {
  kInteger,
  kFloat,
  kString,
  kDType,
  kIntegers,
  kShape,
  kConstant
};

struct AttributeSpec {
  std::string_view name;
  AttributeKind kind;
  bool required = true;
  std::string_view doc;
};

// Properties that passes may use without knowing the operator's name.
enum class OperatorTrait : uint8_t {
  // result[i] depends on operand[i] only (with broadcasting), by the same
  // function for every i
  kElementwise,
  // moves elements and computes nothing: reshape, transpose, broadcast, slice,
  // pad …
  kView,
  kReduction,    // combines elements: it has a reduction
  kContraction,  // computes sums of products of two operands
  // is run by the program: control flow and library calls; has no definition
  kProgram,
  kOther,
};

// Says who provides the memory of an operation's results when a program runs
// it.
enum class ResultMemory : uint8_t {
  // the result has operand 0's memory with other extents: nothing is done
  kOperand,
  // The memory exists before the operation runs: it comes from the memory plan,
  // or for a constant from the module.
  kGiven,
  kMade,  // the run allocates the memory, as its size is not known before
  // the run allocates result 0, the memory of the others exists before
  kFirstMade,
};

// Says how an operation reads the elements of its first operand. Lowering uses
// this to decide whether a value gets memory of its own.
enum class Reading : uint8_t {
  kOnce,  // reads one element for each element of the result, in the same order
  kReshaped,  // like kOnce, with other dims around the same elements
  kPermuted,  // like kOnce, with the dims in another order: `permutation`
  // like kOnce, with a value outside of the operand: `low`, `high`, `mode`
  kPadded,
  kJoined,   // the operand is a part of the result; so are the other operands
  kWindows,  // reads windows that may overlap: `window`
  // Reads windows, times the weights of operand 1: `low`, `high`, `groups`;
  // channels are the last dim.
  kConvolved,
  kByData,  // reads elements that other operands select, some possibly often
};

// A field without a default value: a record that leaves the field out does not
// build.
template <typename T>
class Stated {
 public:
  constexpr Stated(T value) : value_(value) {}
  constexpr operator T() const { return value_; }

 private:
  T value_;
};

struct OperatorRecord {
  std::string_view name;
  std::string_view doc;
  int minimum_operands = 0;
  int maximum_operands = 0;  // largest number of operands; -1: any number
  std::span<const AttributeSpec> attributes = {};
  OperatorTrait trait = OperatorTrait::kOther;
  Stated<ResultMemory> result_memory;
  Reading reading = Reading::kOnce;
  // True if the result is an affine function of each operand while the others
  // are fixed (a*x + b, or x in another type). Such an operator is as cheap to
  // compute again as any; dequantization consists of them.
  bool is_affine = false;
  // For the trait kProgram: the way in which the program runs the operator.
  // `call` is for kCall.
  ProgramForm form = ProgramForm::kNone;
  LibraryCall call = {};
  // Returns the result types for the operands and attributes. Checks everything
  // that the definition relies on.
  StatusOr<std::vector<TensorType>> (*infer)(const Operation& operation) =
      nullptr;
  Definition definition = {};
  // True in records that are generated from the instruction table.
  bool is_instruction = false;
  tensor::Opcode opcode = tensor::Opcode::kConstant;
  // Names of the operation's regions, for the text form.
  std::span<const std::string_view> regions = {};
};

std::span<const OperatorRecord> OperatorTable();
const OperatorRecord* FindOperator(std::string_view name);
// Finds an operator by a name that is written in our own code; an unknown name
// fails a check.
const OperatorRecord& OperatorNamed(std::string_view name);
// Finds the elementwise operator of an arithmetic row; another opcode fails a
// check.
const OperatorRecord& OperatorNamed(tensor::Opcode opcode);
// Returns the name of an operation for error messages: "conv", or "conv
// 'Conv_12 (Conv)'" if the origin is known.
std::string DescribeOperation(const Operation& operation);

// Returns the symbols whose values this operation gives when it runs (its
// attribute `defines`). Shapes of results and of later operations use them.
std::vector<std::string> DefinedSymbols(const Operation& operation);

// The operands of a `loop`, by their purpose.
struct LoopParts {
  explicit LoopParts(const Operation& loop);
  // true: operands 0 and 1 are the loop's limit and condition
  bool conditional = false;
  std::span<Value* const> carried, scanned, captured;
};

// Returns the number of the first captured input of an operation's regions.
// Captures are the last inputs of each region, and the last operands, in the
// same order.
int FirstCapturedInput(const Operation& operation);

// Broadcasts shapes like numpy; the error names the two dims that do not fit.
// Two dims fit if they are equal expressions or one is the constant 1.
StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_OPERATORS_H_
