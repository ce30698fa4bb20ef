// Declares the format ONNX (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_ONNX_FORMAT_H_
#define EMBER_FRONTENDS_ONNX_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::onnx {

extern const frontends::Format kFormat;

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_FORMAT_H_
