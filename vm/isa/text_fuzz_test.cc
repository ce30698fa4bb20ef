// Fuzzes module texts. Parsing must not crash or access memory out of bounds.
// If a text can be parsed and verified, printing it and parsing the result must
// give the same module.
#include <cstdlib>
#include <string_view>

#include "base/check.h"
#include "vm/format/verifier.h"
#include "vm/isa/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const StatusOr<vm::ModuleDefinition> module = vm::ParseModule(text);
  if (!module.ok() || !vm::VerifyModule(*module).ok()) return 0;
  const std::string printed =
      vm::PrintModule(*module, {.inline_constant_bytes = -1});
  const StatusOr<vm::ModuleDefinition> again = vm::ParseModule(printed);
  EMBER_CHECK(again.ok()) << again.status().ToString();
  EMBER_CHECK(again->programs == module->programs) << printed;
  EMBER_CHECK(again->dispatches == module->dispatches) << printed;
  return 0;
}
