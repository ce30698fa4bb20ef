// Declares the format TorchScript (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_FORMAT_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::torchscript {

extern const frontends::Format kFormat;

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_FORMAT_H_
