// Reads MLIR's bytecode: StableHLO's portable artifacts (the dialect vhlo), and
// generic operations from writers that do not know the dialect.
//
//   if (IsBytecode(contents)) {
//     EMBER_ASSIGN_OR_RETURN(const Module module, ReadBytecode(contents));
//   }
//
// Versions 0 to 6 of the format. Bytecode of the dialect stablehlo itself,
// whose properties have an encoding that only that dialect knows, is refused.
// The line number of an operation is its index in the module.
//
// Errors are one line. Constants share the contents that `owner` keeps alive;
// without an owner they are copied, and the contents may be freed. Thread-safe.
//
// Source: MLIR's documentation of its bytecode format.
#ifndef EMBER_FRONTENDS_STABLEHLO_BYTECODE_H_
#define EMBER_FRONTENDS_STABLEHLO_BYTECODE_H_

#include <memory>
#include <string_view>

#include "base/status.h"
#include "frontends/stablehlo/module.h"

namespace ember::stablehlo {

bool IsBytecode(std::string_view contents);
StatusOr<Module> ReadBytecode(std::string_view contents,
                              std::shared_ptr<const void> owner = nullptr);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_BYTECODE_H_
