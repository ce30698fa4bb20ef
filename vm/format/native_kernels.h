// The kernels of one native section of a module: images, which dispatch each is
// of and with which constants, and those constants as the kernel packs them.
//
//   NativeBytes made = WriteNativeKernels(kernels);   // all of one target
//   std::string section = JoinNativeSection(made.parts());
//   …
//   EMBER_ASSIGN_OR_RETURN(NativeParts parts, SplitNativeSection(bytes));
//   EMBER_ASSIGN_OR_RETURN(std::vector<NativeKernel> kernels,
//                          ReadNativeKernels(parts, owner));
//
// Kernels with equal code share it, and so they do equal packed constants, in
// the bytes and when they are read.
// Reading verifies each image by itself; whether it fits the module's dispatch,
// and its packed constants have the sizes that it declares, is for the launcher
// (vm/runtime/native_kernels.h, cpu_kernel.h). Code and constants stay where
// they are in the bytes. Thread-safe. Errors: DataLoss for bytes that are cut
// off or none of this format, Unimplemented for a newer one, InvalidArgument as
// of VerifyKernelImage.
#ifndef EMBER_VM_FORMAT_NATIVE_KERNELS_H_
#define EMBER_VM_FORMAT_NATIVE_KERNELS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/format/kernel_image.h"
#include "vm/format/native_section.h"
#include "vm/isa/analysis.h"

namespace ember::vm {

struct NativeKernel {
  uint32_t dispatch = 0;  // its number in the module
  // Per input of the dispatch: the constant that the kernel was made for, whose
  // values it may rely on.
  std::vector<ConstantSource> constants;
  KernelImage image;
  // Of the image's packed buffers, in order, what its prologue would write;
  // none at all: it is to run when the kernel is loaded. 64-byte aligned when
  // read.
  std::vector<std::span<const uint8_t>> packed;
  std::shared_ptr<const void> packed_owner;  // keeps packed alive
};

struct NativeBytes {
  std::string head, code, weights;
  uint32_t code_alignment = 1;  // of the first byte of the code, where it runs

  NativeParts parts() const;
};

NativeBytes WriteNativeKernels(std::span<const NativeKernel> kernels);
// owner: of all parts.
StatusOr<std::vector<NativeKernel>> ReadNativeKernels(
    const NativeParts& parts, const std::shared_ptr<const void>& owner);

// Whether its packed constants can be in a file: not those of types that may
// not hold any bits (bool), as nobody looks at them before they are used.
bool MayBePackedBefore(const KernelImage& image);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_NATIVE_KERNELS_H_
