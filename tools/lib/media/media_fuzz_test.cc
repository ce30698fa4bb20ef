// Fuzzes the readers of pictures, sounds and labels with arbitrary bytes.
#include <cstdint>
#include <span>
#include <string_view>

#include "tools/lib/media/decode.h"
#include "tools/lib/media/labels.h"
#include "tools/lib/media/sound.h"

namespace {

// True if the frame header of a JPEG says more than a few pixels. Such inputs
// are skipped: decoding up to Picture::kMaxPixels takes half a second and runs
// no other code.
bool IsLarge(std::string_view jpeg) {
  for (size_t i = 0; i + 8 < jpeg.size(); ++i) {
    const auto at = [&](size_t offset) {
      return static_cast<uint8_t>(jpeg[i + offset]);
    };
    if (at(0) == 0xff && at(1) >= 0xc0 && at(1) <= 0xcf &&
        (at(5) > 0 || at(7) > 0))
      return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember::tools;
  const std::span<const uint8_t> bytes(data, size);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!IsLarge(text)) (void)DecodePicture(bytes, "picture").ok();
  (void)internal::ExifOrientation(bytes);
  if (ember::StatusOr<Sound> sound = DecodeWav(bytes, "sound"); sound.ok())
    (void)Resample(*sound, 16000).ok();
  (void)ParseLabels(text, "labels").ok();
  return 0;
}
