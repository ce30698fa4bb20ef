// Declares the format Caffe2 (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_CAFFE2_FORMAT_H_
#define EMBER_FRONTENDS_CAFFE2_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::caffe2 {

extern const frontends::Format kFormat;

}  // namespace ember::caffe2

#endif  // EMBER_FRONTENDS_CAFFE2_FORMAT_H_
