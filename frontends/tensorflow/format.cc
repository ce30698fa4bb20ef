#include "frontends/tensorflow/format.h"

#include <memory>
#include <string>
#include <vector>

#include "frontends/folder_files.h"
#include "frontends/tensorflow/entry.h"
#include "frontends/tensorflow/import.h"
#include "frontends/tensorflow/model.h"

namespace ember::tensorflow {
namespace {

StatusOr<std::vector<frontends::InputInfo>> Inputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model,
                         Model::Open(file));
  EMBER_ASSIGN_OR_RETURN(const Entry entry, FindEntry(*model, options.entry));
  std::vector<frontends::InputInfo> inputs;
  for (const EntryInput& input : entry.inputs)
    inputs.push_back({input.name, input.shape.has_value()});
  return inputs;
}

constexpr std::string_view kExtensions[] = {".pb", ".pbtxt"};

// Returns the model's file in the folder of a SavedModel.
std::string FileOfFolder(const std::string& folder) {
  return frontends::FirstFileIn(folder,
                                {"saved_model.pb", "saved_model.pbtxt"});
}

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "tensorflow",
    .title = "TensorFlow GraphDef (frozen) and SavedModel, of versions 1 and 2",
    .extensions = kExtensions,
    .file_of_folder = FileOfFolder,
    .sniff = Model::IsModel,
    .import = ImportModel,
    .inputs = Inputs,
};

}  // namespace ember::tensorflow
