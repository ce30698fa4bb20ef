// Finds the class of each pixel in the result of a segmentation.
//
//   std::optional<ClassMap> map = FindClassMap(names, results, view);
//
// These forms are recognised; leading dims of 1 do not count:
//
//   floats [C, H, W] or [H, W, C]: the class with the largest value
//   integers [H, W] or [H, W, 1]: the class itself
//   floats [H, W] or [H, W, 1]: class 1 if above 0.5; above 0 if some value is
//     outside of [0, 1], as before a sigmoid
//
// H and W have the proportion of the input, and are at least 8 and an eighth of
// the input's, so that grids of detectors do not count. Pixels u8 [H, W, 3] do
// not count either.
#ifndef EMBER_TOOLS_LIB_MEDIA_CLASS_MAP_H_
#define EMBER_TOOLS_LIB_MEDIA_CLASS_MAP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/lib/media/picture_input.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

struct ClassMap {
  int width = 0, height = 0;
  int64_t classes = 0;  // number of classes; 0: not known
  std::vector<int32_t> numbers;
  std::string form;  // text that names the recognised form of the result, for
                     // messages
};

// Returns a map made from the first result that has one of the forms; nothing
// if no result has.
std::optional<ClassMap> FindClassMap(std::span<const std::string> names,
                                     std::span<const vm::Tensor> results,
                                     const PictureView& view);

// Returns the class of each pixel of a picture of this size, of which the map's
// input is the part that `view` says. Pixels outside of that part have class
// -1.
std::vector<int32_t> OnPicture(const ClassMap& map, const PictureView& view,
                               int width, int height);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_CLASS_MAP_H_
