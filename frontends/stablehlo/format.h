// Declares the format StableHLO (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_STABLEHLO_FORMAT_H_
#define EMBER_FRONTENDS_STABLEHLO_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::stablehlo {

extern const frontends::Format kFormat;

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_FORMAT_H_
