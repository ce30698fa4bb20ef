// The loop nest: a dispatch under a schedule, as imperative code. Every back
// end of the JIT compiles it; it is the last form that all of them share.
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
// number. Expressions are nodes of one pool (tensor/builder/expression_pool.h):
// loop variables are its Axis nodes, whose operand is the extent; loads read
// the nest's buffers. The same Load node at two places may read different
// values: only a node without loads has the same value everywhere.
//
// A nest with a barrier anywhere, or with a workgroup (jit/loops/workgroup.h)
// in its phases, is a *device nest*: it is what a GPU executes. It says where
// each buffer is, and where the invocations of a task synchronise. In every
// other nest they synchronise after each loop over invocations. See
// Statement::Kind::kBarrier.
//
// Nothing here depends on how many registers or lanes a device has. That a loop
// is a vector or unrolled is part of the program: the schedule decided it.
//
// Ownership: a plain value, movable. Thread-safety: immutable after lowering;
// share freely. Invariants: those that jit/loops/verifier/verifier.h checks.
#ifndef EMBER_JIT_LOOPS_LOOP_NEST_H_
#define EMBER_JIT_LOOPS_LOOP_NEST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "jit/loops/copied_box.h"
#include "jit/loops/workgroup.h"
#include "tensor/builder/expression_pool.h"
#include "tensor/dispatch.h"

