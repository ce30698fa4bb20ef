#include "frontends/coreml/format.h"

#include "frontends/coreml/import.h"
#include "frontends/coreml/model.h"

namespace ember::coreml {
namespace {

constexpr std::string_view kExtensions[] = {".mlmodel", ".mlpackage"};

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "coreml",
    .title = "Core ML, specification versions 1 to 9",
    .extensions = kExtensions,
    .file_of_folder = FileOfPackage,
    .sniff = IsModel,
    .import = ImportModel,
    .inputs = ModelInputs,
};

}  // namespace ember::coreml
