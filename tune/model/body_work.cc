#include "tune/model/body_work.h"

#include <algorithm>

namespace ember::tune {

double BodyWork::Instructions() const {
  return fused + floats + slow + functions + integers + converts + selects +
         dots + matrices + index_instructions + index_divisions + vector_loads +
         scalar_loads + strided_lanes + 2 * gathered_lanes + vector_stores +
         scalar_stores + 2 * scattered_lanes + pads + guards + checks +
         prefetches + barriers;
}

double BodyWork::ArithmeticCycles() const {
  constexpr double kPorts = 2;
  return (fused + floats + slow + functions + integers + converts + selects +
          dots + matrices + index_divisions + pads) /
         kPorts;
}

double BodyWork::LoadCycles() const {
  constexpr double kPorts = 2;
  return (vector_loads + scalar_loads + strided_lanes + gathered_lanes +
          prefetches) /
         kPorts;
}

double BodyWork::StoreCycles() const {
  return vector_stores + scalar_stores + scattered_lanes;
}

double BodyWork::IssueCycles() const {
  constexpr double kWidth = 4;
  return Instructions() / kWidth;
}

double BodyWork::SpillCycles(const Machine& machine, double iterations) const {
  // Besides the tile's sums, a multiplication of a tile needs registers for one
  // vector of each factor.
  constexpr double kOperands = 2;
  const double missing = tile_registers + kOperands -
                         static_cast<double>(machine.vector_registers);
  return missing > 0 && tile_registers > 0 ? 2 * missing * iterations : 0;
}

void BodyWork::Add(const BodyWork& other) {
  operations += other.operations;
  lane_operations += other.lane_operations;
  lane_places += other.lane_places;
  lanes_used += other.lanes_used;
  fused += other.fused;
  floats += other.floats;
  slow += other.slow;
  functions += other.functions;
  integers += other.integers;
  converts += other.converts;
  selects += other.selects;
  dots += other.dots;
  matrices += other.matrices;
  index_instructions += other.index_instructions;
  index_divisions += other.index_divisions;
  vector_loads += other.vector_loads;
  scalar_loads += other.scalar_loads;
  strided_lanes += other.strided_lanes;
  gathered_lanes += other.gathered_lanes;
  vector_stores += other.vector_stores;
  scalar_stores += other.scalar_stores;
  scattered_lanes += other.scattered_lanes;
  masked += other.masked;
  pads += other.pads;
  guards += other.guards;
  checks += other.checks;
  prefetches += other.prefetches;
  barriers += other.barriers;
  chain_cycles += other.chain_cycles;
  tile_registers = std::max(tile_registers, other.tile_registers);
  code_instructions += other.code_instructions;
}

}  // namespace ember::tune