namespace ember::loops {

using tensor::NodeId;

// The lifetime and the visibility of a buffer.
enum class MemoryScope : uint8_t {
  // An input of the dispatch, read only; inputs come in the dispatch's order.
  kInput,
  kOutput,  // an output of the dispatch; outputs come in the dispatch's order
  // A buffer that the prologue writes once for many calls, such as packed
  // weights; all other phases only read it.
  kPacked,
  // A buffer that lives from the first phase of a call to the last; all tasks
  // see it.
  kCall,
  // A buffer of one task; its contents at the task's start are unspecified.
  kTask,
  // A buffer of one task that is small and has constant extents, meant for
  // registers; see LoopKind::kInvocation.
  kRegister
};

// Largest number of elements of a register buffer. If each invocation has its
// own registers, only those of one invocation count.
inline constexpr int64_t kMaxRegisterElements = 4096;

struct Buffer {
  std::string name;  // name without '%'; unique in the nest
  DType type = DType::kF32;
  MemoryScope scope = MemoryScope::kInput;
  // Number of elements per dim, row-major and contiguous. An expression of
  // constants and parameters. kRegister: a constant, large enough for all lanes
  // of a vector access, even masked ones.
  std::vector<NodeId> extents;
  // kOutput: numbers of the inputs that may have the same memory as the output,
  // sorted. The pass mark-shared-memory sets them; code may not assume that a
  // store to the output leaves these inputs as they were.
  std::vector<uint32_t> shares;
  // kTask, in device nests: true if the buffer must be in the workgroup's
  // memory. Passes of jit/gpu create buffers with this mark.
  bool is_shared = false;
};

enum class LoopKind : uint8_t {
  kSerial,
  // The extent is constant, and the body is written out once for each value.
  kUnrolled,
  // Constant extent. All values run at once, in lanes. A vector loop contains
  // no other vector loop. When several lanes store to one element, an update
  // counts all of them in an unspecified order, and a plain store keeps one of
  // them.
  kVector,
  // Constant extent. The values may run in any order and at once, as tasks may.
  // All their stores are visible to the statement after the loop; in a device
  // nest, behind the next barrier. Devices that run a task on many processors
  // run each value on one of them; others run a serial loop. It is never within
  // another invocation loop or a vector loop, so the code around it is the same
  // for all values.
  //
  // A register buffer that is accessed in such loops is of one of two kinds:
  //   - every access of the nest has the variable of the invocation loop around as
  //     its first index, and the first extent is that loop's: element [i, ...] is
  //     a register of invocation i and lives as long as the task;
  //   - no access has that variable in an index: each value of the loop has its
  //     own registers, which hold nothing before it and after it.
  //
  // Several values of the loop may update one element only if the loop does
  // nothing else. An update then counts all of them, in an unspecified order
  // (jit/loops/analysis/combining.h).
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
  // A short sum of products, for which machines have one instruction per lane:
  //
  //   vector l < 8 {
  //     dot q < 4 { %sum[l] += i32(%a[i, k * 4 + q]) * i32(%b[k, l, q]) }
  //   }
  //
  // The body is one such update; jit/loops/analysis/dot_product.h defines its
  // form and the types. May be inside a vector loop. On integers it gives the
  // result of a serial loop, with sums that wrap. On bf16, in f32: the order of
  // the products is not specified, each may be added as a fused multiply-add,
  // and subnormal factors and sums may be taken for zero.
  kDot,
  // Like kInvocation, but a device with subgroups (a warp, a wave: invocations
  // that advance together) runs each value on a whole subgroup: value s on
  // invocations s * N to s * N + N - 1 for subgroups of N. Other devices run a
  // subgroup loop as a serial loop. A subgroup loop contains only matrix loops,
  // and serial loops, unrolled loops and branches around those, so that all
  // invocations of a subgroup take the same path.
  kSubgroup,
  // One step of a product of small matrices. The invocations of a subgroup
  // compute it together, and each holds some of the elements:
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
  // Two or three matrix loops of constant extents, each directly in the one
  // before, are together a fill, a product or a store
  // (jit/loops/analysis/matrix_operation.h). Only in a subgroup loop. On
  // integers it gives the result of serial loops, with sums that wrap. On
  // floats, the order of the sum's terms is not specified, and terms need not
  // be rounded one by one: a product may be exact, and a partial sum more exact
  // than the accumulator. Subnormal values may be taken for zero. Where the
  // target allows it, factors of f32 may be rounded to 10 bits of mantissa.
  kMatrix,
};

// Says how invocations of a subgroup combine their values before one of them
// stores the result, in device nests. All invocations of the subgroup for which
// the surrounding loop has a value take part, in an unspecified order:
//
//   invocation i < 256 subgroup s < 8 of 32 { subgroup_sum %parts[s] = %x[i] }
//
// The element is the same for the whole subgroup, and no other subgroup stores
// to it. An update such as += adds the combined value once.
enum class Combining : uint8_t { kNone, kSum, kProduct, kMinimum, kMaximum };

// The comparisons by which code tests if an index is in bounds. A pad has one
// test for each dim, a check has one (jit/legalise/mark_integers.h). The
// immediate of a Pad node holds two bits for each dim, above its vector width.
enum class BoundsTest : uint8_t {
  // Two comparisons: the index is not negative, and it is below the extent.
  kBoth,
  // One unsigned comparison with the extent, which a negative index fails
  // because it is a large unsigned number. The extent must not be negative.
  kUnsigned,
  // One comparison: the index is below the extent; it is known not to be
  // negative.
  kUpper,
  kNone  // no comparison: the index is always in bounds
};

// True if `width` is a width that a load or store of a device nest may be
// marked with (jit/gpu/mark_vectors.h). The mark says that the accessed element
// belongs to a vector of so many elements. The immediate of a Load or Pad node
// holds its width; 0: the node has no mark. A vector begins at an element whose
// number in the buffer is a multiple of the width, and all its elements exist.
//
//   vector l < 4 { vec4 %y[i, l] = vec4(%x[i * 4 + l]) }
//
// A marked load reads one element, as any load does. Other values of a
// surrounding unrolled, vector or dot loop read the other elements of the same
// vector, so that one vector load of the machine serves all of them. A marked
// store is an assignment in a vector loop whose lanes fill whole vectors. If
// some lanes are masked off, each element is stored by itself.
constexpr bool IsVectorWidth(uint64_t width) {
  return width == 2 || width == 4 || width == 8 || width == 16;
}

// One assignment or update of an element: buffer[indices] = value, or += and so
// on.
struct Store {
  uint32_t buffer = 0;
  std::vector<NodeId> indices;
  NodeId value = 0;  // the value to store, of the type of the buffer's elements
  tensor::Update update = tensor::Update::kAssign;
  // An asynchronous store: the element gets its value at any time between this
  // statement and the kAwait that covers it, and no other statement reads or
  // writes the element in between. `value` is a load or a pad of memory that
  // does not change in that time, `buffer` is of scope kTask, and an invocation
  // loop is around the store. GPUs with asynchronous copies start one; every
  // other executor stores at once.
  bool is_async = false;
  Combining combining = Combining::kNone;
  // In device nests, the number of elements of the vectors that lanes store
  // together; 0: each lane stores alone. See IsVectorWidth.
  uint32_t vector = 0;
  // True for an update of f32 that adds a product to a short sum and must round
  // once, as a fused multiply-add does (jit/gpu/mark_short_sums.h). Only set if
  // the device would round product and sum separately.
  bool rounds_once = false;
};

// A step in the life of a ring's slot (Workgroup::rings): the producer fills
// the slot, subgroups await and read it, and then release it.
enum class SlotStep : uint8_t {
  // The producer waits until the slot is empty and begins to fill it. The
  // copies of boxes up to the ring's next fill go to this slot.
  kFill,
  kAwait,  // a subgroup waits until the slot is full, and may then read it
  // A subgroup has finished reading the slot. The slot is empty when all
  // subgroups have released it.
  kRelease
};

struct Statement;
using Block = std::vector<Statement>;

// Largest depth to which statements may be nested. It bounds the recursion of
// functions that walk statements.
inline constexpr int kMaxNesting = 200;

struct Statement {
  enum class Kind : uint8_t {
    kFor,
    kIf,
    kStore,
    kCheck,
    kPrefetch,
    kAwait,
    kBarrier,
    kSlot,
    kFirst,
  };
  Kind kind = Kind::kStore;

