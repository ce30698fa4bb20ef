// Fuzzes the readers of pictures, sounds and labels with arbitrary bytes.
#include <cstdint>
#include <span>
#include <string_view>

#include "base/memory_budget.h"
#include "base/status.h"
#include "tools/lib/media/decode.h"
#include "tools/lib/media/decoders.h"
#include "tools/lib/media/labels.h"
#include "tools/lib/media/sound.h"

namespace {

// Refuses pictures of more than a few pixels: decoding as many as
// Picture::kMaxPixels takes half a second, which finds nothing new.
class SmallPictures final : public ember::MemoryBudget {
 public:
  ember::Status Charge(int64_t bytes) override {
    constexpr int64_t kLimit = int64_t{1} << 18;
    return bytes <= kLimit ? ember::OkStatus()
                           : ember::ResourceExhaustedError("too large");
  }
  void Discharge(int64_t) override {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember::tools;
  const std::span<const uint8_t> bytes(data, size);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  SmallPictures small;
  (void)DecodePicture(bytes, "picture", {.budget = &small}).ok();
  (void)internal::ExifOrientation(bytes);
  if (ember::StatusOr<Sound> sound = DecodeWav(bytes, "sound"); sound.ok())
    (void)Resample(*sound, 16000).ok();
  (void)ParseLabels(text, "labels").ok();
  return 0;
}
