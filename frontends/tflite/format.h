// Declares the format TensorFlow Lite (frontends/frontend.h), which
// frontends/registry/formats.cc lists.
#ifndef EMBER_FRONTENDS_TFLITE_FORMAT_H_
#define EMBER_FRONTENDS_TFLITE_FORMAT_H_

#include "frontends/frontend.h"

namespace ember::tflite {

extern const frontends::Format kFormat;

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_FORMAT_H_