  // kFor: runs the body for each value of `variable`. The kind of the loop says
  // how the values run.
  LoopKind loop = LoopKind::kSerial;

  // kBarrier: every invocation of the task waits until all have reached the
  // barrier. In a device nest nothing else synchronises invocations: no
  // implicit synchronisation follows a loop over invocations, and what an
  // invocation stores is seen by the others only behind a barrier. Statements
  // outside loops over invocations are executed by every invocation, but only
  // the first one stores to memory. So two accesses of one element by different
  // invocations, one of them a store, need a barrier between them:
  //
  //   invocation i < 64 { %tile[i] = %x[i] }
  //   barrier
  //   invocation i < 64 { %y[i] = %tile[63 - i] }
  //   barrier orders stores
  //
  // The barrier is in no loop over invocations, lanes or matrices, and every
  // condition around it is the same for all invocations. jit/gpu inserts
  // barriers. Back ends that run invocations one after another do nothing.
  //
  // orders_stores: products of warpgroups that follow the barrier also see
  // earlier stores (jit/gpu/ordering_barriers.h).
  bool orders_stores = false;

  // kFor: the loop's variable, an Axis node, whose values begin at 0. Its
  // extent may depend on variables of surrounding loops, except vector loops.
  NodeId variable = 0;

  // kFor of kSubgroup, in device nests: the loop multiplies matrices, and its
  // products may read their factors until the end of the next iteration of the
  // serial loop that it is directly in, or until that loop ends
  // (jit/gpu/products_in_flight.h).
  //
  //   for k < 8 {
  //     barrier
  //     in_flight subgroup s < 4 { matrix … += f32(%a[mod(k, 4), …]) * … }
  //     invocation i < 128 { async %a[mod(k + 2, 4), …] = … }
  //   }
  bool stays_in_flight = false;

  // Warp specialisation, in phases of device nests with rings
  // (Workgroup::rings; jit/gpu/warp_roles.h). `of_producer`: only the producer
  // (a warp that copies) executes the statement. The other warps execute all
  // other statements, and both execute the loops around statements of the
  // producer. The order of the nest is one of the orders that the slots' steps
  // allow, so the evaluator runs the statements in that order.
  //
  //   producer fill ring 0 slot 0
  //   producer box 0 … invocation i < 256 { … async %a[0, …] = … }
  //   for k < 8 {
  //     subgroup s < 8 {
  //       await ring 0 slot mod(k, 4)
  //       …
  //       release ring 0 slot mod(k, 4)
  //     }
  //     producer if k + 2 < 8 { … }
  //   }
  //
  // `box`: if not null, the producer copies this box by the copy engine instead
  // of executing the invocation loop. The copy is complete when an await of the
  // slot returns.
  bool of_producer = false;
  std::shared_ptr<const CopiedBox> box;

