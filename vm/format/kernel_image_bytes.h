// Writes kernel images, or their code alone, as bytes of a file, and reads
// them.
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
// Reads and verifies the code of an image. `phases` is the number of phases
// that the code must have; SIZE_MAX allows any number.
StatusOr<KernelCode> ReadKernelCode(ByteReader& reader,
                                    std::shared_ptr<const void> owner,
                                    size_t phases);

// Writes how a device launches each phase of the code (KernelCode::device), for
// callers that store the bytes of the code elsewhere. It writes nothing for a
// CPU's code.
void WriteDevicePhases(const KernelCode& code, ByteWriter& writer);
// Says which tensor maps the stored phases contain: none in the oldest versions
// of the format (kNone), maps without BoxMap::order in later ones
// (kWithoutOrder), or complete maps.
enum class BoxesInBytes : uint8_t { kNone, kWithoutOrder, kAll };
// Reads how a device launches the phases of the code to code.device. The code's
// format must have been set before. The result is not verified.
void ReadDevicePhases(ByteReader& reader, KernelCode& code,
                      BoxesInBytes boxes = BoxesInBytes::kAll);

// Checks that the code may be stored in a file. Returns InvalidArgument if the
// code is only valid in this process.
Status CheckIsOfFile(const KernelCode& code);

// Writes the image without its code, for callers that store the code elsewhere
// because several images may share it.
void WriteKernelHeader(const KernelImage& image, ByteWriter& writer);
// Reads an image without its code. The result is not verified. has_iterations
// is false for bytes of old versions, which have no kernels for devices.
StatusOr<KernelImage> ReadKernelHeader(ByteReader& reader,
                                       bool has_iterations = true);

// Writes the image: the part without code, then its code.
void WriteKernelImage(const KernelImage& image, ByteWriter& writer);
StatusOr<KernelImage> ReadKernelImage(ByteReader& reader,
                                      std::shared_ptr<const void> owner);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_KERNEL_IMAGE_BYTES_H_
