#include <algorithm>

#include "vm/format/kernel_image_bytes.h"
#include "vm/format/native_kernels.h"
#include "vm/format/native_kernels_format.h"

namespace ember::vm {

std::string WriteNativeKernels(std::span<const NativeKernel> kernels) {
  std::vector<const KernelCode*> codes;
  std::vector<uint32_t> numbers;
  for (const NativeKernel& kernel : kernels) {
    const KernelCode& code = kernel.image.code;
    const auto found = std::ranges::find_if(
        codes, [&](const KernelCode* other) { return *other == code; });
    numbers.push_back(static_cast<uint32_t>(found - codes.begin()));
    if (found == codes.end()) codes.push_back(&code);
  }
  ByteWriter writer;
  writer.Number(kNativeMagic);
  writer.Number(kNativeVersion);
  writer.Number(static_cast<uint32_t>(codes.size()));
  for (const KernelCode* code : codes) WriteKernelCode(*code, writer);
  writer.Number(static_cast<uint32_t>(kernels.size()));
  for (size_t i = 0; i < kernels.size(); ++i) {
    writer.Number(kernels[i].dispatch);
    writer.Number(static_cast<uint32_t>(kernels[i].constants.size()));
    for (const ConstantSource& source : kernels[i].constants) {
      writer.Number(source.constant);
      writer.Number(source.offset);
    }
    writer.Number(numbers[i]);
    WriteKernelHeader(kernels[i].image, writer);
  }
  return std::move(writer).Take();
}

}  // namespace ember::vm
