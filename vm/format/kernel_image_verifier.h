// Checks that an image follows the rules of vm/format/kernel_image.h, so that
// the launcher can use its numbers without checking them again.
//
//   EMBER_RETURN_IF_ERROR(VerifyKernelImage(image));
//
// The instructions of the code are not checked. Thread-safe. Errors:
// InvalidArgument, in one line: kernel, object, expected, found.
#ifndef EMBER_VM_FORMAT_KERNEL_IMAGE_VERIFIER_H_
#define EMBER_VM_FORMAT_KERNEL_IMAGE_VERIFIER_H_

#include "base/status.h"
#include "vm/format/kernel_image.h"

namespace ember::vm {

// largest number of items of each list in an image
inline constexpr uint32_t kMaxKernelItems = 1 << 16;
inline constexpr uint32_t kMaxKernelRank = 64;
inline constexpr uint32_t kMaxCodeAlignment = 1 << 16;
inline constexpr uint32_t kMaxCodeBytes = 1 << 30;
// largest number of invocations of a workgroup
inline constexpr uint32_t kMaxInvocations = 1 << 16;
inline constexpr uint32_t kMaxSharedBytes = 1 << 30;
// largest value of DevicePhase::most_workgroups
inline constexpr uint32_t kMaxWorkgroups = 1 << 16;

Status VerifyKernelImage(const KernelImage& image);
// Checks the code of an image. `phases` is the number of phases that it must
// have.
Status VerifyKernelCode(const KernelCode& code, size_t phases);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_KERNEL_IMAGE_VERIFIER_H_
