// Declares the format Keras (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_KERAS_FORMAT_H_
#define EMBER_FRONTENDS_KERAS_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::keras {

extern const frontends::Format kFormat;

}  // namespace ember::keras

#endif  // EMBER_FRONTENDS_KERAS_FORMAT_H_
