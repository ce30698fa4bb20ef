#include "tools/lib/models/corpus.h"

#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "frontends/registry/formats.h"
#include "tools/lib/cli/paths.h"

namespace ember::tools {
namespace {

using Json = nlohmann::json;

bool Exists(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0;
}

Tolerance ToleranceOf(const Json& item) {
  // In the manifest the tolerance is null for items without recorded results.
  const Json& tolerance = item.at("tolerance");
  if (!tolerance.is_object()) return {};
  return {.rtol = tolerance.value("rtol", 0.0),
          .atol = tolerance.value("atol", 0.0),
          .integer_steps =
              IntegerStepsOfNote(tolerance.value("note", std::string()))};
}

// Returns the path of the model file, of any format, in an item's folder.
std::string ModelFile(const std::string& folder) {
  for (const frontends::Format* format : frontends::Formats()) {
    for (const std::string_view extension : format->extensions) {
      std::string path = folder + "/model" + std::string(extension);
      if (Exists(path)) return path;
    }
  }
  // In some formats the model is the folder itself, not a file in it.
  if (std::string file = frontends::FileOfModel(folder); file != folder)
    return file;
  return folder + "/model of a known format";
}

// Returns the entry of a TensorFlow graph without a signature: the names of the
// nodes that its data sets use as inputs and outputs. All data sets of an item
// name the same nodes.
std::string EntryOf(const Json& item) {
  if (item.value("format", "") != "graphdef" || item.at("sets").empty())
    return "";
  const Json& set = item.at("sets").front();
  std::string entry;
  const auto add = [&](const Json& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i)
      entry += (i > 0 ? "," : "") + tensors[i].front().get<std::string>();
  };
  add(set.at("inputs"));
  entry += "->";
  add(set.at("outputs"));
  return entry;
}

// True if the data sets were recorded by calling one model object several
// times, which kept its state between the calls.
bool CarriesState(const Json& item) {
  for (const Json& set : item.at("sets")) {
    const std::string what = set.value("desc", "");
    if (what.find("ONE module object") != std::string::npos) return true;
  }
  return false;
}

// Returns one case for each model file of an item, with the data sets that
// belong to that file.
std::vector<GoldenCase> CasesOf(const Json& item, const std::string& corpus,
                                const std::string& seeded) {
  const std::string folder = corpus + "/" + item.at("path").get<std::string>();
  const std::string name = folder.substr(folder.rfind('/') + 1);
  GoldenCase plain{
      item.at("id"), ModelFile(folder), {}, ToleranceOf(item), EntryOf(item)};
  plain.carries_state = CarriesState(item);
  GoldenCase with_weights{plain.name + " (seeded)",
                          seeded + "/" + name + ".onnx",
                          {},
                          plain.tolerance};
  for (const Json& set : item.at("sets")) {
    const std::string dir = set.at("dir");
    GoldenCase& owner = dir.starts_with("seeded/") ? with_weights : plain;
    owner.data_sets.push_back(folder + "/" + dir);
  }
  std::vector<GoldenCase> cases;
  if (!plain.data_sets.empty()) cases.push_back(plain);
  if (!with_weights.data_sets.empty()) cases.push_back(with_weights);
  return cases;
}

// True if the path begins with one of `folders`, a list separated by commas.
bool IsInFolders(std::string_view path, std::string_view folders) {
  while (!folders.empty()) {
    const size_t comma = std::min(folders.find(','), folders.size());
    if (path.starts_with(folders.substr(0, comma))) return true;
    folders.remove_prefix(std::min(comma + 1, folders.size()));
  }
  return false;
}

}  // namespace

StatusOr<std::vector<GoldenCase>> ReadCorpus(const CorpusOptions& options) {
  const std::string corpus = UserPath(options.folder);
  const std::string seeded = UserPath(options.seeded);
  EMBER_ASSIGN_OR_RETURN(const std::string text,
                         ReadFile(corpus + "/manifest.json"));
  const Json manifest = Json::parse(text, nullptr, false);
  if (manifest.is_discarded() || !manifest.contains("items")) {
    return InvalidArgumentError(
        corpus + "/manifest.json: expected an object with 'items'");
  }
  std::vector<GoldenCase> cases;
  for (const Json& item : manifest["items"]) {
    const std::string path = item.value("path", "");
    if (!options.parts.empty() && !IsInFolders(path, options.parts)) continue;
    for (GoldenCase& found : CasesOf(item, corpus, seeded))
      cases.push_back(std::move(found));
  }
  return cases;
}

}  // namespace ember::tools
