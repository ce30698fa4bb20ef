// Small modules for tests, as text. Together they use every control
// instruction.
#ifndef EMBER_VM_ISA_TESTING_SAMPLE_MODULES_H_
#define EMBER_VM_ISA_TESTING_SAMPLE_MODULES_H_

#include <span>
#include <string_view>

#include "vm/isa/module_definition.h"

namespace ember::vm {

struct SampleModule {
  std::string_view name;
  std::string_view text;
};

std::span<const SampleModule> SampleModules();

// Returns the parsed and verified module; ends the process on errors.
ModuleDefinition ParseSample(std::string_view text);
ModuleDefinition SampleNamed(std::string_view name);

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_TESTING_SAMPLE_MODULES_H_
