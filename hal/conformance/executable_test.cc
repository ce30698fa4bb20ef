#include "hal/conformance/suite.h"

namespace ember::hal {
namespace {

// out[chunk] = in[chunk] * parameter
void Scale(const int64_t* parameters, void* const* buffers, int64_t chunk,
           int32_t) {
  static_cast<int64_t*>(buffers[1])[chunk] =
      static_cast<const int64_t*>(buffers[0])[chunk] * parameters[0];
}

constexpr const char* kFeature = "executables";

ExecutableDefinition ScaleDefinition() {
  ExecutableDefinition definition;
  definition.name = "scale";
  definition.format = "host-function";
  definition.function = Scale;
  definition.binding_count = 2;
  definition.parameter_count = 1;
  return definition;
}

// Every driver has its own formats; none has this one.
TEST_F(Conformance, RefusesAnUnknownFormat) {
  ExecutableDefinition definition = ScaleDefinition();
  definition.format = "punched-tape";
  EXPECT_EQ(device().LoadExecutable(definition).status().code(),
            StatusCode::kUnimplemented);
}

TEST_F(Conformance, RunsEveryChunkOnce) {
  EMBER_REQUIRE(executable, device().LoadExecutable(ScaleDefinition()),
                kFeature);
  constexpr int kCount = 3 * 5 * 7;
  EMBER_REQUIRE(in, device().Allocate(kCount * 8, MemoryKind::kHostVisible),
                "host-visible memory");
  EMBER_REQUIRE(out,
                device().Allocate(kCount * 8 + 8, MemoryKind::kHostVisible),
                "host-visible memory");
  for (int i = 0; i < kCount; ++i)
    static_cast<int64_t*>(in->host_data())[i] = i + 1;
  EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
  const BufferRange bindings[] = {{in.get(), 0, kCount * 8},
                                  {out.get(), 8, kCount * 8}};
  const int64_t parameters[] = {-3};
  EMBER_EXPECT_OK(list->Dispatch(
      *executable,
      {.chunks = {3, 5, 7}, .bindings = bindings, .parameters = parameters}));
  EMBER_REQUIRE(fence, device().Submit(*list), "command lists");
  EMBER_EXPECT_OK(fence->Wait());
  const int64_t* results = static_cast<const int64_t*>(out->host_data());
  EXPECT_EQ(results[0], 0);
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(results[i + 1], -3 * (i + 1)) << i;
}

TEST_F(Conformance, RefusesWrongArguments) {
  EMBER_REQUIRE(executable, device().LoadExecutable(ScaleDefinition()),
                kFeature);
  EMBER_REQUIRE(buffer, device().Allocate(64, MemoryKind::kHostVisible),
                "host-visible memory");
  EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
  const BufferRange bindings[] = {{buffer.get(), 0, 64}, {buffer.get(), 0, 64}};
  const BufferRange outside[] = {{buffer.get(), 0, 64}, {buffer.get(), 32, 64}};
  const int64_t parameters[] = {1};
  const std::span<const BufferRange> one_binding(bindings, 1);
  EXPECT_FALSE(list->Dispatch(*executable, {.bindings = one_binding,
                                            .parameters = parameters})
                   .ok());
  EXPECT_FALSE(list->Dispatch(*executable, {.bindings = bindings}).ok());
  EXPECT_FALSE(list->Dispatch(*executable,
                              {.bindings = outside, .parameters = parameters})
                   .ok());
  EXPECT_FALSE(list->Dispatch(*executable, {.chunks = {-1, 1, 1},
                                            .bindings = bindings,
                                            .parameters = parameters})
                   .ok());
}

}  // namespace
}  // namespace ember::hal
