// torch.export as a row of frontends/registry/formats.cc.
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_FORMAT_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::torch_export {

extern const frontends::Format kFormat;

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_FORMAT_H_
