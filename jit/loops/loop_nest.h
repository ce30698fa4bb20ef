// The loop nest: a dispatch under a schedule, as imperative code. What every
// back end of the JIT compiles, and the last form that is the same for all.
//
//   loops @scale_rows<N>(%x: input f32[N, 64], %s: input f32[N],
//                        %y: output f32[N, 64]) {
//     phase i < N {
//       for j0 < 4 {
//         vector j1 < 16 {
//           %y[i, j0 * 16 + j1] = %x[i, j0 * 16 + j1] * %s[i]
//         }
//       }
//     }
//   }
//
// A nest has the dispatch's scalar parameters (i64), buffers, and phases that
// run one after another. A phase is a number of tasks that may run in any order
// and on any workers at once; its body is a block of statements over one task
// number. Expressions are nodes of one pool (tensor/expression_pool.h): loop
// variables are its Axis nodes, whose operand is the extent; loads read the
// nest's buffers. The same Load node at two places may read different values:
// only what contains no load is the same everywhere.
//
// Nothing here says how a device counts registers or lanes; that a loop is a
// vector or unrolled is part of the program, as the schedule decided it.
//
// Ownership: a plain value, movable. Thread-safety: immutable after lowering;
// share freely. Invariants: what jit/loops/verifier.h checks.
#ifndef EMBER_JIT_LOOPS_LOOP_NEST_H_
#define EMBER_JIT_LOOPS_LOOP_NEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "tensor/dispatch.h"
#include "tensor/expression_pool.h"

namespace ember::loops {

using tensor::NodeId;

// Where a buffer lives and who sees it.
enum class MemoryScope : uint8_t {
  kInput,    // of the dispatch, in order; read only
  kOutput,   // of the dispatch, in order
  kPacked,   // written by the prologue, once for many calls; then read only
  kCall,     // from the first phase to the last of a call, seen by all tasks
  kTask,     // of one task; unspecified contents at its start
  kRegister  // as kTask; small, of constant extents, meant to be in registers;
             // see LoopKind::kInvocation
};

// Of a register buffer; of one value's of the loop over invocations, where each
// has its own.
inline constexpr int64_t kMaximumRegisterElements = 4096;

struct Buffer {
  std::string name;  // without '%'; unique in the nest
  DType type = DType::kF32;
  MemoryScope scope = MemoryScope::kInput;
  // Elements, row-major and contiguous: of constants and parameters only;
  // kRegister: of constants only, and with room for all lanes of a vector
  // access, masked ones too.
  std::vector<NodeId> extents;
};

enum class LoopKind : uint8_t {
  kSerial,
  kUnrolled,  // constant extent; the body is written out for each value
  // Constant extent; all values at once, in lanes. No vector loop in another.
  // Stores to one element by several lanes: an update counts all of them (their
  // order is not specified), a plain store keeps one of them.
  kVector,
  // Constant extent; the values may run in any order and at once, as tasks may,
  // and all that they store is there for the statement after the loop. Devices
  // that run a task on many processors run each value on one of them, others
  // take it for a serial loop. Not in another one and not in a vector loop: so
  // what stands around it is the same for all values.
  //
  // A register buffer that is accessed in such loops is of one of two kinds:
  //   - its first index is in every access of the nest the variable of the
  //     invocation loop around, and its first extent that loop's: element
  //     [i, ...] is a register of invocation i and lives as long as the task;
  //   - no access has that variable in an index: each value of the loop has
  //     registers of its own, which hold nothing before it and after it.
  //
  // Several values of the loop update one element only where that is all that
  // the loop does; an update then counts all of them, in no specified order
  // (jit/loops/combining.h).
  //
  //   invocation i < 64 { %sum[i] = 0.0 }
  //   for k0 < 8 {
  //     invocation i < 64 { %tile[i] = %x[t, k0 * 64 + i] }
  //     invocation i < 64 { for k1 < 64 { %sum[i] += %tile[k1] } }
  //   }
  //   %y[t] = 0.0
  //   invocation i < 64 { %y[t] += %sum[i] }
  //
  // kInvocation and kSubgroup together are the loops over invocations.
  kInvocation,
  // A short sum of products, which machines have as one instruction per lane:
  //
  //   vector l < 8 {
  //     dot q < 4 { %sum[l] += i32(%a[i, k * 4 + q]) * i32(%b[k, l, q]) }
  //   }
  //
  // The body is one such update; its form, and the types that there are:
  // jit/loops/dot_product.h. Of integers it is what a serial loop gives, with
  // sums that wrap. Of bf16, in f32: the order of the products is not
  // specified, each may be added as a fused multiply-add, and what is subnormal
  // on the way (factors, sums) may be taken for zero. May stand in a vector
  // loop.
  kDot,
  // As kInvocation, but a device runs each value on a whole subgroup (a warp, a
  // wave: invocations that advance together), value s on invocations s * N to
  // s * N + N - 1 where it has N. Others run it as a serial loop. In it stand
  // matrix loops, serial and unrolled loops and branches around those, and
  // nothing else: so all invocations of a subgroup take the same way.
  kSubgroup,
  // One step of a product of small matrices, which the invocations of a
  // subgroup compute together, each holding some of the elements:
  //
  //   subgroup s < 4 {
  //     matrix m < 16 { matrix n < 16 { %acc[s, m, n] = 0.0 } }
  //     for k0 < 32 {
  //       matrix m < 16 { matrix n < 16 { matrix k < 16 {
  //         %acc[s, m, n] += f32(%a[s * 16 + m, k0 * 16 + k]) *
  //                          f32(%b[k0 * 16 + k, n])
  //       } } }
  //     }
  //     matrix m < 16 { matrix n < 16 { %y[s * 16 + m, n] = %acc[s, m, n] } }
  //   }
  //
  // Two or three loops of constant extents directly in each other, together a
  // fill, a product or a store: jit/loops/matrix_operation.h says which there
  // are. Only in a subgroup loop. Of integers it is what serial loops give,
  // with sums that wrap. Of floats, the order of the sum's terms is not
  // specified, nor are they rounded one by one: a product may be exact, and
  // what is added up on the way more exact than the accumulator; what is
  // subnormal may be taken for zero; where the target allows it, factors of f32
  // may be rounded to 10 bits of mantissa.
  kMatrix,
};

// One assignment: buffer[indices] = value, or += and so on.
struct Store {
  uint32_t buffer = 0;
  std::vector<NodeId> indices;
  NodeId value = 0;  // of the buffer's type
  tensor::Update update = tensor::Update::kAssign;
  // An asynchronous store: the element gets its value at any time between this
  // statement and the kAwait that covers it, and no other statement reads or
  // writes the element in between. `value` is a load or a pad of memory that
  // does not change in that time, `buffer` is of scope kTask, and an invocation
  // loop is around the store. GPUs that have asynchronous copies begin one;
  // every other executor stores at once.
  bool is_async = false;
};

struct Statement;
using Block = std::vector<Statement>;

// Statements are nested in each other at most this deep.
inline constexpr int kMaximumNesting = 200;

struct Statement {
  enum class Kind : uint8_t { kFor, kIf, kStore, kCheck, kPrefetch, kAwait };
  Kind kind = Kind::kStore;

