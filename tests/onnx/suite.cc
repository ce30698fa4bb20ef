#include "tests/onnx/suite.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"

namespace ember::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

bool Matches(const std::string& filter, const std::string& name) {
  return filter.empty() || fnmatch(filter.c_str(), name.c_str(), 0) == 0;
}

// Returns the last `count` components of a path.
std::string Tail(const fs::path& path, int count) {
  fs::path tail;
  fs::path rest = path;
  for (int i = 0; i < count && rest.has_filename();
       ++i, rest = rest.parent_path()) {
    tail = tail.empty() ? rest.filename() : rest.filename() / tail;
  }
  return tail.generic_string();
}

void Apply(const Json& item, TestCase& test_case) {
  if (item.contains("tolerance")) {
    const Json& tolerance = item["tolerance"];
    test_case.tolerance.rtol =
        tolerance.value("rtol", test_case.tolerance.rtol);
    test_case.tolerance.atol =
        tolerance.value("atol", test_case.tolerance.atol);
    test_case.tolerance.integer_steps =
        tools::IntegerStepsOfNote(tolerance.value("note", ""));
  }
  if (item.contains("flags")) {
    for (const Json& flag : item["flags"]) {
      const bool random =
          flag.get<std::string>().rfind("nondeterministic", 0) == 0;
      test_case.check_values = test_case.check_values && !random;
    }
  }
  if (item.contains("ops")) {
    for (const auto& [name, count] : item["ops"].items())
      test_case.operators.push_back(name);
  }
}

}  // namespace

StatusOr<std::vector<TestCase>> FindCases(const std::string& suite,
                                          const std::string& filter) {
  std::error_code error;
  const fs::path root = fs::canonical(suite, error);
  if (error) return NotFoundError("suite '" + suite + "': " + error.message());
  std::vector<TestCase> cases;
  fs::recursive_directory_iterator entries(root, error);
  for (; !error && entries != fs::recursive_directory_iterator();
       entries.increment(error)) {
    if (entries->path().filename() != "model.onnx") continue;
    TestCase found;
    found.folder = entries->path().parent_path().string();
    found.name = fs::relative(found.folder, root).generic_string();
    if (Matches(filter, found.name)) cases.push_back(std::move(found));
  }
  if (error) return NotFoundError("suite '" + suite + "': " + error.message());
  std::sort(
      cases.begin(), cases.end(),
      [](const TestCase& a, const TestCase& b) { return a.name < b.name; });
  return cases;
}

StatusOr<std::vector<std::string>> FindDataSets(const TestCase& test_case) {
  std::vector<std::string> sets;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(test_case.folder, error)) {
    if (entry.is_directory() &&
        entry.path().filename().string().rfind("test_data_set_", 0) == 0) {
      sets.push_back(entry.path().string());
    }
  }
  if (error)
    return NotFoundError("case '" + test_case.name + "': " + error.message());
  std::sort(sets.begin(), sets.end());
  return sets;
}

Status ApplyManifest(const std::string& path, std::vector<TestCase>& cases) {
  EMBER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const Json manifest = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object() || !manifest.contains("items")) {
    return InvalidArgumentError("manifest '" + path +
                                "': expected a JSON object with 'items'");
  }
  std::map<std::string, const Json*> items;
  for (const Json& item : manifest["items"]) {
    if (item.contains("path")) items[item["path"].get<std::string>()] = &item;
  }
  for (TestCase& test_case : cases) {
    for (int parts = 2; parts <= 5; ++parts) {
      auto item = items.find(Tail(test_case.folder, parts));
      if (item == items.end()) continue;
      Apply(*item->second, test_case);
      break;
    }
  }
  return OkStatus();
}

}  // namespace ember::tests
