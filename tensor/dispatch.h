// The dispatch: one fused tensor computation, written as tensor expressions. It
// is the unit that is interpreted, counted, compiled and swapped, and the form
// that is stored in a module.
//
//   dispatch @scale_rows<N>(%x: f32[N, 64], %s: f32[N]) -> (%y: f32[N, 64]) {
//     %y[i, j] = %x[i, j] * %s[i]
//   }
//
// A dispatch has scalar parameters (i64; extents and the like), buffers
// (inputs, outputs and temporaries, row-major and contiguous, extents in
// elements), and stages that run in order. A stage sees all that earlier stages
// wrote. Every computation is one flat list of fixed-size SSA instructions:
// instruction number i defines register i. The list starts with the header,
// which is computed once per call. The header gives the extents, and any other
// value that depends on parameters and constants only. Then come the stages,
// each a contiguous range. A stage may use registers of the header and of its
// own range only. In the header, i64 sums, differences and products that
// overflow are an error of the call; elsewhere they wrap. Extents are 0..2^40
// (kMaxExtent of tensor/range_rules.h), all buffers and each stage at most
// 2^62 in size; ConcreteHeader::Evaluate (tensor/concrete_header.h) refuses
// larger ones.
//
// Portable: no target, tile size or vector width appears here.
//
// Ownership: plain values, copyable. Thread-safety: immutable after building;
// share freely. Invariants are what tensor/verifier/verifier.h checks;
// everything else may assume them.
#ifndef EMBER_TENSOR_DISPATCH_H_
#define EMBER_TENSOR_DISPATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "tensor/instructions.h"

namespace ember::tensor {

// The number of an instruction in Dispatch::instructions, and so of the value
// that it defines.
using Register = uint32_t;

struct Instruction {
  Opcode opcode = Opcode::kConstant;
  DType type = DType::kI64;  // type of the instruction's result
  // Register operands. For Load and Pad: a = buffer number, b = first position
  // in Dispatch::operands of as many index registers (i64) as the buffer has
  // dims, c = Pad's default.
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  // For a Constant: the value's bits, low bytes first, upper bytes zero (signed
  // types are NOT sign-extended). For Parameter, Axis, Accumulator and Element:
  // the number of the parameter, axis and so on.
  uint64_t immediate = 0;

  bool operator==(const Instruction&) const = default;
};

enum class BufferKind : uint8_t { kInput, kOutput, kTemporary };

struct Buffer {
  std::string name;  // name without '%'; unique in the dispatch
  DType type = DType::kF32;
  BufferKind kind = BufferKind::kInput;
  std::vector<Register> extents;  // registers of the header, of type i64

  bool operator==(const Buffer&) const = default;
};

enum class Combiner : uint8_t {
  kNone,  // there are no reduction axes: the value is stored unchanged
  kSum,
  kProduct,
  kMinimum,
  kMaximum,
  kFold,  // a general fold over a tuple of values (Stage::fold)
};

// Says how a stage's result is combined with the element that it is stored to.
enum class Update : uint8_t { kAssign, kAdd, kMultiply, kMinimum, kMaximum };

struct Axis {
  std::string name;  // name, unique in the stage; for the text form
  // register of the header, of type i64; its value is not negative
  Register extent = 0;

  bool operator==(const Axis&) const = default;
};

// One result of a stage, stored once per point of the spatial axes. If several
// points assign to one element, it is unspecified which value remains. Updates
// (+= and so on) of all points count.
struct Store {
  uint32_t buffer = 0;  // number of an output or temporary
  std::vector<Register>
      // one i64 register per dim of the buffer, computed from spatial axes
      indices;
  Update update = Update::kAssign;

  bool operator==(const Store&) const = default;
};

// The fold of a kFold stage. Accumulators start at `initial`. For each
// reduction point, in order, the fold body computes the next accumulators;
// Accumulator and Element instructions refer to the tuple. The body is pure: it
// uses fold values, constants, header values and arithmetic. Axes and loads
// enter as elements. Example, argmax: values = (x[i,k], k), initial = (-inf,
// 0),
//   results = (select(a0 < e0, e0, a0), select(a0 < e0, e1, a1)).
struct Fold {
  std::vector<Register>
      // for each value a register of the header or of a constant of the stage
      initial;
  std::vector<Register> results;  // for each value a register of the stage

  bool operator==(const Fold&) const = default;
};

// A stage combines `values` over all points of the reduction axes (last axis
// fastest) for every point of the spatial axes, then stores the result. Sums of
// f16, bf16 and f32 accumulate in f32, of f64 in f64, of integers in their own
// type, wrapping. The order of accumulation is unspecified for kSum and
// kProduct, but float sums of any length keep the error bound of
// tensor/sum_error.h; kFold uses the order of the axes. An empty reduction
// gives 0, 1, +inf/largest, -inf/smallest, or `initial`.
struct Stage {
  std::vector<Axis> spatial;
  // reduction axes; empty exactly when combiner is kNone
  std::vector<Axis> reduction;
  Combiner combiner = Combiner::kNone;
  // Range of the stage's instructions in the dispatch: [begin, end). Axis
  // immediates count spatial axes first.
  uint32_t begin = 0;
  uint32_t end = 0;
  // Registers of the stage's values. More than one only for kNone and kFold. A
  // fold may have more values than stores: the trailing ones are carried but
  // not stored.
  std::vector<Register> values;
  Fold fold;
  std::vector<Store> stores;  // stores[i] receives the result of values[i]

  bool operator==(const Stage&) const = default;
};

struct Dispatch {
  std::string name;                     // name without '@'
  std::vector<std::string> parameters;  // names of the i64 scalar parameters
  std::vector<Buffer> buffers;  // inputs, then outputs, then temporaries
  std::vector<Instruction> instructions;
  std::vector<Register> operands;  // index registers of Load and Pad
  uint32_t header_end = 0;  // instructions [0, header_end) are the header
  std::vector<Stage> stages;

  bool operator==(const Dispatch&) const = default;

  uint32_t input_count() const { return CountBuffers(BufferKind::kInput); }
  uint32_t output_count() const { return CountBuffers(BufferKind::kOutput); }
  // Calls visit(register) for every register operand of an instruction, index
  // registers included.
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
