#include "frontends/tflite/format.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/file.h"
#include "frontends/tflite/entry.h"
#include "frontends/tflite/import.h"
#include "frontends/tflite/model.h"

namespace ember::tflite {
namespace {

StatusOr<std::vector<frontends::InputInfo>> Inputs(
    const std::string& path, const frontends::ImportOptions& options) {
  EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  auto owner = std::make_shared<const MappedFile>(std::move(file));
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const Model> model,
                         Model::Read(owner->bytes(), owner));
  EMBER_ASSIGN_OR_RETURN(const Entry entry, FindEntry(*model, options.entry));
  std::vector<frontends::InputInfo> inputs;
  for (const EntryTensor& input : entry.inputs) inputs.push_back({input.name});
  return inputs;
}

constexpr std::string_view kExtensions[] = {".tflite", ".lite"};

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "tflite",
    .title = "TensorFlow Lite (LiteRT), schema version 3",
    .extensions = kExtensions,
    .sniff = Model::IsModel,
    .import = ImportModel,
    .inputs = Inputs,
};

}  // namespace ember::tflite
