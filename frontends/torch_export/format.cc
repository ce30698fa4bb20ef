#include "frontends/torch_export/format.h"

#include "frontends/torch_export/import.h"

namespace ember::torch_export {
namespace {

constexpr std::string_view kExtensions[] = {".pt2"};

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "torch-export",
    .title = "torch.export (.pt2 archives of PyTorch 2.3 and later)",
    .extensions = kExtensions,
    .sniff = IsArchive,
    .import = ImportModel,
    .inputs = ModelInputs,
};

}  // namespace ember::torch_export
