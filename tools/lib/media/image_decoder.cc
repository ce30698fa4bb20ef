#include "tools/lib/media/image_decoder.h"

#include <utility>

#include "tools/lib/media/decode.h"

namespace ember::tools {
namespace {

// Passes charges to a budget, and discharges all of them when it is destroyed.
class ScopedCharges final : public MemoryBudget {
 public:
  explicit ScopedCharges(MemoryBudget& budget) : budget_(budget) {}
  ~ScopedCharges() override { budget_.Discharge(charged_); }

  Status Charge(int64_t bytes) override {
    EMBER_RETURN_IF_ERROR(budget_.Charge(bytes));
    charged_ += bytes;
    return OkStatus();
  }
  void Discharge(int64_t bytes) override {
    budget_.Discharge(bytes);
    charged_ -= bytes;
  }

 private:
  MemoryBudget& budget_;
  int64_t charged_ = 0;
};

// Replaces each pixel of three bytes by one byte.
void ToGrey(std::vector<uint8_t>& pixels) {
  // The weights add up to 2^16.
  constexpr uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471;
  const size_t count = pixels.size() / 3;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* const rgb = &pixels[3 * i];
    pixels[i] = static_cast<uint8_t>(
        (rgb[0] * kRed + rgb[1] * kGreen + rgb[2] * kBlue + (1u << 15)) >> 16);
  }
  pixels.resize(count);
}

}  // namespace

StatusOr<vm::DecodedImage> DecodeImage(std::span<const uint8_t> file,
                                       vm::PixelOrder order,
                                       MemoryBudget& budget) {
  ScopedCharges charges(budget);
  StatusOr<Picture> picture =
      DecodePicture(file, "picture",
                    {.upright = false, .on_white = false, .budget = &charges});
  if (picture.status().code() == StatusCode::kResourceExhausted)
    return picture.status();
  if (!picture.ok()) return vm::DecodedImage();
  vm::DecodedImage image = {picture->height, picture->width,
                            std::move(picture->pixels)};
  if (order == vm::PixelOrder::kGrey) {
    ToGrey(image.pixels);
  } else if (order == vm::PixelOrder::kBgr) {
    for (size_t i = 0; i + 2 < image.pixels.size(); i += 3)
      std::swap(image.pixels[i], image.pixels[i + 2]);
  }
  return image;
}

}  // namespace ember::tools
