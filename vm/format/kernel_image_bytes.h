// Kernel images, and their code alone, as bytes of a file.
//
//   ByteWriter writer;
//   WriteKernelImage(image, writer);
//   …
//   ByteReader reader(bytes);
//   EMBER_ASSIGN_OR_RETURN(KernelImage image, ReadKernelImage(reader, owner));
//
// What is read is verified. Code stays where it is in the bytes, which `owner`
// keeps alive. Thread-safe. Errors: DataLoss for what is cut off or no image at
// all, InvalidArgument as of the verifier.
#ifndef EMBER_VM_FORMAT_KERNEL_IMAGE_BYTES_H_
#define EMBER_VM_FORMAT_KERNEL_IMAGE_BYTES_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "vm/format/byte_stream.h"
#include "vm/format/kernel_image.h"

namespace ember::vm {

void WriteKernelCode(const KernelCode& code, ByteWriter& writer);
// phases: how many phases are expected; SIZE_MAX: any number.
StatusOr<KernelCode> ReadKernelCode(ByteReader& reader,
                                    std::shared_ptr<const void> owner,
                                    size_t phases);

// How its phases are launched, for those who keep its bytes elsewhere; nothing
// of a CPU's.
void WriteDevicePhases(const KernelCode& code, ByteWriter& writer);
// What was written of a phase's tensor maps: nothing before there were any, and
// their dims in the buffer's order alone, before there were others.
enum class BoxesInBytes : uint8_t { kNone, kWithoutOrder, kAll };
// Of code whose format was read; not verified.
void ReadDevicePhases(ByteReader& reader, KernelCode& code,
                      BoxesInBytes boxes = BoxesInBytes::kAll);

// InvalidArgument for code that means nothing to another process.
Status CheckIsOfFile(const KernelCode& code);

// Without code: for those who keep it elsewhere, as several images may share
// it.
void WriteKernelHeader(const KernelImage& image, ByteWriter& writer);
// Not verified: it has no code yet. has_iterations: false of what was written
// before there were kernels of devices.
StatusOr<KernelImage> ReadKernelHeader(ByteReader& reader,
                                       bool has_iterations = true);

// Both.
void WriteKernelImage(const KernelImage& image, ByteWriter& writer);
StatusOr<KernelImage> ReadKernelImage(ByteReader& reader,
                                      std::shared_ptr<const void> owner);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_KERNEL_IMAGE_BYTES_H_
