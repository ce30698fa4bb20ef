// Finds operators in a model's code that are not in the operator table.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_UNSUPPORTED_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_UNSUPPORTED_H_

#include <set>
#include <string>

#include "frontends/torchscript/code.h"
#include "frontends/torchscript/syntax.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// Returns the names of operators without a supported row, sorted, in all code
// that a method of a module may reach. A call of a method is taken to reach the
// method of that name in any class of the module.
std::set<std::string> UnsupportedOperators(const Heap& heap, CodeLibrary& code,
                                           const Function& method);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_UNSUPPORTED_H_
