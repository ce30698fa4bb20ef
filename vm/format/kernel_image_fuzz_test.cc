// Kernel images from anyone, as bytes (entries of the kernel cache, what the
// compile worker answers, sections of modules) and as text: reading must not do
// harm, and what is read and verified is written to what reads as the same.
//
//   ./dev fuzz --seconds=3600 //vm/format:kernel_image_fuzz_test
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "vm/format/byte_stream.h"
#include "vm/format/kernel_image_bytes.h"
#include "vm/format/kernel_image_text.h"

namespace ember::vm {
namespace {

StatusOr<KernelImage> OfBytes(std::string_view bytes) {
  // With an owner of its own, of just its size: reads behind it are found.
  const auto owner =
      std::make_shared<std::vector<uint8_t>>(bytes.begin(), bytes.end());
  ByteReader reader(*owner);
  return ReadKernelImage(reader, owner);
}

void ReadAgain(const KernelImage& image) {
  ByteWriter writer;
  WriteKernelImage(image, writer);
  const std::string bytes = std::move(writer).Take();
  const StatusOr<KernelImage> again = OfBytes(bytes);
  EMBER_CHECK(again.ok()) << again.status().ToString();
  const std::string text = PrintKernelImage(image);
  EMBER_CHECK(PrintKernelImage(*again) == text) << text;
  const StatusOr<KernelImage> parsed = ParseKernelImage(text);
  EMBER_CHECK(parsed.ok()) << parsed.status().ToString() << "\n" << text;
  EMBER_CHECK(PrintKernelImage(*parsed) == text) << text;
}

}  // namespace
}  // namespace ember::vm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember::vm;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const auto image = OfBytes(input); image.ok()) ReadAgain(*image);
  if (const auto image = ParseKernelImage(input); image.ok()) {
    ReadAgain(*image);
    // Bytes that are nearly an image's: few changes of a text give any.
    ByteWriter writer;
    WriteKernelImage(*image, writer);
    std::string bytes = std::move(writer).Take();
    for (size_t i = 0; i < bytes.size() && i < 64; ++i) {
      std::string changed = bytes;
      changed[(i * 7919 + size) % bytes.size()] ^=
          static_cast<char>(1 << ((i + size) % 8));
      (void)OfBytes(changed).ok();
      (void)OfBytes(std::string_view(bytes).substr(0, bytes.size() - i)).ok();
    }
  }
  return 0;
}
