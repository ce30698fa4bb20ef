#include "tensor/analysis/canonical_names.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ember::tensor {
namespace {

std::string Numbered(std::string_view prefix, size_t number) {
  return std::string(prefix) + std::to_string(number);
}

void NameAxes(std::string_view prefix, std::vector<Axis>& axes) {
  for (size_t i = 0; i < axes.size(); ++i) axes[i].name = Numbered(prefix, i);
}

}  // namespace

Dispatch WithCanonicalNames(Dispatch dispatch) {
  dispatch.name = "dispatch";
  for (size_t i = 0; i < dispatch.parameters.size(); ++i)
    dispatch.parameters[i] = Numbered("p", i);
  size_t inputs = 0, outputs = 0, temporaries = 0;
  for (Buffer& buffer : dispatch.buffers) {
    switch (buffer.kind) {
      case BufferKind::kInput:
        buffer.name = Numbered("x", inputs++);
        break;
      case BufferKind::kOutput:
        buffer.name = Numbered("y", outputs++);
        break;
      case BufferKind::kTemporary:
        buffer.name = Numbered("t", temporaries++);
        break;
    }
  }
  for (Stage& stage : dispatch.stages) {
    NameAxes("i", stage.spatial);
    NameAxes("k", stage.reduction);
  }
  return dispatch;
}

}  // namespace ember::tensor
