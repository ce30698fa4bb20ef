// Declares the format TensorFlow (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_TENSORFLOW_FORMAT_H_
#define EMBER_FRONTENDS_TENSORFLOW_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::tensorflow {

extern const frontends::Format kFormat;

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_FORMAT_H_
