#include "frontends/caffe2/format.h"

#include <string>

#include "frontends/caffe2/import.h"
#include "frontends/caffe2/net.h"
#include "frontends/folder_files.h"

namespace ember::caffe2 {
namespace {

constexpr std::string_view kExtensions[] = {"_net.pb", "_net.pbtxt"};

std::string FileOfFolder(const std::string& folder) {
  return frontends::FirstFileIn(folder,
                                {"predict_net.pb", "predict_net.pbtxt"});
}

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "caffe2",
    .title = "Caffe2 (predict_net.pb with init_net.pb beside it)",
    .extensions = kExtensions,
    .file_of_folder = FileOfFolder,
    .sniff = IsNet,
    .import = ImportModel,
    .inputs = ModelInputs,
};

}  // namespace ember::caffe2
