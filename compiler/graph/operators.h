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
//                  Contractions of narrow floats give f32: products and sums are
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
//   non_max_suppression {defines, …} (boxes, scores, thresholds),
//   decode_image {defines, order} (file: u8[n])
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

// Gives one stage of an operator's definition access to the operands. The
// definition need not know if an operand is a buffer or, after fusion, an
// element that another operator computes in the same expression.
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
  // Returns the value of a dim as an i64 scalar of the stage.
  virtual tensor::Scalar Extent(const Dim& dim) = 0;
  virtual tensor::Scalar Index(int64_t value) = 0;
  virtual tensor::Scalar Constant(double value, DType type) = 0;
  // Makes a constant from an integer; unlike Constant, it is exact for 64-bit
  // integers.
  virtual tensor::Scalar IntegerConstant(int64_t value, DType type) = 0;
};

// One stage of the definition of an operator that is not elementwise.
class StageContext : public ElementContext {
 public:
  virtual tensor::Scalar SpatialAxis(const Dim& extent) = 0;
  virtual tensor::Scalar ReductionAxis(const Dim& extent) = 0;
  // Stores a value to the element at `indices` of the operation's result number
  // `result`, and ends the stage.
  virtual void Yield(tensor::Scalar value, int result,
                     std::span<const tensor::Scalar> indices,
                     tensor::Combiner combiner = tensor::Combiner::kNone,
                     tensor::Update update = tensor::Update::kAssign) = 0;
  // One carried value of a fold, with its initial value. `result` is the number
  // of the operation's result that the final value is stored to. -1 means that
  // it is not stored; only the last values of a fold may have -1.
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
  // Makes all stages of the operator; together they store the results.
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
  // Element i of the result depends only on element i of each operand (after
  // broadcasting), by the same function for every i.
  kElementwise,
  // The operator moves elements and computes nothing: reshape, transpose,
  // broadcast, slice, pad …
  kView,
  kReduction,    // The operator combines several elements: it has a reduction.
  kContraction,  // The operator computes sums of products of two operands.
  // The program runs the operator: control flow or a library call. It has no
  // definition as tensor expressions.
  kProgram,
  kOther,
};

// Says where the memory of an operation's results comes from when a program
// runs the operation.
enum class ResultMemory : uint8_t {
  // The result uses operand 0's memory with other extents, so no code runs for
  // the operation.
  kOperand,
  // The memory exists before the operation runs: it comes from the memory plan,
  // or for a constant from the module.
  kGiven,
  // The program allocates the memory during the run, as its size is not known
  // before.
  kMade,
  // The program allocates the memory of result 0 during the run; the memory of
  // the other results exists before.
  kFirstMade,
};

// Says how an operation reads the elements of its first operand. Lowering uses
// this to decide whether a value gets memory of its own.
enum class Reading : uint8_t {
  // Each element of the result reads one element of the operand, in the same
  // order.
  kOnce,
  // Elements are read as for kOnce, but the result has another shape.
  kReshaped,
  // Elements are read as for kOnce, but the dims are in another order, which
  // the attribute `permutation` gives.
  kPermuted,
  // Elements are read as for kOnce, and positions outside of the operand have
  // the padding's value; the attributes are `low`, `high` and `mode`.
  kPadded,
  kJoined,  // The operands are joined: each of them is one part of the result.
  // Windows of the operand are read, which may overlap; the attribute is
  // `window`.
  kWindows,
  // Windows of the operand are read and multiplied by the weights, which are
  // operand 1. The attributes are `low`, `high` and `groups`; channels are the
  // last dim.
  kConvolved,
  // Elements are read at indices that other operands give (as in a gather), so
  // an element may be read many times.
  kByData,
};

// The type of a field of OperatorRecord that every record must set: it has no
// default value, so a record that leaves the field out does not compile.
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
  int maximum_operands = 0;  // Largest number of operands; -1 means any number.
  std::span<const AttributeSpec> attributes = {};
  OperatorTrait trait = OperatorTrait::kOther;
  Stated<ResultMemory> result_memory;
  Reading reading = Reading::kOnce;
  // True if the result is an affine function (a*x + b, or x in another type) of
  // each operand while the other operands are fixed. Such operators are cheap,
  // so their results may be computed again instead of being stored;
  // dequantization consists of them.
  bool is_affine = false;
  // For the trait kProgram: the way in which the program runs the operator. The
  // member `call` is used only for ProgramForm::kCall.
  ProgramForm form = ProgramForm::kNone;
  LibraryCall call = {};
  // Returns the types of the results for the operands and attributes of an
  // operation. Returns an error unless everything that the definition relies on
  // holds.
  StatusOr<std::vector<TensorType>> (*infer)(const Operation& operation) =
      nullptr;
  Definition definition = {};
  // True in records that are generated from the dispatch instruction table
  // (elementwise operators); `opcode` is then the instruction.
  bool is_instruction = false;
  tensor::Opcode opcode = tensor::Opcode::kConstant;
  // Names of the operator's regions, such as "then" and "else", for the text
  // form.
  std::span<const std::string_view> regions = {};
};

std::span<const OperatorRecord> OperatorTable();
const OperatorRecord* FindOperator(std::string_view name);
// Finds an operator by a name that is written in our own code; an unknown name
// fails a check.
const OperatorRecord& OperatorNamed(std::string_view name);
// Finds the elementwise operator that is generated from a row of the
// instruction table; an opcode without one fails a check.
const OperatorRecord& OperatorNamed(tensor::Opcode opcode);
// Returns the name of an operation for error messages: "conv", or "conv
// 'Conv_12 (Conv)'" if the origin is known.
std::string DescribeOperation(const Operation& operation);

// Returns the symbols whose values this operation gives when it runs (its
// attribute `defines`). Shapes of results and of later operations use them.
std::vector<std::string> DefinedSymbols(const Operation& operation);

// Splits the operands of a `loop` by their purpose: carried, scanned and
// captured values.
struct LoopParts {
  explicit LoopParts(const Operation& loop);
  // True for a loop with a condition: operand 0 is then its limit, operand 1
  // its condition.
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
