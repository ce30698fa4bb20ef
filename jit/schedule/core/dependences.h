// What a schedule must not break: which stages read what others write, and
// which points of a stage store to one element.
#ifndef EMBER_JIT_SCHEDULE_CORE_DEPENDENCES_H_
#define EMBER_JIT_SCHEDULE_CORE_DEPENDENCES_H_

#include <vector>

#include "base/status.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// Every point of the stage stores to elements of its own, so that points may
// run in any order and at once: in each store, each axis is a digit of one
// dim's index (4 * i + j for j < 4).
bool StoresAreDistinct(const Computation& computation, int stage);

// Every element of the stage's buffers is stored, by assignment.
bool StoresCover(const Computation& computation, int stage);
// The same of a buffer, by all stages before the first that reads it: each of
// them may store a part along one dim, as those of a concatenation do.
bool IsStoredWhole(const Computation& computation, uint32_t buffer);
// As StoresCover, dim d by axis d.
bool StoresAreIdentity(const Computation& computation, int stage);

// Where in the order of `around`'s loops the stage is computed, directly or
// inside a stage that is; -1 if it is not.
int PositionInside(const Schedule& schedule, int stage, int around);

bool Reads(const Computation& computation, int stage, uint32_t buffer);
// Stages that read what this one stores, in order.
std::vector<int> ConsumersOf(const Computation& computation, int stage);

// Whether the stage stores to a result of the dispatch.
bool StoresResult(const Computation& computation, int stage);
// Whether it reads an input whose memory a result may be.
bool ReadsOverwritten(const Computation& computation, int stage);
// Whether computing an element of the stage a second time may give something
// else, or be seen by others: one of both holds.
bool MustRunOnce(const Computation& computation, int stage);

// Every index of every load and store is within its buffer wherever the axes
// are within their extents: no check is needed when the program runs.
bool AccessesAreSafe(const Computation& computation, int stage);
bool IsSafe(const Computation& computation, NodeId load);

// Where marked loops of the stage stand: a parallel loop is the outermost
// one of a stage that is computed by itself; inside a vector loop is no other
// one, no bound one, no reduction unless the vector is one or it is a dot loop,
// which is the innermost one, and no other stage; inside a bound loop is no
// other one, also not of stages computed there; not both lanes and invocations
// combine elements.
Status CheckMarkedLoops(const Schedule& schedule, int stage);
// A fold combines its points in the order of the axes.
Status CheckFolds(const Schedule& schedule, int stage);
// Whether the loop may have its mark.
Status CheckMark(const Schedule& schedule, int stage, int loop);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_DEPENDENCES_H_
