// Small modules in text form for tests. Together they use every instruction of
// programs.
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

// Returns the module that the text describes, parsed and verified. Ends the
// process on an error.
ModuleDefinition ParseSample(std::string_view text);
ModuleDefinition SampleNamed(std::string_view name);

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_TESTING_SAMPLE_MODULES_H_
