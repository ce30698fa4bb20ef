// The primitives of schedules: how each step changes a schedule. Their operands
// and their table are in jit/schedule/core/steps.h. Each primitive has a
// function in a file of its family (docs/adding/schedule-primitive.md).
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
//   skip_hidden %y              a softmax and its product without the keys that
//                               a mask hides from all rows inside
//
// All primitives but winograd and online_softmax keep results bit for bit,
// except for the order in which sums are added up (within tensor/sum_error.h).
// skip_hidden assumes that factors of weights that are 0 are finite: see
// skip_hidden.cc.
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

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/steps.h"

namespace ember::schedule {

// True if results under the schedule are those of the dispatch, except that
// sums may be added up in another order: no primitive rounds differently.
bool KeepsRounding(const Schedule& schedule);

// Changes the schedule by a step, and checks the rules that all stages must
// obey. After an error the schedule may have changed; Apply (replay.h) restores
// it. Returns the errors that Apply documents.
Status Run(const Step& step, Schedule& schedule);

// For each primitive, a function that changes the schedule by a step. Run calls
// it and then checks the rules.
#define EMBER_ROW(name, Primitive, ...) \
  Status Change(const Primitive& step, Schedule& schedule);
EMBER_FOR_EACH_PRIMITIVE(EMBER_ROW)
#undef EMBER_ROW

// The next three functions check rules that must hold after each primitive that
// may have changed a stage.
//
// CheckDots: a dot loop must be the innermost loop of a sum of products, with
// types and layouts for which processors have instructions.
Status CheckDots(const Schedule& schedule, int stage);
// CheckMatrixLoops: loops marked by multiply_matrices must be the innermost
// loops of a product whose types matrices have.
Status CheckMatrixLoops(const Schedule& schedule, int stage);
// CheckDoubleBuffers: a stage that is loaded ahead must be in a serial loop,
// must be computed by all invocations together, and must read nothing that the
// loop stores.
Status CheckDoubleBuffers(const Schedule& schedule);

// The functions below are helpers for the implementations of primitives.
//
// Returns the number of the stage.
StatusOr<int> Find(const Schedule& schedule, const StageRef& stage);
// Returns the number of the buffer.
StatusOr<uint32_t> Find(const Schedule& schedule, const BufferRef& buffer);
// Returns the number of the loop, which must be a loop of stage number `stage`.
StatusOr<int> Find(const Schedule& schedule, int stage, const LoopRef& loop);
// Checks that a factor or size is from 1 to tensor::kMaxExtent.
Status CheckFactor(int64_t number);
// Returns an error if the stage's loops are no longer its axes, if one has a
// mark, if the stage is attached to a loop, or if other stages are attached to
// its loops. The order of the loops is not examined. `primitive`: name of the
// primitive that is to rewrite the stage, for the message.
Status CheckUnchanged(const Schedule& schedule, int stage,
                      std::string_view primitive);
// Returns an error if the stage's elements may not be combined in parts, or if
// its loops were changed. `primitive`: name of the primitive that is to divide
// the elements, for the message.
Status CheckCombinesParts(const Schedule& schedule, int stage,
                          std::string_view primitive);
// Checks that names for new loops are valid, differ from each other, and are
// not in use in the stage.
Status CheckNewLoopNames(const StagePlan& plan,
                         std::initializer_list<std::string> names);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_PRIMITIVES_PRIMITIVES_H_
