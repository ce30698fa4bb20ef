// Declares the format Core ML (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_COREML_FORMAT_H_
#define EMBER_FRONTENDS_COREML_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::coreml {

extern const frontends::Format kFormat;

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_FORMAT_H_
