// The function with which a session decodes picture files, for modules that
// call the library function decode_image. It is an interface, so that a runtime
// without pictures links no decoder:
//
//   #include "tools/lib/media/image_decoder.h"
//   Session::Create(module, {.device = device, .images = tools::DecodeImage});
//
// Thread-safety: sessions may call one decoder on several threads.
#ifndef EMBER_VM_RUNTIME_IMAGE_SUPPORT_H_
#define EMBER_VM_RUNTIME_IMAGE_SUPPORT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory_budget.h"
#include "base/status.h"

namespace ember::vm {

// The channels of each pixel, in order. The numbers are operands of
// decode_image and attributes of graphs, so they do not change.
enum class PixelOrder : uint8_t { kRgb = 0, kBgr = 1, kGrey = 2 };
inline constexpr int kPixelOrderCount = 3;

constexpr int64_t ChannelCount(PixelOrder order) {
  return order == PixelOrder::kGrey ? 1 : 3;
}

// A decoded picture. `pixels` has height * width * channels bytes, rows from
// the top. A picture that cannot be decoded has the extents 0.
struct DecodedImage {
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> pixels;
};

// The type of a function that decodes the bytes of a picture file, which may be
// hostile. It charges `budget` before it allocates memory for pixels, and
// discharges all of it before it returns. It returns a picture with the extents
// 0 if the bytes are no picture, are damaged, or have a format that it does not
// know, as ONNX's ImageDecoder demands. Errors: ResourceExhausted if the
// picture is too large for the decoder or for the budget.
using ImageDecoder = StatusOr<DecodedImage> (*)(std::span<const uint8_t> file,
                                                PixelOrder order,
                                                MemoryBudget& budget);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_IMAGE_SUPPORT_H_