  // kFor: body for each value of `variable`, an Axis node, from 0 up. The
  // extent may depend on variables of loops around it that are no vectors.
  LoopKind loop = LoopKind::kSerial;
  NodeId variable = 0;

  // kIf: body where the bool holds (in a vector loop: in the lanes where it
  // does).
  NodeId condition = 0;

  Block body;  // kFor, kIf

  // kStore: all values and indices are computed, in a vector loop of all lanes,
  // before the first is stored. An update of
  // f32 or f64 by + whose value is a product may be computed as one fused
  // multiply-add; everything else rounds as the dispatch IR says.
  std::vector<Store> stores;

  // kCheck: `index` must be in 0..extent-1, or the run fails with "buffer %x:
  // expected index `dim` in 0..extent-1, found index".
  //
  // kPrefetch: a hint that element number `index` of `buffer`, counted row by
  // row, will be read in a while. No effect; the element need not exist. Not in
  // a vector loop.
  uint32_t buffer = 0;
  uint32_t dim = 0;
  NodeId index = 0;
  NodeId extent = 0;

  // kAwait: puts the asynchronous stores since the last await (or since the
  // task began) into a group, and waits until all groups but the last `groups`
  // of them are stored. It does not stand in a loop over invocations or lanes.
  //
  //   invocation i < 64 { async %tile[0, i] = %x[i] }
  //   await 1
  //   invocation i < 64 { async %tile[1, i] = %x[64 + i] }
  //   await 1                                   // %tile[0, ...] is there
  int64_t groups = 0;
};

// An await may leave at most so many groups on their way.
inline constexpr int64_t kMostGroups = 15;

// A ring has at most so many slots: it is a kTask buffer whose first extent is
// their number and whose first index follows the turns of a loop.
inline constexpr int64_t kMostSlots = 8;

struct Phase {
  NodeId task = 0;  // an Axis node; its extent is the number of tasks
  Block body;
};

struct LoopNest {
  std::string name;                     // without '@'
  std::vector<std::string> parameters;  // i64 scalars, as in the dispatch
  std::vector<std::string> variables;   // by the immediate of an Axis node
  std::vector<Buffer> buffers;          // inputs, outputs, then the others
  std::vector<Phase> prologue;          // writes the packed buffers
  std::vector<Phase> phases;
  tensor::ExpressionPool pool;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_LOOP_NEST_H_
