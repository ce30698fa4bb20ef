// Tests compiling on several threads at once: each thread must get its own
// result, error message and cancellation.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tools/compiler_api/ember_compiler.h"

namespace {

const EmberCompilerApi& Api() {
  return *ember_get_compiler_api(EMBER_COMPILER_API_VERSION);
}

// Returns a model in which `count` StableHLO operators named `op` are applied
// one after the other. A name that does not exist makes the import fail.
std::string Model(const std::string& op, int count) {
  std::string text =
      "module @m {\n"
      "  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n";
  std::string last = "%x";
  for (int i = 0; i < count; ++i) {
    const std::string name = "%" + std::to_string(i);
    text += "    " + name + " = stablehlo." + op + " " + last +
            ", %x : tensor<2xf32>\n";
    last = name;
  }
  return text + "    return " + last + " : tensor<2xf32>\n  }\n}\n";
}

EmberCompileOptions OptionsOf(const std::string& model) {
  EmberCompileOptions options = {};
  options.struct_size = sizeof(options);
  options.data = model.data();
  options.data_size = model.size();
  return options;
}

TEST(CompilerThreadsTest, EachThreadHasItsOwnResultAndMessage) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([number] {
      const std::string wrong = Model("wrong" + std::to_string(number), 1);
      const std::string right = Model("add", number + 1);
      for (int i = 0; i < 20; ++i) {
        EmberCompilation* compilation = nullptr;
        EmberCompileOptions options = OptionsOf(wrong);
        EXPECT_EQ(Api().compile(&options, &compilation), EMBER_UNIMPLEMENTED);
        EXPECT_NE(std::string(Api().error_message())
                      .find("wrong" + std::to_string(number)),
                  std::string::npos);
        Api().compilation_release(compilation);
        options = OptionsOf(right);
        EXPECT_EQ(Api().compile(&options, &compilation), EMBER_OK)
            << Api().error_message();
        Api().compilation_release(compilation);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CompilerThreadsTest, ManyThreadsReadOneCompilation) {
  const std::string model = Model("add", 3);
  const EmberCompileOptions options = OptionsOf(model);
  EmberCompilation* compilation = nullptr;
  ASSERT_EQ(Api().compile(&options, &compilation), EMBER_OK);
  std::vector<const void*> found(4);
  std::vector<std::thread> threads;
  for (const void*& data : found) {
    threads.emplace_back([&data, compilation] {
      size_t size = 0;
      EXPECT_EQ(Api().compilation_module(compilation, &data, &size), EMBER_OK);
      EXPECT_GT(size, 64u);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const void* data : found) EXPECT_EQ(data, found[0]);
  Api().compilation_release(compilation);
}

TEST(CompilerThreadsTest, AnotherThreadCancels) {
  const std::string model = Model("add", 20000);
  EmberCancelToken* token = nullptr;
  ASSERT_EQ(Api().cancel_token_create(&token), EMBER_OK);
  std::atomic<bool> has_begun{false};
  // The other thread waits until the compilation has begun its first step, and
  // then cancels it.
  const EmberProgress progress = {
      sizeof(progress), &has_begun,
      [](void* context, const EmberProgressEvent*) -> int32_t {
        static_cast<std::atomic<bool>*>(context)->store(true);
        return 1;
      }};
  EmberCompileOptions options = OptionsOf(model);
  options.cancel = token;
  options.progress = &progress;
  std::thread canceller([&] {
    while (!has_begun) std::this_thread::yield();
    Api().cancel_token_cancel(token);
  });
  EmberCompilation* compilation = nullptr;
  EXPECT_EQ(Api().compile(&options, &compilation), EMBER_CANCELLED);
  canceller.join();
  EXPECT_STREQ(Api().error_message(),
               "the compilation was cancelled by its token");
  Api().compilation_release(compilation);
  Api().cancel_token_release(token);
}

}  // namespace
