#include "vm/interpreter/kernel_selection.h"
#include "vm/interpreter/stage_analysis.h"

namespace ember::vm {

PlanHeader::PlanHeader(const tensor::Dispatch& dispatch,
                       const tensor::ConcreteHeader& header) {
  values.reserve(dispatch.header_end);
  for (tensor::Register i = 0; i < dispatch.header_end; ++i) {
    values.push_back(
        ConstantTile(header.bits(i), dispatch.instructions[i].type));
  }
  extents.reserve(dispatch.buffers.size());
  elements.reserve(dispatch.buffers.size());
  for (const tensor::Buffer& buffer : dispatch.buffers) {
    extents.push_back(header.Extents(buffer));
    elements.push_back(header.ElementCount(buffer));
  }
}

}  // namespace ember::vm
