// Tests that loading a model of any format opens and parses its file once. The
// kernel counts the opens (inotify).
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "frontends/registry/formats.h"
#include "tests/formats/sample_files.h"
#include "tools/lib/models/load_model.h"
#include "vm/format/writer.h"

namespace ember::tests {
namespace {

// Counts how often files of a folder are opened.
class OpenCounter {
 public:
  explicit OpenCounter(const std::string& folder)
      : events_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    EXPECT_GE(inotify_add_watch(events_.get(), folder.c_str(), IN_OPEN), 0);
  }

  // Returns the number of opens of a file since the last call, and forgets
  // those of all files.
  int Take(std::string_view name) {
    int count = 0;
    alignas(inotify_event) char buffer[1 << 14];
    while (true) {
      const ssize_t size = read(events_.get(), buffer, sizeof buffer);
      if (size <= 0) return count;
      for (const char* at = buffer; at < buffer + size;) {
        inotify_event event;
        std::memcpy(&event, at, sizeof event);
        if (event.len > 0 && name == at + sizeof event) ++count;
        at += sizeof event + event.len;
      }
    }
  }

 private:
  FileDescriptor events_;
};

std::string NameOf(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

tools::LoadOptions OptionsOf(const SampleFile& file) {
  tools::LoadOptions options;
  for (const auto& [name, dims] : file.shapes)
    options.shapes.push_back({.name = name, .dims = dims});
  // No model has an input with this name. It makes the tools list the model's
  // inputs, which must not open the file a second time.
  options.inputs = {"no such input=1xf32"};
  return options;
}

TEST(OpenOnce, LoadingAModel) {
  std::set<std::string_view> formats;
  for (const SampleFile& file : SampleFiles()) {
    SCOPED_TRACE(file.path);
    OpenCounter opens(testing::TempDir());
    const auto model = tools::LoadModel(file.path, OptionsOf(file));
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    EXPECT_EQ(opens.Take(NameOf(file.path)), 1);
    formats.insert(file.format);
  }
  EXPECT_EQ(formats.size(), frontends::Formats().size());
}

TEST(OpenOnce, ListingInputsAndImportingTwiceParsesOnce) {
  for (const SampleFile& file : SampleFiles()) {
    SCOPED_TRACE(file.path);
    frontends::ModelFile model(file.path);
    const frontends::Format& format = FormatOf(file);
    frontends::ImportOptions options;
    options.input_shapes = file.shapes;
    ASSERT_TRUE(model.Map().ok());
    OpenCounter opens(testing::TempDir());
    const auto inputs = format.inputs(model, options);
    EXPECT_TRUE(inputs.ok()) << inputs.status().ToString();
    const auto first = format.import(model, options);
    ASSERT_TRUE(first.ok()) << first.status().ToString();
    const auto second = format.import(model, options);
    ASSERT_TRUE(second.ok()) << second.status().ToString();
    EXPECT_EQ(model.parse_count(), 1);
    EXPECT_EQ(first->metadata(), second->metadata());
    // model.Map() has opened the file already, so none of these calls may open
    // it again.
    EXPECT_EQ(opens.Take(NameOf(file.path)), 0);
  }
}

TEST(OpenOnce, LoadingAModule) {
  const SampleFile file = SampleFiles().front();
  const auto module = tools::CompileModel(file.path, {});
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  const std::string path = testing::TempDir() + "open_once.vmfb";
  ASSERT_TRUE(vm::WriteModule(*module, path).ok());
  OpenCounter opens(testing::TempDir());
  EXPECT_TRUE(tools::LoadModel(path, {}).ok());
  EXPECT_EQ(opens.Take("open_once.vmfb"), 1);
  EXPECT_TRUE(tools::LoadDefinition(path, {}).ok());
  EXPECT_EQ(opens.Take("open_once.vmfb"), 1);
}

}  // namespace
}  // namespace ember::tests
