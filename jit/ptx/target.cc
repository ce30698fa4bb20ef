#include "jit/ptx/target.h"

#include <cstdint>
#include <optional>

#include "base/target_text.h"
#include "jit/target/cuda_architecture.h"
#include "jit/target/matrix_instructions.h"

namespace ember::jit::ptx {
namespace {

// Limits of a device that its target string does not state: the smallest values
// of any device since sm_70.
constexpr int64_t kSharedBytes = 48 << 10;
constexpr int64_t kInvocations = 1024;
constexpr int64_t kWarp = 32;
// Alignment in bytes of buffers in shared memory, so that each can begin with a
// vector of 16 bytes.
constexpr int64_t kSharedAlignment = 16;

struct Architecture {
  int number;  // number in the name: 80 for "sm_80"
  const char* processor;
  const char* version;
};

// The architectures from sm_70 on that LLVM 19 knows, oldest first. `version`:
// the oldest PTX version in which LLVM has every instruction that kernels for
// the architecture use.
constexpr Architecture kArchitectures[] = {
    {70, "sm_70", "+ptx63"}, {72, "sm_72", "+ptx63"}, {75, "sm_75", "+ptx65"},
    {80, "sm_80", "+ptx70"}, {86, "sm_86", "+ptx71"}, {87, "sm_87", "+ptx74"},
    {89, "sm_89", "+ptx78"}, {90, "sm_90", "+ptx80"},
};

void Read(const TargetText& target, std::string_view feature, int64_t& value) {
  const std::optional<int64_t> told = target.Number(feature);
  if (told && *told > 0) value = *told;
}

}  // namespace

Target Target::Of(std::string_view text) {
  Target target;
  target.shared_bytes = kSharedBytes;
  target.invocations = kInvocations;
  target.subgroup_size = kWarp;
  target.subgroup_arithmetic = target.combines_any_type = true;
  target.has_whole_subgroups = true;
  target.keeps_elements = true;
  target.shared_alignment = kSharedAlignment;
  const TargetText features(text);
  target.text = text;
  target.architecture = CudaArchitecture(text);
  // Code for an architecture runs on all newer ones, so the newest row that is
  // not newer than the device is used.
  for (const Architecture& row : kArchitectures) {
    if (row.number > target.architecture) break;
    target.processor = row.processor;
    target.version = row.version;
  }
  // Code for sm_90a runs on this architecture only. Its products of signed by
  // unsigned bytes need PTX 8.4.
  if (features.name() == "sm_90a") {
    target.processor = "sm_90a";
    target.version = "+ptx84";
  }
  target.matrices = MatrixTypesOf(text);
  target.uses_matrices = true;
  target.is_emulated = features.Has("emulated");
  target.copies_async = target.architecture >= kFirstWithAsyncCopies;
  target.copies_boxes = features.Has("tensor_maps");
  Read(features, "shared", target.shared_bytes);
  Read(features, "processors", target.processors);
  Read(features, "invocations", target.invocations);
  return target;
}

}  // namespace ember::jit::ptx
