#include "frontends/torchscript/format.h"

#include "frontends/torchscript/import.h"

namespace ember::torchscript {
namespace {

constexpr std::string_view kExtensions[] = {".pt", ".ptl", ".pth"};

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "torchscript",
    .title = "TorchScript (.pt archives with code, as torch.jit.save writes)",
    .extensions = kExtensions,
    .sniff = IsArchive,
    .import = ImportModel,
    .inputs = ModelInputs,
};

}  // namespace ember::torchscript
