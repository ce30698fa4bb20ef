// The primitives of schedules, in one table: name, usage, meaning, function. A
// primitive is a row here, a function in a file of its family, and a text test
// (docs/adding/schedule-primitive.md).
//
//   split %y j 16 -> j0 j1      j becomes j0 * 16 + j1
//   tile %y i j 4 32 -> i0 j0 i1 j1
//   fuse %y n h -> nh
//   reorder %y j0 k j1          puts these three in this order, in the places
//                               that they have
//   unroll %y i1
//   vectorize %y j1
//   parallel %y nh
//   bind %y j1                  j1's values run at once, within a task; in a
//                               reduction each combines a part, then all
//   peel %y i0                  no guards where the split is exact
//   compute_at %acc %y j0       computes %acc inside loop j0 of %y
//   cache_read %acc %x -> xp    %acc reads a copy of the part of %x that it needs
//   cache_read %acc %x 1 0 2 -> xp
//                               with dims in this order
//   double_buffer %xp           %xp has two halves: one is read while the
//                               next iteration's part is loaded into the other
//   double_buffer %xp async 4   four slots: three iterations ahead, by
//                               asynchronous copies, which are awaited when they
//                               are read; with `late`, at the iteration's end;
//                               with `spare`, two ahead, as products of matrices
//                               may still read the previous slot
//   pad_rows %xp 8              rows of %xp are 8 elements further apart
//   pack %acc %w 1/32 0 1%32 -> wp
//   cache_write %y -> acc       %acc computes, %y copies its results to %y
//   inline %bias                stages that read %bias compute it themselves
//   rfactor %acc k%8 -> parts   %acc combines 8 results, of every 8th k each
//   rfactor %acc k/4%8 -> parts
//                               of every 8th group of 4 neighbours each
//   stream %acc k/8 4 i/16 j/16 -> parts
//                               stream-K: steps of 8 k of all tiles of 16 x 16
//                               results, one after the other, in 4 ranges of
//                               equal length; %parts has the sum of each piece
//                               of a range that is in one tile
//   cut %y i 64 -> rest         %y has rows below 64, stage `rest` the others;
//                               %rest.acc replaces %acc for them
//   pad %acc k 4                extends k to a multiple of 4, adding zeros
//   tensorize %acc k1           sums of k1 products become instructions
//   multiply_matrices %acc s m n k
//                               subgroups s multiply matrices of m by n by k
//   winograd %conv 4 -> u v p   convolution with fewer multiplications
//   online_softmax %y 256 -> sum total
//                               softmax and its product, in blocks of rows;
//                               with `skip` after the block's size, without
//                               blocks that a causal mask hides
//
// All primitives but winograd and online_softmax keep results bit for bit,
// except for the order in which sums are added up (within tensor/sum_error.h).
// Where bf16 is tensorized or matrices of f16 are multiplied, subnormal values
// may become zero, and partial sums may be rounded differently
// (loops::LoopKind::kMatrix). The same is true of matrices of f32. On devices
// of CUDA whose target has the feature tf32, which the user allows, their
// factors are also rounded to 10 bits of mantissa, toward zero
// (jit/loops/analysis/matrix_operation.h); this depends on the target, not on
// the schedule. winograd and online_softmax have errors of their own: see
// jit/schedule/primitives/winograd_matrices.h and online_softmax.h, and
// KeepsRounding below.
#ifndef EMBER_JIT_SCHEDULE_PRIMITIVES_PRIMITIVES_H_
#define EMBER_JIT_SCHEDULE_PRIMITIVES_PRIMITIVES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// A parsed line: its words, without the '%' of names of stages and buffers.
struct PrimitiveCall {
  int primitive = 0;  // number of the primitive's row in the table
  std::vector<std::string> operands;
  std::vector<std::string> results;  // the words after "->" in the line
};

