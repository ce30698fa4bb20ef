#include "frontends/tflite/format.h"

#include <string_view>

#include "frontends/tflite/import.h"
#include "frontends/tflite/model.h"

namespace ember::tflite {
namespace {

constexpr std::string_view kExtensions[] = {".tflite", ".lite"};

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "tflite",
    .title = "TensorFlow Lite (LiteRT), schema version 3",
    .extensions = kExtensions,
    .sniff = Model::IsModel,
    .import = ImportModel,
    .inputs = ModelInputs,
};

}  // namespace ember::tflite
