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
// elements), and stages that run in order; a stage sees all that earlier stages
// wrote. Every computation is one flat list of fixed-size SSA instructions:
// instruction number i defines register i. The list starts with the header,
// which is computed once per call from the parameters and gives the extents
// (and any other value, of any type, that only parameters and constants enter);
// then come the stages, each a contiguous range. A stage may use registers of
// the header and of its own range only. In the header, i64 sums, differences
// and products that overflow are an error of the call; elsewhere they wrap.
// Extents are 0..2^40 (kMaximumExtent of tensor/range_rules.h), all buffers and
// each stage at most 2^62 in size; tensor/concrete_header.h refuses others for
// whoever runs a dispatch.
//
// Portable: no target, tile size or vector width appears here.
//
// Ownership: plain values, copyable. Thread-safety: immutable after building;
// share freely. Invariants are what tensor/verifier.h checks; everything else
// may assume them.
#ifndef EMBER_TENSOR_DISPATCH_H_
#define EMBER_TENSOR_DISPATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "tensor/instructions.h"

namespace ember::tensor {

// Number of an instruction in Dispatch::instructions, and so of the value it
// defines.
using Register = uint32_t;

struct Instruction {
  Opcode opcode = Opcode::kConstant;
  DType type = DType::kI64;  // of the result
  // Register operands; for Load and Pad: a = buffer number, b = first position
  // in Dispatch::operands of as many index registers (i64) as the buffer has
  // dims, c = Pad's default.
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  // Constant: the value's bits, low bytes first, upper bytes zero (signed types
  // are NOT sign-extended). Parameter, Axis, Accumulator, Element: which one.
  uint64_t immediate = 0;

  bool operator==(const Instruction&) const = default;
};

enum class BufferKind : uint8_t { kInput, kOutput, kTemporary };

struct Buffer {
  std::string name;  // without '%'; unique in the dispatch
  DType type = DType::kF32;
  BufferKind kind = BufferKind::kInput;
  std::vector<Register> extents;  // header registers, i64

  bool operator==(const Buffer&) const = default;
};

enum class Combiner : uint8_t {
  kNone,  // no reduction axes: the value is stored as it is
  kSum,
  kProduct,
  kMinimum,
  kMaximum,
  kFold,  // a general fold over a tuple of values; see Stage::fold
};

// How a stage's result meets the element that it is stored to.
enum class Update : uint8_t { kAssign, kAdd, kMultiply, kMinimum, kMaximum };

struct Axis {
  std::string name;     // unique in the stage; for the text form
  Register extent = 0;  // header register, i64, not negative

  bool operator==(const Axis&) const = default;
};

// One result of a stage, stored once per point of the spatial axes. Where
// several points assign to one element, which of them stays is not specified;
// updates (+= and so on) all count.
struct Store {
  uint32_t buffer = 0;  // output or temporary
  std::vector<Register>
      indices;  // one i64 register per dim of the buffer, from spatial axes
  Update update = Update::kAssign;

  bool operator==(const Store&) const = default;
};

// For kFold: accumulators start at `initial`; for each reduction point, in
// order, the fold body (Accumulator and Element instructions refer to the
// tuple) gives the next accumulators. The body is pure: fold values, constants,
// header values and arithmetic; axes and loads enter as elements. Example,
// argmax: values = (x[i,k], k), initial = (-inf, 0),
//   results = (select(a0 < e0, e0, a0), select(a0 < e0, e1, a1)).
struct Fold {
  std::vector<Register>
      initial;  // header or constant registers of the stage, per value
  std::vector<Register> results;  // registers of the stage, per value

  bool operator==(const Fold&) const = default;
};

// For every point of the spatial axes: combine `values` over all points of the
// reduction axes (last axis fastest), then store. Sums of f16, bf16 and f32
// accumulate in f32, of f64 in f64, of integers in their own type, wrapping;
// the order of accumulation is not specified for kSum and kProduct, but that
// sums of floats of any length keep the error bound of tensor/sum_error.h, and
// is the axes' order for kFold. An empty reduction gives 0, 1, +inf/largest,
// -inf/smallest, or `initial`.
struct Stage {
  std::vector<Axis> spatial;
  std::vector<Axis> reduction;  // empty exactly when combiner is kNone
  Combiner combiner = Combiner::kNone;
  // Instructions [begin, end) of the dispatch. Axis immediates count spatial
  // axes first.
  uint32_t begin = 0;
  uint32_t end = 0;
  // More than one value only for kNone and kFold. A fold may have more values
  // than stores: the trailing ones are carried but not stored.
  std::vector<Register> values;
  Fold fold;
  std::vector<Store> stores;  // stores[i] receives the result of values[i]

  bool operator==(const Stage&) const = default;
};

struct Dispatch {
  std::string name;                     // without '@'
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
