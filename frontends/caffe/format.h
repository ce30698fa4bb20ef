// Declares the format Caffe (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_CAFFE_FORMAT_H_
#define EMBER_FRONTENDS_CAFFE_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::caffe {

extern const frontends::Format kFormat;

}  // namespace ember::caffe

#endif  // EMBER_FRONTENDS_CAFFE_FORMAT_H_