// clang-format off
// Rows: (name, function, operands at least, at most (-1: any), results, keeps rounding, changes loops only, usage, doc).
#define EMBER_FOR_EACH_PRIMITIVE(row) \
  row("split", Split, 3, 3, 2, true, true, "%stage loop factor -> outer inner", \
      "replaces the loop by outer * factor + inner; guarded where factor does not divide its extent") \
  row("tile", Tile, 5, 5, 4, true, true, "%stage i j fi fj -> io jo ii ji", \
      "splits two loops and orders them io jo ii ji, beginning at the place of i") \
  row("fuse", Fuse, 3, 3, 1, true, true, "%stage outer inner -> loop", \
      "joins two neighbouring loops into one") \
  row("reorder", Reorder, 3, -1, 0, true, true, "%stage loop...", \
      "puts the loops into this order, in the places that they had") \
  row("unroll", Unroll, 2, 2, 0, true, true, "%stage loop", \
      "writes the body once for each value; the extent must be constant") \
  row("vectorize", Vectorize, 2, 2, 0, true, true, "%stage loop", \
      "runs all values at once in vector lanes; the extent must be constant, and the loop must contain no reduction, " \
      "stage or other vector loop") \
  row("parallel", Parallel, 2, 2, 0, true, true, "%stage loop", \
      "makes the outermost loop's values tasks, which any worker may run") \
  row("bind", Bind, 2, 2, 0, true, false, "%stage loop", \
      "runs the loop's values at once, as invocations of a task; the extent must be constant, and the loop must contain " \
      "no other bound loop; in a reduction each invocation combines a part, and then the parts are combined") \
  row("peel", Peel, 2, 2, 0, true, true, "%stage outer", \
      "adds code without guards for the iterations in which the split that made `outer` is exact") \
  row("compute_at", ComputeAt, 3, 3, 0, true, false, "%producer %stage loop", \
      "computes the producer inside the loop, each time the part that the iteration needs") \
  row("cache_read", CacheRead, 2, -1, 1, true, false, "%stage %buffer [type] [dim...] -> copy", \
      "a new stage copies the part of the buffer that the stage reads, padding included; the copy has a type that holds " \
      "all values of the buffer, and its dims in the order given") \
  row("double_buffer", DoubleBuffer, 1, 5, 0, true, false, "%stage [registers | async slots [late [spare]]]", \
      "computes a stage in a serial loop one iteration ahead, at the end of an iteration, into the other half of its " \
      "buffer; registers: loads at the beginning of an iteration into registers of the invocations; async: copies slots " \
      "- 1 iterations ahead, or one less with spare, while arithmetic runs, if the device can; the stage's loops must " \
      "be marked before") \
  row("pad_rows", PadRows, 2, 2, 0, true, false, "%stage elements", \
      "moves the rows of a stage that is computed in a loop so many elements further apart, into other banks of the " \
      "memory that invocations share") \
  row("pack", Pack, 3, -1, 1, true, false, "%stage %buffer [type] [low..high] layout... -> copy", \
      "like cache_read, in another layout: d (a dim), d/n and d%n; constants with constant extents are packed once; " \
      "low..high is a range that is known to contain all elements, and is written so that code relies on it") \
  row("cache_write", CacheWrite, 1, 1, 1, true, false, "%stage -> computing", \
      "a new stage computes into a buffer of its own, and the stage copies the results to where it stored before") \
  row("inline", Inline, 1, 1, 0, true, false, "%stage", \
      "replaces each load of the stage's result by the stage's expression, of at most 16 elements each, and removes the " \
      "stage") \
  row("rfactor", Rfactor, 2, 2, 1, true, false, "%stage part -> parts", \
      "splits a reduction: a new stage combines the elements of each value of a part (k, k/n, k%n or k/n%m), and the " \
      "stage combines its results; also applies to an online softmax") \
  row("stream", Stream, 3, -1, 1, true, false, "%stage reduction/steps ranges axis/size... -> parts", \
      "stream-K: puts the reduction steps of all tiles of the results one after another, in ranges of one length; a new " \
      "stage combines each piece of a range that belongs to one tile, and the stage combines the pieces of its tile") \
  row("cut", Cut, 3, 3, 1, true, false, "%stage axis number -> rest", \
      "the stage keeps the points below the number, and a new stage computes the others, with its own copies of the " \
      "stages that only they need; the two may have different schedules, and run side by side") \
  row("pad", PadReduction, 3, 3, 0, true, false, "%stage reduction factor", \
      "extends the reduction of a sum of products to a multiple of the factor; the added elements are zeros") \
  row("tensorize", Tensorize, 2, 2, 0, true, false, "%stage loop", \
      "turns the innermost loop, over 2 or 4 neighbours along which both factors of a sum of products are packed, into " \
      "one instruction per lane if there is one: 4 of i8 or u8, 2 of i8, u8 or i16, 2 of bf16") \
  row("multiply_matrices", MultiplyMatrices, 5, 5, 0, true, false, "%stage subgroups rows columns steps", \
      "turns the three innermost loops of a sum of products of f16, bf16, f32, i8 or u8, which must be inner loops of " \
      "splits, into products of matrices; each value of the loop `subgroups` has its own; loops between them must be " \
      "unrolled, or serial loops of the sum") \
  row("winograd", Winograd, 2, 2, 3, false, false, "%convolution outputs -> filter input products", \
      "computes tiles of outputs * outputs results from transformed filters and tiles of the input; rounds differently") \
  row("online_softmax", OnlineSoftmax, 2, 3, 2, false, false, "%product block [skip] -> sum total", \
      "computes a softmax inside the product that combines it, in blocks of its rows, whose sums are scaled as the " \
      "maximum grows; skip: leaves out blocks that a causal mask hides; rounds differently")
