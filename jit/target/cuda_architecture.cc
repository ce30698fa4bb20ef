#include "jit/target/cuda_architecture.h"

#include <charconv>

#include "base/target_text.h"

namespace ember::jit {

int CudaArchitecture(std::string_view target) {
  constexpr std::string_view kPrefix = "sm_";
  std::string_view name = TargetText(target).name();
  if (!name.starts_with(kPrefix)) return 0;
  name.remove_prefix(kPrefix.size());
  int number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

bool HasOwnInstructions(std::string_view target) {
  return CudaArchitecture(target) != 0 &&
         TargetText(target).name().ends_with('a');
}

}  // namespace ember::jit
