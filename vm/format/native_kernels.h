// Reads and writes the kernels of one native section of a module: for each
// kernel its image, the dispatch and the constants for which it was made, and
// these constants in the kernel's packed layout.
//
//   NativeBytes made = WriteNativeKernels(kernels);   // all of one target
//   std::string section = JoinNativeSection(made.parts());
//   …
//   EMBER_ASSIGN_OR_RETURN(NativeParts parts, SplitNativeSection(bytes));
//   EMBER_ASSIGN_OR_RETURN(std::vector<NativeKernel> kernels,
//                          ReadNativeKernels(parts, owner));
//
// Kernels with equal code share it, both in the bytes and in memory. The same
// is true for equal packed constants.
//
// Reading verifies each image by itself. The launcher
// (vm/runtime/dispatch/native_kernels.h, cpu_kernel.h) checks that the image
// fits the module's dispatch and that its packed constants have the declared
// sizes. Code and constants stay where they are in the bytes. Thread-safe.
// Errors: DataLoss for truncated bytes or bytes of another format,
// Unimplemented for a newer version, InvalidArgument from VerifyKernelImage.
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
  uint32_t dispatch = 0;  // number in the module of the dispatch that the
                          // kernel runs
  // For each input of the dispatch, the constant for which the kernel was made,
  // if there is one. The kernel may rely on the constant's values.
  std::vector<ConstantSource> constants;
  KernelImage image;
  // Contents of the image's packed buffers, in order, as its prologue would
  // write them. If the list is empty, the prologue must run when the kernel is
  // loaded. ReadNativeKernels returns 64-byte aligned contents.
  std::vector<std::span<const uint8_t>> packed;
  // object that owns the memory of `packed`
  std::shared_ptr<const void> packed_owner;
};

struct NativeBytes {
  std::string head, code, weights;
  // largest alignment in bytes that the code needs in the memory where it runs
  uint32_t code_alignment = 1;

  NativeParts parts() const;
};

NativeBytes WriteNativeKernels(std::span<const NativeKernel> kernels);
// Reads and verifies the kernels of a section. `owner` owns the memory of all
// parts.
StatusOr<std::vector<NativeKernel>> ReadNativeKernels(
    const NativeParts& parts, const std::shared_ptr<const void>& owner);

// True if a file may contain the image's packed constants. False if it has
// none, or if some have a type with invalid bit patterns (bool), because the
// bytes are not checked before they are used.
bool MayBePackedBefore(const KernelImage& image);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_NATIVE_KERNELS_H_
