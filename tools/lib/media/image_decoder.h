// Decodes picture files for modules that call decode_image, such as those with
// ONNX's ImageDecoder.
//
//   Session::Create(module, {.device = device, .images = DecodeImage});
//
// All formats of tools/lib/media/decode.h are decoded. As ImageDecoder demands,
// a JPEG is not rotated as its EXIF data say, and opacity is ignored. Grey is
// the luma of ITU-R BT.601 (0.299 R + 0.587 G + 0.114 B), rounded as Pillow
// does.
//
// Thread-safe.
#ifndef EMBER_TOOLS_LIB_MEDIA_IMAGE_DECODER_H_
#define EMBER_TOOLS_LIB_MEDIA_IMAGE_DECODER_H_

#include <cstdint>
#include <span>

#include "base/memory_budget.h"
#include "base/status.h"
#include "vm/runtime/image_support.h"

namespace ember::tools {

// A vm::ImageDecoder.
StatusOr<vm::DecodedImage> DecodeImage(std::span<const uint8_t> file,
                                       vm::PixelOrder order,
                                       MemoryBudget& budget);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_IMAGE_DECODER_H_
