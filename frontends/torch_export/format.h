// Declares the format torch.export (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_FORMAT_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::torch_export {

extern const frontends::Format kFormat;

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_FORMAT_H_
