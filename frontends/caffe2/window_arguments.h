// Reads the window of a convolution or pooling, in all forms that Caffe2 has:
// "kernel", "kernels", "kernel_h" and "kernel_w", and so on.
//
//   const std::optional<ops::Window> window = ReadWindow(c, {h, w});
//   if (!window) return;   // the builder has the error
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_CAFFE2_WINDOW_ARGUMENTS_H_
#define EMBER_FRONTENDS_CAFFE2_WINDOW_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "frontends/caffe2/operator_context.h"
#include "frontends/ops/windows.h"

namespace ember::caffe2 {

// The argument "legacy_pad": a rule that derives the padding from the extents
// of the image.
enum class LegacyPad : uint8_t {
  kNotSet = 0,
  kValid = 1,
  kSame = 2,
  // The rule of Caffe's pooling: the number of windows is rounded up, so that
  // the last window may reach beyond the image.
  kCaffePooling = 3,
};

// Reads "legacy_pad". Returns nullopt after an error.
std::optional<LegacyPad> ReadLegacyPad(OperatorContext& c);

// Reads "stem", "stems", or "stem_h" with "stem_w": `count` numbers in
// [minimum, kMaxWindow]; nullopt after an error.
std::optional<std::vector<int64_t>> ReadSizes(OperatorContext& c,
                                              std::string_view stem,
                                              size_t count, int64_t minimum,
                                              int64_t otherwise);

// Reads the padding of the window from "pad", all four of "pad_t", "pad_l",
// "pad_b" and "pad_r", or "pads" (all amounts before, then all after): the
// first of these that is there; else it is zero. Returns false after an error.
bool ReadPads(OperatorContext& c, ops::Window& window);

// Returns the window for an image with `spatial` extents; the padding follows
// "legacy_pad"; nullopt after an error.
std::optional<ops::Window> ReadWindow(OperatorContext& c, const Shape& spatial);

}  // namespace ember::caffe2

#endif  // EMBER_FRONTENDS_CAFFE2_WINDOW_ARGUMENTS_H_
