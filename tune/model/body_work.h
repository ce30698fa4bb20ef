// Counts the instructions that a nest executes in a call, for each loop of the
// code by itself: a loop's body are the statements whose innermost serial loop
// it is, with its unrolled loops and lanes.
//
//   for k < 512 {
//     unroll u < 6 { vector l < 16 { %r[u, l] += %a[k, u] * %b[k, l] } }
//   }
//   // With vectors of 8: fused = 512 * 12, scalar_loads = 512 * 6,
//   // vector_loads = 512 * 2, tile_registers = 12, chain_cycles = 512 * 4.
//
// A value is counted in the innermost loop that it depends on, because back
// ends hoist it out of the others, and once for unrolled loops that it does not
// depend on. Internal to NestFeatures.
#ifndef EMBER_TUNE_MODEL_BODY_WORK_H_
#define EMBER_TUNE_MODEL_BODY_WORK_H_

#include <vector>

#include "tune/model/loop_tree.h"
#include "tune/model/machine.h"

namespace ember::tune {

// All numbers are of a call, unless a comment says otherwise.
struct BodyWork {
  // Operations on elements; a multiply-add counts as 2. lane_operations: those
  // in lanes or invocations.
  double operations = 0, lane_operations = 0;
  // Elements that lanes of the arithmetic instructions could hold, and hold.
  double lane_places = 0, lanes_used = 0;

  // Instructions, by kind (operation_kinds.h), with their costs.
  double fused = 0, floats = 0, slow = 0, functions = 0, integers = 0,
         converts = 0, selects = 0, dots = 0, matrices = 0;
  double index_instructions = 0, index_divisions = 0;
  double vector_loads = 0, scalar_loads = 0;
  double strided_lanes = 0;   // elements loaded from a few elements apart
  double gathered_lanes = 0;  // elements loaded from anywhere
  double vector_stores = 0, scalar_stores = 0, scattered_lanes = 0;
  double masked = 0;  // loads and stores under conditions on lanes
  double pads = 0;    // loads that test if they are in the padding
  double guards = 0, checks = 0, prefetches = 0, barriers = 0;

  // Latency of the longest chain of dependent updates.
  double chain_cycles = 0;
  // Registers of the tiles that an iteration updates.
  double tile_registers = 0;
  // Instructions in the code of an iteration, after unrolling.
  double code_instructions = 0;

  double Instructions() const;
  // Estimates of the cycles that each resource of a core needs.
  double ArithmeticCycles() const;
  double LoadCycles() const;
  double StoreCycles() const;
  double IssueCycles() const;
  double SpillCycles(const Machine& machine, double iterations) const;

  void Add(const BodyWork& other);
};

// Returns the work of each loop of the tree. Loops that are not loops of the
// code have none.
std::vector<BodyWork> WorkOf(const LoopTree& tree, const Machine& machine);

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_BODY_WORK_H_
