// Declares the format GGUF (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_GGUF_FORMAT_H_
#define EMBER_FRONTENDS_GGUF_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::gguf {

extern const frontends::Format kFormat;

}  // namespace ember::gguf

#endif  // EMBER_FRONTENDS_GGUF_FORMAT_H_
