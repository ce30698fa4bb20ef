// The dependences that a schedule must keep: which stages read what others
// write, and which points of a stage store to one element.
#ifndef EMBER_JIT_SCHEDULE_CORE_DEPENDENCES_H_
#define EMBER_JIT_SCHEDULE_CORE_DEPENDENCES_H_

#include <vector>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// True if every point of the stage stores to different elements, so that points
// may run in any order and in parallel. In each store, each axis of several
// points must be a term of the index of some dim, such that the terms of an
// index cannot overlap, as in 4 * i + j for j < 4.
bool StoresAreDistinct(const Computation& computation, int stage);

// True if the stage stores every element of its buffers, each by assignment.
bool StoresCover(const Computation& computation, int stage);
// True if every element of the buffer is stored before the first stage that
// reads it. Each store may cover a part along one dim, as in a concatenation.
bool IsStoredWhole(const Computation& computation, uint32_t buffer);
// True if the stage stores every element of its buffers, each by assignment,
// and the index of dim d is axis d alone.
bool StoresAreIdentity(const Computation& computation, int stage);

// Returns the position in `around`'s loops at which the stage is computed,
// directly or inside an attached stage; -1 if it is not inside.
int PositionInside(const Schedule& schedule, int stage, int around);

bool Reads(const Computation& computation, int stage, uint32_t buffer);
// Returns the stages that read the results of `stage`, in order.
std::vector<int> ConsumersOf(const Computation& computation, int stage);

// True if the stage stores to a result of the dispatch.
bool StoresResult(const Computation& computation, int stage);
// True if the stage reads an input that a result may overwrite, because the two
// may share memory.
bool ReadsOverwritten(const Computation& computation, int stage);
// True if computing an element of the stage a second time may give another
// value, or a caller may see it: the stage reads an input that may be
// overwritten, or stores a result.
bool MustRunOnce(const Computation& computation, int stage);

// AccessesAreSafe: true if no load of the stage needs a run-time check, because
// the indices of each load without padding are provably within its buffer.
// Stores are not examined. IsSafe: the same for one load.
bool AccessesAreSafe(const Computation& computation, int stage);
bool IsSafe(const Computation& computation, NodeId load);

// Checks the positions of marked (parallel, vector or bound) loops of the
// stage:
//   - A parallel loop is the outermost loop of a stage that is not computed
//     inside another one.
//   - A vector loop contains no other vector loop, no bound loop and no other
//     stage. It contains a reduction only if it is a reduction itself or if the
//     inner loop is a dot loop, which is the innermost one.
//   - A bound loop contains no other bound loop, also not of stages that are
//     computed in it.
//   - Lanes and invocations do not both combine elements.
Status CheckMarkedLoops(const Schedule& schedule, int stage);
// Checks that a stage whose combiner is a fold combines its elements in the
// order of the axes.
Status CheckFolds(const Schedule& schedule, int stage);
// Checks that the loop may have its mark (parallel, vector, bound, ...).
Status CheckMark(const Schedule& schedule, int stage, int loop);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_DEPENDENCES_H_
