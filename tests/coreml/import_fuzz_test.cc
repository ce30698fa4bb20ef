// Core ML's files from anyone: importing, compiling, loading and running them
// under limits must not do harm.
//
//   ./dev fuzz --seconds=3600 //tests/coreml:import_fuzz_test
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "compiler/compile.h"
#include "frontends/coreml/import.h"
#include "frontends/coreml/testing/sample_models.h"
#include "vm/format/writer.h"
#include "vm/runtime/module.h"
#include "vm/runtime/testing/run_anything.h"

namespace ember::tests {
namespace {

const std::string& Folder() {
  static const auto* const kFolder = [] {
    std::string folder =
        std::filesystem::temp_directory_path() / "ember_coreml_fuzz.XXXXXX";
    EMBER_CHECK(mkdtemp(folder.data()) != nullptr) << folder;
    std::atexit([] { std::filesystem::remove_all(Folder()); });
    return new std::string(folder);
  }();
  return *kFolder;
}

// The sample models as files, in a folder that joins the arguments.
void AddSamples(int* argc, char*** argv) {
  static std::string folder = Folder() + "/samples";
  std::filesystem::create_directory(folder);
  for (const auto& [name, bytes] : coreml::SampleModels())
    std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
  static std::vector<char*> arguments(*argv, *argv + *argc);
  arguments.push_back(folder.data());
  arguments.push_back(nullptr);
  *argv = arguments.data();
  ++*argc;
}

// An error is one line.
void CheckMessage(const Status& status) {
  EMBER_CHECK(status.message().find('\n') == std::string_view::npos)
      << status.ToString();
  EMBER_CHECK(!status.message().empty());
}

}  // namespace
}  // namespace ember::tests

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  // Not where one input is run again.
  for (int i = 1; i < *argc; ++i) {
    if (std::filesystem::is_regular_file((*argv)[i])) return 0;
  }
  ember::tests::AddSamples(argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  StatusOr<graph::Graph> graph =
      coreml::ImportModelBytes({data, size}, nullptr, {});
  if (!graph.ok()) {
    tests::CheckMessage(graph.status());
    return 0;
  }
  auto definition = compiler::Compile(*std::move(graph), {});
  if (!definition.ok()) {
    tests::CheckMessage(definition.status());
    return 0;
  }
  // What the compiler emits must pass the verifier, as a file too.
  auto file = vm::SerializeModule(*definition);
  EMBER_CHECK(file.ok()) << file.status().ToString();
  auto module = vm::Module::Load(*file, nullptr);
  EMBER_CHECK(module.ok()) << module.status().ToString();
  const Status ran = vm::RunAnything(*module, size);
  if (!ran.ok()) tests::CheckMessage(ran);
  return 0;
}
