// Counts the instructions that a nest executes in a call, separately for each
// loop that remains a loop in the code. A statement belongs to the body of its
// innermost such loop, together with the unrolled and vector loops in between.
//
//   for k < 512 {
//     unroll u < 6 { vector l < 16 { %r[u, l] += %a[k, u] * %b[k, l] } }
//   }
//   // With vectors of 8: fused = 512 * 12, scalar_loads = 512 * 6,
//   // vector_loads = 512 * 2, tile_registers = 12, chain_cycles = 512 * 4.
//
// A value is counted in the innermost loop on whose variable it depends,
// because back ends hoist it out of loops further inside. For an unrolled loop
// on which it does not depend it is counted once. Internal to NestFeatures.
#ifndef EMBER_TUNE_MODEL_BODY_WORK_H_
#define EMBER_TUNE_MODEL_BODY_WORK_H_

#include <vector>

#include "tune/model/loop_tree.h"
#include "tune/model/machine.h"

namespace ember::tune {

// Numbers count what happens in one call, unless a comment says otherwise.
struct BodyWork {
  // `operations` counts operations on elements; a multiply-add counts as 2.
  // `lane_operations` are those of them that vector lanes or a GPU's
  // invocations execute.
  double operations = 0, lane_operations = 0;
  // Sums over the vector instructions for arithmetic: the number of lanes that
  // they have, and the number of lanes that hold elements.
  double lane_places = 0, lanes_used = 0;

  // Numbers of instructions of each kind (operation_kinds.h). An instruction of
  // a costly type counts several times (CostOf).
  double fused = 0, floats = 0, slow = 0, functions = 0, integers = 0,
         converts = 0, selects = 0, dots = 0, matrices = 0;
  double index_instructions = 0, index_divisions = 0;
  double vector_loads = 0, scalar_loads = 0;
  // Number of elements that vector loads fetch from addresses a few elements
  // apart.
  double strided_lanes = 0;
  // Number of elements that vector loads fetch from addresses without a
  // pattern.
  double gathered_lanes = 0;
  double vector_stores = 0, scalar_stores = 0, scattered_lanes = 0;
  // Number of vector loads and stores of which only some lanes are active.
  double masked = 0;
  // Number of instructions that test if the index of a load is in the padding.
  double pads = 0;
  double guards = 0, checks = 0, prefetches = 0, barriers = 0;

  // Cycles of the longest chain of updates that wait for each other, such as
  // the additions to one sum.
  double chain_cycles = 0;
  // Number of vector registers that hold the sums which an iteration updates
  // (the register tile).
  double tile_registers = 0;
  // Number of instructions in the code of one iteration, after unrolling.
  double code_instructions = 0;

  double Instructions() const;
  // Each function returns the cycles that one resource of a core (arithmetic
  // units, load units, …) needs for the counted instructions.
  double ArithmeticCycles() const;
  double LoadCycles() const;
  double StoreCycles() const;
  double IssueCycles() const;
  double SpillCycles(const Machine& machine, double iterations) const;

  void Add(const BodyWork& other);
};

// Returns the work of the body of each loop of the tree. Unrolled and vector
// loops have no work of their own: it counts in the loop around them.
std::vector<BodyWork> WorkOf(const LoopTree& tree, const Machine& machine);

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_BODY_WORK_H_
