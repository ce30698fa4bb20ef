// Finds boxes in the results of a detector.
//
//   EMBER_ASSIGN_OR_RETURN(std::vector<Detection> found,
//                          FindDetections(names, results, view, options));
//
// These forms are recognised, by names and shapes; leading dims of 1 do not
// count:
//
//   boxes [N, 4] with scores [N] and maybe classes [N] and a count [1]: the
//     TensorFlow Object Detection API, TFLite_Detection_PostProcess,
//     torchvision
//   boxes [N, 4] with scores of classes [N, C] or [C, N], from which overlapping
//     boxes are removed; class 0 is the background if there are two
//   those, with the indices [M, 3] of ONNX's NonMaxSuppression
//   rows [N, 7] of Caffe's DetectionOutput: image, class, score, box
//   the only result, rows [N, 6] of a box, a score and a class, at most 1000, as
//     end-to-end exports have them
//
// Boxes are corners x1 y1 x2 y2; y first if the results' names are those of
// TensorFlow. Coordinates are relative to the input (0 to 1), or pixels of it
// if one is above 2. A model's own encoding (anchors and strides of YOLO and
// others) is not decoded: such results are an error.
#ifndef EMBER_TOOLS_LIB_MEDIA_DETECTIONS_H_
#define EMBER_TOOLS_LIB_MEDIA_DETECTIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/lib/media/picture_input.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

struct Detection {
  // corners of the box, in pixels of the picture
  double left = 0, top = 0, right = 0, bottom = 0;
  int64_t number = 0;  // the class
  double score = 0;
};

struct Detections {
  std::vector<Detection> found;  // sorted by score, the highest first
  int64_t classes = 0;           // number of classes; 0: not known
  std::string form;              // text that names the recognised form of
                                 // results, for messages
};

enum class BoxOrder : uint8_t { kAuto, kXyxy, kYxyx, kXywh, kCxcywh };

struct DetectionOptions {
  BoxOrder order = BoxOrder::kAuto;
  double min_score = 0.5;
  double max_overlap = 0.45;  // largest intersection over union of two kept
                              // boxes of a class
  size_t max_count = 200;
};

// Returns the detections in a model's results, or nothing if the results have
// none of the forms. `names` are the names of the results.
std::optional<Detections> FindDetections(std::span<const std::string> names,
                                         std::span<const vm::Tensor> results,
                                         const PictureView& view,
                                         const DetectionOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_DETECTIONS_H_
