// StableHLO as a row of the list of formats (frontends/registry/formats.h).
#ifndef EMBER_FRONTENDS_STABLEHLO_FORMAT_H_
#define EMBER_FRONTENDS_STABLEHLO_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::stablehlo {

extern const frontends::Format kFormat;

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_FORMAT_H_
