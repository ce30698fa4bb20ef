// Reads MLIR's text of a StableHLO program: its generic form and the forms that
// StableHLO, JAX, TensorFlow and PyTorch/XLA print.
//
//   EMBER_ASSIGN_OR_RETURN(const Module module, ParseModule(
//       "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
//       "  %0 = stablehlo.abs %x : tensor<2xf32>\n"
//       "  return %0 : tensor<2xf32>\n"
//       "}"));
//
// Read besides operations: locations (skipped), aliases of attributes and
// types, resources. One block per region, names before their use.
//
// Errors are one line with line and column. The module holds its constants'
// bytes itself; the text may go. Thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_PARSER_H_
#define EMBER_FRONTENDS_STABLEHLO_PARSER_H_

#include <string_view>

#include "base/status.h"
#include "frontends/stablehlo/module.h"

namespace ember::stablehlo {

StatusOr<Module> ParseModule(std::string_view text);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_PARSER_H_
