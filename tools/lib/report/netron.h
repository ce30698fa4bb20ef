// Writes a module as an ONNX file for Netron (netron.app): one node per
// dispatch, in the domain "ember", with its text as an attribute; constants are
// tensors without values.
//
//   WriteFileAtomically("model.netron.onnx", PrintNetron(module));
#ifndef EMBER_TOOLS_LIB_REPORT_NETRON_H_
#define EMBER_TOOLS_LIB_REPORT_NETRON_H_

#include <string>

#include "vm/isa/module_definition.h"

namespace ember::tools {

std::string PrintNetron(const vm::ModuleDefinition& module);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_NETRON_H_
