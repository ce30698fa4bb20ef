// Declares the format safetensors (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_SAFETENSORS_FORMAT_H_
#define EMBER_FRONTENDS_SAFETENSORS_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::safetensors {

extern const frontends::Format kFormat;

}  // namespace ember::safetensors

#endif  // EMBER_FRONTENDS_SAFETENSORS_FORMAT_H_
