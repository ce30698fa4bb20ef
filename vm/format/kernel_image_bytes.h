// Kernel images, or their code alone, as bytes of a file.
//
//   ByteWriter writer;
//   WriteKernelImage(image, writer);
//   …
//   ByteReader reader(bytes);
//   EMBER_ASSIGN_OR_RETURN(KernelImage image, ReadKernelImage(reader, owner));
//
// Reading verifies. The code stays where it is in the bytes, which `owner`
// keeps alive. Thread-safe. Errors: DataLoss for truncated bytes or bytes that
// are no image, InvalidArgument from the verifier.
#ifndef EMBER_VM_FORMAT_KERNEL_IMAGE_BYTES_H_
#define EMBER_VM_FORMAT_KERNEL_IMAGE_BYTES_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "vm/format/byte_stream.h"
#include "vm/format/kernel_image.h"

namespace ember::vm {

void WriteKernelCode(const KernelCode& code, ByteWriter& writer);
// Reads and verifies the code of an image. phases: the expected number of
// phases; SIZE_MAX: any number.
StatusOr<KernelCode> ReadKernelCode(ByteReader& reader,
                                    std::shared_ptr<const void> owner,
                                    size_t phases);

// Writes how the code's phases are launched, for callers that keep the bytes of
// the code elsewhere. Writes no phases for a CPU's code.
void WriteDevicePhases(const KernelCode& code, ByteWriter& writer);
// The tensor maps that the bytes hold for each phase: kNone in the oldest
// versions, kWithoutOrder in versions without BoxMap::order.
enum class BoxesInBytes : uint8_t { kNone, kWithoutOrder, kAll };
// Reads the phases of code whose format has been read. The result is not
// verified.
void ReadDevicePhases(ByteReader& reader, KernelCode& code,
                      BoxesInBytes boxes = BoxesInBytes::kAll);

// Checks that the code may be stored in a file. InvalidArgument if it has no
// meaning in another process.
Status CheckIsOfFile(const KernelCode& code);

// Writes the image without its code, for callers that keep the code elsewhere
// because several images may share it.
void WriteKernelHeader(const KernelImage& image, ByteWriter& writer);
// Reads an image without code. It is not verified. has_iterations: false for
// bytes of versions that had no kernels of devices.
StatusOr<KernelImage> ReadKernelHeader(ByteReader& reader,
                                       bool has_iterations = true);

// Writes the image: its header, then its code.
void WriteKernelImage(const KernelImage& image, ByteWriter& writer);
StatusOr<KernelImage> ReadKernelImage(ByteReader& reader,
                                      std::shared_ptr<const void> owner);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_KERNEL_IMAGE_BYTES_H_
