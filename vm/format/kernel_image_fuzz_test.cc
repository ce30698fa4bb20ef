// Fuzzes kernel images as bytes (as in the kernel cache, answers of the compile
// worker and sections of modules) and as text. Reading must not crash or access
// memory out of bounds. If an image can be read and verified, writing it and
// reading it again must give the same image.
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
  // Copies the bytes to memory of exactly their size, so that reads behind the
  // end are detected.
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
    // The input is mostly valid bytes, because changing a text at random rarely
    // gives a valid image.
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
