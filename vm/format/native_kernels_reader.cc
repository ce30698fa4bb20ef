#include "base/concat.h"
#include "vm/format/kernel_image_bytes.h"
#include "vm/format/kernel_image_verifier.h"
#include "vm/format/native_kernels.h"
#include "vm/format/native_kernels_format.h"

namespace ember::vm {
namespace {

// The least that one takes, of what is counted.
constexpr size_t kCodeBytes = 13;
constexpr size_t kKernelBytes = 53;
constexpr size_t kSourceBytes = 12;

Status Damaged(std::string_view expected, uint64_t found) {
  return DataLossError(
      Concat({"native section: expected ", expected, ", found ", found}));
}

}  // namespace

StatusOr<std::vector<NativeKernel>> ReadNativeKernels(
    std::span<const uint8_t> bytes, const std::shared_ptr<const void>& owner) {
  ByteReader reader(bytes);
  const auto magic = reader.Number<uint32_t>();
  if (magic != kNativeMagic) return Damaged("'EMNK'", magic);
  const auto version = reader.Number<uint32_t>();
  if (version != kNativeVersion) {
    return UnimplementedError(Concat({"native section: expected version ",
                                      kNativeVersion, ", found ", version}));
  }
  std::vector<KernelCode> codes(reader.Count(kCodeBytes));
  for (KernelCode& code : codes) {
    // How many entries there are to be, its kernels know.
    EMBER_ASSIGN_OR_RETURN(code, ReadKernelCode(reader, owner, SIZE_MAX));
  }
  std::vector<NativeKernel> kernels(reader.Count(kKernelBytes));
  for (NativeKernel& kernel : kernels) {
    kernel.dispatch = reader.Number<uint32_t>();
    kernel.constants.resize(reader.Count(kSourceBytes));
    for (ConstantSource& source : kernel.constants) {
      source.constant = reader.Number<int32_t>();
      source.offset = reader.Number<int64_t>();
    }
    const auto code = reader.Number<uint32_t>();
    EMBER_ASSIGN_OR_RETURN(kernel.image, ReadKernelHeader(reader));
    if (code >= codes.size())
      return Damaged(Concat({"a code below ", codes.size()}), code);
    kernel.image.code = codes[code];
    EMBER_RETURN_IF_ERROR(VerifyKernelImage(kernel.image));
  }
  if (!reader.ok() || !reader.at_end())
    return DataLossError("native section: expected its end, found another");
  return kernels;
}

}  // namespace ember::vm