// clang-format on

struct PrimitiveInfo {
  std::string_view name;
  std::string_view usage;
  std::string_view doc;
  // True if results are those of the dispatch, except for the order in which
  // sums are added up.
  bool keeps_rounding = true;
  // True if the primitive changes only the loops of the stage that its first
  // operand names.
  bool changes_loops_only = false;
};
std::vector<PrimitiveInfo> Primitives();
const PrimitiveInfo& InfoOf(const PrimitiveCall& call);
// True if results under the schedule are those of the dispatch except for the
// order of sums: no primitive in it rounds differently.
bool KeepsRounding(const Schedule& schedule);

StatusOr<PrimitiveCall> ParsePrimitive(std::string_view line);
std::string ToText(const PrimitiveCall& call);
Status Run(const PrimitiveCall& call, Schedule& schedule);

#define EMBER_ROW(name, function, ...) \
  Status function(Schedule& schedule, const PrimitiveCall& call);
EMBER_FOR_EACH_PRIMITIVE(EMBER_ROW)
#undef EMBER_ROW

// The next functions check rules that a stage must keep after each primitive
// that may have changed it.
//
// Checks that dot loops are the innermost loops of sums of products, with types
// and layouts for which machines have instructions.
Status CheckDots(const Schedule& schedule, int stage);
// Checks these rules for loops that are products of matrices
// (multiply_matrices).
Status CheckMatrixLoops(const Schedule& schedule, int stage);
// Checks that double-buffered stages are in serial loops, are computed by all
// invocations together, and read nothing that these loops change.
Status CheckDoubleBuffers(const Schedule& schedule);

// The functions below are helpers for the functions of primitives.
//
// Returns the stage that operand `index` names.
StatusOr<int> StageOperand(const Schedule& schedule, const PrimitiveCall& call,
                           size_t index);
StatusOr<int> BufferOperand(const Schedule& schedule, const PrimitiveCall& call,
                            size_t index);
// Returns the stage's loop that operand `index` names.
StatusOr<int> LoopOperand(const Schedule& schedule, int stage,
                          const PrimitiveCall& call, size_t index);
StatusOr<int64_t> NumberOperand(const PrimitiveCall& call, size_t index);
// Refuses if the stage's loops are no longer its axes in order, or if other
// stages are attached to them. `primitive`: name of the primitive that is to
// replace the stage, for the message.
Status CheckUnchanged(const Schedule& schedule, int stage,
                      std::string_view primitive);
// Refuses if parts of the stage's elements may not be combined separately, or
// if the stage has changed. `primitive`: name of the primitive that is to
// divide the elements into parts, for the message.
Status CheckCombinesParts(const Schedule& schedule, int stage,
                          std::string_view primitive);
// Checks that the names of new loops or buffers are not taken.
Status CheckNewLoopNames(const StagePlan& plan, const PrimitiveCall& call);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_PRIMITIVES_PRIMITIVES_H_
