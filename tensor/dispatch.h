// The dispatch: one fused tensor computation, written as tensor expressions. A
// dispatch is the unit that is interpreted, counted, compiled and replaced by a
// kernel. Modules store dispatches in this form.
//
//   dispatch @scale_rows<N>(%x: f32[N, 64], %s: f32[N]) -> (%y: f32[N, 64]) {
//     %y[i, j] = %x[i, j] * %s[i]
//   }
//
// A dispatch has scalar parameters (i64; extents and the like), buffers
// (inputs, outputs and temporaries, row-major and contiguous, extents in
// elements), and stages that run in order. A stage may read everything that
// earlier stages stored. Every computation is one flat list of fixed-size SSA
// instructions: instruction number i defines register i. The list starts with
// the header, which is computed once per call. The header gives the extents,
// and any other value that depends on parameters and constants only. Then come
// the stages, each a contiguous range. A stage may use registers of the header
// and of its own range only. If an i64 sum, difference or product overflows in
// the header, the call fails; in stages it wraps. Extents are 0..2^40
// (kMaxExtent of tensor/range_rules.h). All buffers together have at most 2^62
// bytes, and each stage at most 2^62 points; ConcreteHeader::Evaluate
// (tensor/concrete_header.h) refuses larger ones.
//
// Portable: no target, tile size or vector width appears here.
//
// Ownership: plain values, copyable. Thread-safety: immutable after building;
// share freely. tensor/verifier/verifier.h checks the invariants of a dispatch;
// all other code may assume them.
#ifndef EMBER_TENSOR_DISPATCH_H_
#define EMBER_TENSOR_DISPATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "tensor/instructions.h"

namespace ember::tensor {

// Number of an instruction in Dispatch::instructions, and thereby the name of
// the value that the instruction defines.
using Register = uint32_t;

struct Instruction {
  Opcode opcode = Opcode::kConstant;
  DType type = DType::kI64;  // type of the instruction's result
  // Operands of the instruction, as registers. Load and Pad use them otherwise:
  // a = number of the buffer; b = position in Dispatch::operands of the first
  // index register (i64; there is one for each dim of the buffer); c = register
  // of a Pad's default value.
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  // For a Constant, the bits of its value: low bytes first, upper bytes zero
  // (signed types are NOT sign-extended). For a Parameter, Axis, Accumulator or
  // Element, its number.
  uint64_t immediate = 0;

  bool operator==(const Instruction&) const = default;
};

enum class BufferKind : uint8_t { kInput, kOutput, kTemporary };

struct Buffer {
  std::string name;  // name of the buffer without '%'; unique in the dispatch
  DType type = DType::kF32;
  BufferKind kind = BufferKind::kInput;
  std::vector<Register> extents;  // registers of the header (of type i64) that
                                  // hold the extents

  bool operator==(const Buffer&) const = default;
};

enum class Combiner : uint8_t {
  kNone,  // The stage has no reduction axes: the value is stored unchanged.
  kSum,
  kProduct,
  kMinimum,
  kMaximum,
  kFold,  // A general fold over a tuple of values, which Stage::fold describes.
};

// Specifies how a stage's result is combined with the earlier value of the
// element to which it is stored.
enum class Update : uint8_t { kAssign, kAdd, kMultiply, kMinimum, kMaximum };

struct Axis {
  std::string name;  // Name of the axis in the text form. It is unique in its
                     // stage.
  // register of the header that holds the number of points of the axis; its
  // type is i64 and its value is not negative
  Register extent = 0;

  bool operator==(const Axis&) const = default;
};

// One result of a stage, stored once per point of the spatial axes. If several
// points store to one element by an assignment, it is unspecified which value
// remains. With an update (+= and so on) every point's value is combined into
// the element.
struct Store {
  uint32_t buffer = 0;  // number of the output or temporary that receives the
                        // result
  std::vector<Register>
      // indices of the element: one i64 register per dim of the buffer, which
      // depends on no reduction axis
      indices;
  Update update = Update::kAssign;

