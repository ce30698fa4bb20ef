// An analytic model of the time of a nest: it needs no training, and ranks
// candidates well enough to leave out the slow ones.
//
//   const double cycles = DraftCycles(nest, target);
//
// It counts, per store of the nest:
//   arithmetic  instructions on whole vectors
//   loads       of vectors, of one element, or lane by lane; unrolled loops
//               share what does not move with them
//   chains      sums that wait for their last addition, because too few
//               accumulators are independent
//   registers   accumulators that do not fit, which are loaded and stored
//   memory      bytes that each level of caches lacks: the outermost loop whose
//               data fits a cache loads it once
//   loops       instructions of the loops themselves
//
// Tasks and invocations run one after another in the model, so it ranks
// schedules for one thread. Thread-safe.
#ifndef EMBER_TUNE_SEARCH_DRAFT_H_
#define EMBER_TUNE_SEARCH_DRAFT_H_

#include <string_view>

#include "jit/loops/loop_nest.h"

namespace ember::tune {

// Returns an estimate of the cycles of the nest's phases, above 0.
double DraftCycles(const loops::LoopNest& nest, std::string_view target);

}  // namespace ember::tune

#endif  // EMBER_TUNE_SEARCH_DRAFT_H_
