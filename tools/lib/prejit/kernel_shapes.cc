#include "tools/lib/prejit/kernel_shapes.h"

#include <algorithm>
#include <utility>

#include "tensor/open_parameter.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/dispatch/tiering.h"

namespace ember::tools {
namespace {

// If at least three recorded shapes, with this one, differ in one parameter
// only, returns the shape with that parameter open. Otherwise, or if there is
// only one parameter, returns the shape itself.
std::vector<int64_t> SharedShape(const vm::DispatchProfile& profile,
                                 const std::vector<int64_t>& shape) {
  if (shape.size() < 2) return shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    std::vector<int64_t> shared = shape;
    shared[i] = tensor::kOpenParameter;
    const int64_t count = std::ranges::count_if(
        profile.shapes, [&](const vm::DispatchProfile::Shape& other) {
          return vm::ShapeAccepts(shared, other.parameters);
        });
    if (count >= vm::Tiering::kClassesOfSharedShape) return shared;
  }
  return shape;
}

}  // namespace

std::vector<std::vector<int64_t>> ShapesOfKernels(
    const vm::DispatchProfile& profile) {
  std::vector<std::vector<int64_t>> shapes;
  for (const vm::DispatchProfile::Shape& recorded : profile.shapes) {
    if (recorded.parameters.empty()) continue;
    std::vector<int64_t> shape = SharedShape(profile, recorded.parameters);
    if (std::ranges::find(shapes, shape) == shapes.end())
      shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace ember::tools
