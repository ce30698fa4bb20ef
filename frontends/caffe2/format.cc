#include "frontends/caffe2/format.h"

#include "frontends/caffe2/import.h"
#include "frontends/caffe2/net.h"

namespace ember::caffe2 {
namespace {

constexpr std::string_view kExtensions[] = {"_net.pb", "_net.pbtxt"};
constexpr std::string_view kFolderFiles[] = {"predict_net.pb",
                                             "predict_net.pbtxt"};

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "caffe2",
    .title = "Caffe2 (predict_net.pb with init_net.pb beside it)",
    .extensions = kExtensions,
    .folder_files = kFolderFiles,
    .sniff = IsNet,
    .import = ImportModel,
    .inputs = ModelInputs,
};

}  // namespace ember::caffe2
