// Declares the format MXNet (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_MXNET_FORMAT_H_
#define EMBER_FRONTENDS_MXNET_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::mxnet {

extern const frontends::Format kFormat;

}  // namespace ember::mxnet

#endif  // EMBER_FRONTENDS_MXNET_FORMAT_H_