  bool operator==(const Store&) const = default;
};

// The fold of a kFold stage. The accumulators start with the values `initial`.
// For each reduction point, in order, the fold body (`results`) computes the
// next accumulators from the accumulators (Accumulator instructions) and the
// stage's values at the point (Element instructions). The body uses only these,
// constants, header values and arithmetic. Axes and loaded elements must be
// among the stage's values. Example, argmax: values = (x[i,k], k), initial =
// (-inf, 0),
//   results = (select(a0 < e0, e0, a0), select(a0 < e0, e1, a1)).
struct Fold {
  std::vector<Register>
      // Initial value of each accumulator: a register of the header, or of a
      // constant of the stage.
      initial;
  std::vector<Register> results;  // next value of each accumulator, as a
                                  // register of the stage

  bool operator==(const Fold&) const = default;
};

// A stage combines `values` over all points of the reduction axes (last axis
// fastest) for every point of the spatial axes, then stores the result. Sums of
// f16, bf16 and f32 accumulate in f32, sums of f64 in f64, sums of integers in
// their own type, where they wrap. The order of accumulation is unspecified for
// kSum and kProduct, but float sums of any length keep the error bound of
// tensor/sum_error.h; kFold uses the order of the axes. A reduction over no
// points gives 0 (sum), 1 (product), infinity or the largest value (minimum),
// -infinity or the smallest value (maximum), or `initial` (fold).
struct Stage {
  std::vector<Axis> spatial;
  // The reduction axes. The list is empty exactly if the combiner is kNone.
  std::vector<Axis> reduction;
  Combiner combiner = Combiner::kNone;
  // Range [begin, end) of the stage's instructions in the dispatch. The
  // immediate of an Axis instruction numbers the spatial axes first, then the
  // reduction axes.
  uint32_t begin = 0;
  uint32_t end = 0;
  // Registers of the stage's values. There is more than one only if the
  // combiner is kNone or kFold. A fold may have more values than stores: the
  // accumulators of the last values are then not stored.
  std::vector<Register> values;
  Fold fold;
  std::vector<Store> stores;  // The stores of the stage: stores[i] stores the
                              // result of values[i].

  bool operator==(const Stage&) const = default;
};

struct Dispatch {
  std::string name;                     // name without '@'
  std::vector<std::string> parameters;  // names of the dispatch's scalar
                                        // parameters, which have type i64
  std::vector<Buffer> buffers;  // all buffers: inputs, then outputs, then
                                // temporaries
  std::vector<Instruction> instructions;
  // the index registers of all Load and Pad instructions; an instruction holds
  // the position of its first one
  std::vector<Register> operands;
  uint32_t header_end = 0;  // number of the header's instructions, which are
                            // the first ones in the list
  std::vector<Stage> stages;

  bool operator==(const Dispatch&) const = default;

  uint32_t input_count() const { return CountBuffers(BufferKind::kInput); }
  uint32_t output_count() const { return CountBuffers(BufferKind::kOutput); }
  // Calls visit(register) for every register operand of an instruction,
  // including the index registers of a Load or Pad.
  template <typename Visitor>
  void ForEachOperand(const Instruction& instruction, Visitor&& visit) const {
    const int count = RegisterOperandCount(instruction.opcode);
    if (count > 0) visit(instruction.a);
    if (count > 1) visit(instruction.b);
    if (count > 2) visit(instruction.c);
    if (instruction.opcode == Opcode::kLoad ||
        instruction.opcode == Opcode::kPad) {
      for (size_t i = 0; i < buffers[instruction.a].extents.size(); ++i) {
        visit(operands[instruction.b + i]);
      }
      if (instruction.opcode == Opcode::kPad) visit(instruction.c);
    }
  }

 private:
  uint32_t CountBuffers(BufferKind kind) const {
    uint32_t count = 0;
    for (const Buffer& buffer : buffers) count += buffer.kind == kind;
    return count;
  }
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_DISPATCH_H_