  // kSlot: a step of a ring's slot, for example that a subgroup releases it.
  // Subgroup loops contain the steps kAwait and kRelease; a kFill is
  // `of_producer`.
  SlotStep step = SlotStep::kFill;
  SlotUse slot;

  // kFor of kInvocation, in device nests: if subgroup_size is not 0, the loop
  // also binds the variable `subgroup`, the number of the invocation's
  // subgroup. The invocations of a subgroup combine values (Combining). The
  // extent of `subgroup` is the number of subgroups of this size that the
  // loop's values fill.
  NodeId subgroup = 0;
  int64_t subgroup_size = 0;

  // kIf: runs the body if `condition`, a bool, holds; in a vector loop, in the
  // lanes where it holds.
  //
  // kFirst: only the first invocation of the task runs the body. The statement
  // is outside of loops over invocations, and its body contains no such loop,
  // barrier, await or check. Registers to which the body stores have no
  // contents after it.
  //
  //   first { %y[t] = %sum[] }
  NodeId condition = 0;

  // The statements inside a kFor, kIf or kFirst; empty for other kinds.
  Block body;

  // kStore: all values and indices, in a vector loop those of all lanes, are
  // computed before the first store. An update of f32 or f64 by + whose value
  // is a product may be computed as one fused multiply-add; everything else
  // rounds as the dispatch IR defines, except in matrix loops
  // (matrix_operation.h).
  std::vector<Store> stores;

  // kCheck: `index` must be in 0..extent-1, or the run fails with "buffer %x:
  // expected index `dim` in 0..extent-1, found index".
  //
  // kPrefetch: a hint that element number `index` of `buffer`, counted row by
  // row, will be read soon. A prefetch has no effect on results, and the
  // element need not exist. Neither statement is in a vector loop.
  uint32_t buffer = 0;
  uint32_t dim = 0;
  NodeId index = 0;
  NodeId extent = 0;
  BoundsTest test = BoundsTest::kBoth;  // kCheck

  // kAwait: puts the asynchronous stores since the last await (or since the
  // task began) into a group, and waits until at most the last `groups` groups
  // are not yet stored. An await is never in a loop over invocations or lanes.
  //
  //   invocation i < 64 { async %tile[0, i] = %x[i] }
  //   await 1
  //   invocation i < 64 { async %tile[1, i] = %x[64 + i] }
  //   await 1                                   // %tile[0, ...] is stored
  int64_t groups = 0;
};

// Largest number of groups that an await may leave in flight.
inline constexpr int64_t kMaxGroups = 15;

// Largest number of slots of a ring: a kTask buffer for multi-buffering. Its
// first extent is the number of slots, and its first index is a loop's
// iteration modulo that number.
inline constexpr int64_t kMaxRingSlots = 8;

struct Phase {
  // the number of the running task, an Axis node; its extent is the number of
  // tasks
  NodeId task = 0;
  Block body;
  // Says which invocations run the phase and where each buffer is. Only set in
  // device nests for which a pass has decided that.
  Workgroup workgroup;
};

struct LoopNest {
  std::string name;  // name without '@'
  // names of the nest's i64 parameters; they are those of the dispatch
  std::vector<std::string> parameters;
  // Names of loop variables. The immediate of an Axis node is the position of
  // its name.
  std::vector<std::string> variables;
  // the buffers of the nest: the inputs, then the outputs, then all others
  std::vector<Buffer> buffers;
  // Further extents that the caller checks like those of inputs and outputs:
  // expressions of constants and parameters that do not overflow and are in
  // 0..2^40. A dispatch's header has such extents of temporaries and axes, even
  // if the nest has no buffer of this size:
  //
  //   loops @scores<past>(%q: input f32[64], %y: output f32[1]) {
  //     extents [past + 1]
  std::vector<NodeId> extents;
  // Phases of the prologue, which write the packed buffers once for many calls.
  std::vector<Phase> prologue;
  std::vector<Phase> phases;
  tensor::ExpressionPool pool;
  // The i64 nodes whose values may not fit i32, sorted
  // (jit/legalise/mark_integers.h). A back end that computes indices in 32 bits
  // may compute all other i64 nodes in i32. The extent of a loop whose variable
  // is not listed fits i32, too.
  std::vector<NodeId> wide;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_LOOP_NEST_H_
