// Tests the C++17 wrapper by using it as an application does. The arguments are
// files with the modules "static" and "loop" of
// vm/isa/testing/sample_modules.cc. The test is built as C++17, with exceptions
// and without.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "vm/api/ember.hpp"

namespace {

int failures = 0;

#define EXPECT(condition)                                                 \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                         \
    }                                                                     \
  } while (false)

constexpr int64_t kDims[] = {2, 3};
const std::vector<float> kX = {1, 2, 3, -1, 0, 1};

void TestRun(const ember::Module& module) {
  ember::Session session = ember::Session::Create(module).value();
  session.SetInput(0, ember::View<float>(kX, kDims)).value();
  session.Run().value();
  const auto z = session.Get<float>(0).value();
  EXPECT(z.dims().size() == 2 && z.dims()[0] == 2 && z.dims()[1] == 2);
  EXPECT((std::vector<float>(z.begin(), z.end()) ==
          std::vector<float>{0, 6.25f, 0, 1.75f}));
  EXPECT(module.metadata().size() == 2);
  EXPECT(module.metadata()[1].first == "labels");
  EXPECT(module.metadata()[1].second == module.metadata("labels"));
  EXPECT(module.metadata("none") == nullptr);
  EXPECT(session.Get<int32_t>(0).message() ==
         "result 0: expected EmberType 3, found 11");

  std::vector<float> place(4);
  session.SetOutput<float>(0, place).value();
  ember::Fence fence = session.RunAsync().value();
  fence.Wait().value();
  EXPECT(fence.is_signalled());
  EXPECT(place[1] == 6.25f);
  EXPECT(session.Get<float>(0).value().data() == place.data());
}

void TestProgress(const char* path) {
  EmberModuleOptions options = ember::ModuleOptions();
  options.path = path;
  int64_t steps = 0, total = 0;
  const auto count = [&](const EmberProgressEvent& event) {
    ++steps;
    total = event.total;
    return true;
  };
  EXPECT(ember::Module::Load(options, count).ok());
  EXPECT(steps == total && total > 0);
  const auto stop = [](const EmberProgressEvent&) { return false; };
  EXPECT(ember::Module::Load(options, stop).status() == EMBER_CANCELLED);
  EXPECT(ember::Module::Load(options, nullptr).ok());
}

void TestErrors(const ember::Module& module) {
  const auto missing = ember::Module::Load("/nonexistent.vmfb");
  EXPECT(!missing.ok() && missing.status() == EMBER_NOT_FOUND);
  EXPECT(missing.message() ==
         "cannot open file '/nonexistent.vmfb': No such file or directory");
#if EMBER_HAS_EXCEPTIONS
  bool caught = false;
  try {
    ember::Module::Load("/nonexistent.vmfb").value();
  } catch (const ember::Error& error) {
    caught = error.status() == EMBER_NOT_FOUND &&
             std::strstr(error.what(), "cannot open file") != nullptr;
  }
  EXPECT(caught);
#endif
  ember::Session session = ember::Session::Create(module).value();
  EXPECT(session.Run().status() == EMBER_INVALID_ARGUMENT);
  EXPECT(session.Get<float>(0).status() == EMBER_FAILED_PRECONDITION);
}

void TestShapes(const ember::Module& loop) {
  EXPECT(loop.input_count() == 1 && loop.result_count() == 1);
  EXPECT(loop.input_info(0).value().dims[0] == -1);
  EXPECT((loop.ResultShape({{5, 4}}, 0).value() == std::vector<int64_t>{5, 4}));
  EXPECT((loop.ResultShape({{5, 3}}, 0).message()) ==
         "input 'x': expected Nx4xf32, found 5x3xf32");
}

void TestReader(const char* path) {
  std::vector<uint8_t> bytes;
  std::FILE* const file = std::fopen(path, "rb");
  EXPECT(file != nullptr);
  if (file == nullptr) return;
  for (int c; (c = std::fgetc(file)) != EOF;)
    bytes.push_back(static_cast<uint8_t>(c));
  std::fclose(file);
  const ember::Module module =
      ember::Module::Load(bytes.size(), [&](uint64_t offset, void* to,
                                            size_t size) {
        const size_t piece = size < 1000 ? size : 1000;
        std::memcpy(to, bytes.data() + offset, piece);
        return static_cast<int64_t>(piece);
      }).value();
  EXPECT(module.input_count() == 1);
  EXPECT(ember::Module::Load(ember::Span<const uint8_t>(bytes)).ok());
}

}  // namespace

// main does not catch exceptions, so an exception ends the test as a failure.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const ember::Module module = ember::Module::Load(argv[1]).value();
  TestRun(module);
  TestErrors(module);
  TestShapes(ember::Module::Load(argv[2]).value());
  TestReader(argv[1]);
  TestProgress(argv[1]);
  if (failures == 0) std::puts("PASSED");
  return failures == 0 ? 0 : 1;
}
