// Values that only parameters and constants enter, computed once per call:
// extents of buffers and numbers of tasks.
//
//   HeaderValues header(nest.pool, nodes);
//   std::vector<int64_t> values = header.Evaluate(parameters);  // one per node
//
// Thread-safe after construction.
#ifndef EMBER_JIT_KERNEL_HEADER_VALUES_H_
#define EMBER_JIT_KERNEL_HEADER_VALUES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/expression_pool.h"

namespace ember::jit {

class HeaderValues {
 public:
  // nodes: i64, without axes and loads (a check).
  HeaderValues(const tensor::ExpressionPool& pool,
               std::span<const tensor::NodeId> nodes);

  std::vector<int64_t> Evaluate(std::span<const int64_t> parameters) const;

 private:
  struct Step {
    tensor::Opcode opcode;
    DType operand_type, type;
    uint64_t immediate;
    uint32_t operands[3];  // numbers of earlier steps
  };
  std::vector<Step> steps_;
  std::vector<uint32_t> results_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_HEADER_VALUES_H_
