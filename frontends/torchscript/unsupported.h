// What a model's code uses that is not in the operator table.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_UNSUPPORTED_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_UNSUPPORTED_H_

#include <set>
#include <string>

#include "frontends/torchscript/code.h"
#include "frontends/torchscript/syntax.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// Names of operators without a supported row, in all code that a method of a
// module may reach: calls of methods are taken to be of any class in the module
// that has one of the name. Sorted.
std::set<std::string> UnsupportedOperators(const Heap& heap, CodeLibrary& code,
                                           const Function& method);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_UNSUPPORTED_H_
