// Reads MLIR's text of a StableHLO program: its generic form and the forms that
// StableHLO, JAX, TensorFlow and PyTorch/XLA print.
//
//   EMBER_ASSIGN_OR_RETURN(const Module module, ParseModule(
//       "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
//       "  %0 = stablehlo.abs %x : tensor<2xf32>\n"
//       "  return %0 : tensor<2xf32>\n"
//       "}"));
//
// It also reads locations (which it skips), aliases of attributes and types,
// and resources. A region has one block, and names are defined before their
// use.
//
// Errors are one line with line and column. The module owns its constants'
// bytes; the text may be freed. Thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_PARSER_H_
#define EMBER_FRONTENDS_STABLEHLO_PARSER_H_

#include <string_view>

#include "base/status.h"
#include "frontends/stablehlo/module.h"

namespace ember::stablehlo {

StatusOr<Module> ParseModule(std::string_view text);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_PARSER_H_
