#include <algorithm>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

#include "hal/conformance/suite.h"

namespace ember::hal {
namespace {

constexpr const char* kFeature = "executables";

uint32_t* Integers(Buffer& buffer) {
  return static_cast<uint32_t*>(buffer.host_data());
}

// Loading an executable of a format that no driver supports must be
// Unimplemented.
TEST_F(Conformance, RefusesAnUnknownFormat) {
  ExecutableDefinition definition;
  definition.name = "scale";
  definition.format = "punched-tape";
  EXPECT_EQ(device().LoadExecutable(definition).status().code(),
            StatusCode::kUnimplemented);
}

TEST_F(Conformance, RunsEveryChunkOnce) {
  EMBER_REQUIRE(executable, Load(Kernel::kScale), kFeature);
  constexpr int kCount = 3 * 5 * 7;
  // The output is bound at an offset, to check that kernels write relative to
  // it: the smallest offset that the device's alignment allows.
  const int64_t shift =
      std::max<int64_t>(device().limits().binding_alignment, sizeof(uint32_t));
  EMBER_REQUIRE(in, device().Allocate(kCount * 4, MemoryKind::kHostVisible),
                "host-visible memory");
  EMBER_REQUIRE(out,
                device().Allocate(kCount * 4 + shift, MemoryKind::kHostVisible),
                "host-visible memory");
  for (uint32_t i = 0; i < kCount; ++i) Integers(*in)[i] = i + 1;
  EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
  const BufferRange bindings[] = {{in.get(), 0, kCount * 4},
                                  {out.get(), shift, kCount * 4}};
  const int64_t parameters[] = {-3};
  EMBER_EXPECT_OK(list->Dispatch(
      *executable,
      {.chunks = {3, 5, 7}, .bindings = bindings, .parameters = parameters}));
  EMBER_REQUIRE(fence, device().Submit(*list), "command lists");
  EMBER_EXPECT_OK(fence->Wait());
  const uint32_t* results = Integers(*out) + shift / 4;
  for (uint32_t* before = Integers(*out); before < results; ++before)
    EXPECT_EQ(*before, 0u);
  for (int i = 0; i < kCount; ++i)
    EXPECT_EQ(static_cast<int32_t>(results[i]), -3 * (i + 1)) << i;
}

TEST_F(Conformance, RunsWithoutBindingsAndWithoutChunks) {
  EMBER_REQUIRE(nothing, Load(Kernel::kNothing), kFeature);
  EMBER_REQUIRE(scale, Load(Kernel::kScale), kFeature);
  EMBER_REQUIRE(buffer, device().Allocate(4, MemoryKind::kHostVisible),
                "host-visible memory");
  Integers(*buffer)[0] = 5;
  EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
  EMBER_EXPECT_OK(list->Dispatch(*nothing, {}));
  const int64_t parameters[] = {2};
  const BufferRange all[] = {{buffer.get(), 0, 4}, {buffer.get(), 0, 4}};
  const BufferRange empty[] = {{buffer.get(), 0, 0}, {buffer.get(), 0, 0}};
  for (const auto& bindings : {all, empty}) {
    EMBER_EXPECT_OK(list->Dispatch(*scale, {.chunks = {1, 0, 1},
                                            .bindings = {bindings, 2},
                                            .parameters = parameters}));
  }
  EMBER_REQUIRE(fence, device().Submit(*list), "command lists");
  EMBER_EXPECT_OK(fence->Wait());
  EXPECT_EQ(Integers(*buffer)[0], 5u);
}

TEST_F(Conformance, RefusesWrongArguments) {
  EMBER_REQUIRE(executable, Load(Kernel::kScale), kFeature);
  EMBER_REQUIRE(buffer, device().Allocate(64, MemoryKind::kHostVisible),
                "host-visible memory");
  EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
  const BufferRange bindings[] = {{buffer.get(), 0, 64}, {buffer.get(), 0, 64}};
  const BufferRange outside[] = {{buffer.get(), 0, 64}, {buffer.get(), 32, 64}};
  const int64_t parameters[] = {1};
  const std::span<const BufferRange> one_binding(bindings, 1);
  const auto refusal = [&](const DispatchArguments& arguments) {
    return list->Dispatch(*executable, arguments).code();
  };
  EXPECT_EQ(refusal({.bindings = one_binding, .parameters = parameters}),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({.bindings = bindings}), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({.bindings = outside, .parameters = parameters}),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({.chunks = {-1, 1, 1},
                     .bindings = bindings,
                     .parameters = parameters}),
            StatusCode::kInvalidArgument);
}

TEST_F(Conformance, HoldsItsLimits) {
  const DeviceLimits limits = device().limits();
  EXPECT_GT(limits.binding_alignment, 0);
  EXPECT_EQ(limits.binding_alignment & (limits.binding_alignment - 1), 0);
  EXPECT_GE(limits.binding_bytes, 1 << 24);
  EXPECT_GE(limits.binding_count, 4);
  EXPECT_GE(limits.parameter_count, 8);
  if (limits.map_count > 0) {
    EXPECT_EQ(limits.binding_alignment % 16, 0);
  }
  EMBER_REQUIRE(executable, Load(Kernel::kScale), kFeature);
  constexpr int kCount = 1024;
  EMBER_REQUIRE(buffer, device().Allocate(kCount * 4, MemoryKind::kHostVisible),
                "host-visible memory");
  EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
  const int64_t parameters[] = {1};
  const BufferRange all[] = {{buffer.get(), 0, kCount * 4},
                             {buffer.get(), 0, kCount * 4}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_GE(limits.chunks[i], 65535);
    EXPECT_LE(limits.chunks[i], DeviceLimits::kMaxChunks);
    DispatchArguments arguments = {.bindings = all, .parameters = parameters};
    arguments.chunks[i] = limits.chunks[i] + 1;
    const Status status = list->Dispatch(*executable, arguments);
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
    EXPECT_NE(status.message().find(std::to_string(limits.chunks[i])),
              std::string_view::npos)
        << status.message();
  }
  if (limits.binding_alignment > 1) {
    const int64_t offset = limits.binding_alignment / 2;
    const BufferRange shifted[] = {all[0], {buffer.get(), offset, 64}};
    const Status status = list->Dispatch(
        *executable, {.bindings = shifted, .parameters = parameters});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("binding 1"), std::string_view::npos)
        << status.message();
  }
  // If the device has a limit on bindings or parameters, code with one more
  // than the limit must be refused when it is loaded.
  for (std::string_view format : kFormats) {
    const KernelCode code(Kernel::kScale, format);
    ExecutableDefinition definition = code.definition();
    if (device().LoadExecutable(definition).status().code() ==
        StatusCode::kUnimplemented)
      continue;
    if (limits.parameter_count < INT_MAX) {
      definition.parameter_count = limits.parameter_count + 1;
      EXPECT_EQ(device().LoadExecutable(definition).status().code(),
                StatusCode::kResourceExhausted);
    }
    definition = code.definition();
    if (limits.binding_count < INT_MAX) {
      definition.binding_count = limits.binding_count + 1;
      EXPECT_EQ(device().LoadExecutable(definition).status().code(),
                StatusCode::kResourceExhausted);
    }
    definition = code.definition();
    const std::vector<BoxMap> maps(
        static_cast<size_t>(limits.map_count) + 1,
        {.binding = 1, .element_bytes = 4, .dims = 2, .box = {2, 4}});
    definition.maps = std::span(maps).first(maps.size() - 1);
    EXPECT_TRUE(device().LoadExecutable(definition).ok());
    definition.maps = maps;
    EXPECT_EQ(device().LoadExecutable(definition).status().code(),
              limits.map_count == 0 ? StatusCode::kUnimplemented
                                    : StatusCode::kResourceExhausted);
  }
}

// Each submission reads values that the previous submission wrote. No fence is
// awaited in between, so the results are right only if submissions run in
// order.
TEST_F(Conformance, SubmissionsRunInOrder) {
  EMBER_REQUIRE(executable, Load(Kernel::kScale), kFeature);
  constexpr int kCount = 1000;
  constexpr int64_t kBytes = kCount * 4;
  EMBER_REQUIRE(a, device().Allocate(kBytes, MemoryKind::kDeviceLocal),
                "device memory");
  EMBER_REQUIRE(b, device().Allocate(kBytes, MemoryKind::kDeviceLocal),
                "device memory");
  std::vector<uint32_t> values(kCount);
  for (uint32_t i = 0; i < kCount; ++i) values[i] = i;
  EMBER_EXPECT_OK(
      Write(*a, {reinterpret_cast<const uint8_t*>(values.data()), kBytes}));

  const int64_t three[] = {3}, five[] = {5};
  const BufferRange forth[] = {{a.get(), 0, kBytes}, {b.get(), 0, kBytes}};
  const BufferRange back[] = {{b.get(), 0, kBytes}, {a.get(), 0, kBytes}};
  EMBER_REQUIRE(first, device().CreateCommandList(), "command lists");
  EMBER_EXPECT_OK(first->Dispatch(
      *executable,
      {.chunks = {kCount, 1, 1}, .bindings = forth, .parameters = three}));
  EMBER_REQUIRE(second, device().CreateCommandList(), "command lists");
  EMBER_EXPECT_OK(second->Dispatch(
      *executable,
      {.chunks = {kCount, 1, 1}, .bindings = back, .parameters = five}));
  // Each run submits both lists (`first` and `second`). All submissions are
  // made before any of them is awaited.
  constexpr int kRuns = 20;
  uint32_t factor = 1;
  std::vector<std::unique_ptr<Fence>> fences;
  for (int run = 0; run < kRuns; ++run) {
    EMBER_REQUIRE(one, device().Submit(*first), "command lists");
    EMBER_REQUIRE(two, device().Submit(*second), "command lists");
    fences.push_back(std::move(one));
    fences.push_back(std::move(two));
    factor *= 15;
  }
  EMBER_EXPECT_OK(fences.back()->Wait());
  for (const std::unique_ptr<Fence>& fence : fences) {
    EXPECT_TRUE(fence->done());
    EMBER_EXPECT_OK(fence->Wait());
  }
  EMBER_REQUIRE(bytes, Read(*a), "command lists");
  for (uint32_t i = 0; i < kCount; ++i) {
    uint32_t found = 0;
    std::memcpy(&found, &bytes[i * 4], 4);
    ASSERT_EQ(found, i * factor) << i;
  }
}

// Records more dispatches in a list than a driver's initial pools hold. Each
// dispatch reads values that the previous one wrote, so they need barriers, and
// each has different bindings.
TEST_F(Conformance, ReplaysALongList) {
  EMBER_REQUIRE(executable, Load(Kernel::kScale), kFeature);
  constexpr int kLength = 700;
  const int64_t step =
      std::max<int64_t>(device().limits().binding_alignment, 4);
  EMBER_REQUIRE(
      buffer, device().Allocate((kLength + 1) * step, MemoryKind::kHostVisible),
      "host-visible memory");
  EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
  for (int i = 0; i < kLength; ++i) {
    const BufferRange bindings[] = {{buffer.get(), i * step, 4},
                                    {buffer.get(), (i + 1) * step, 4}};
    const int64_t parameters[] = {i % 2 == 0 ? 3 : 7};
    EMBER_EXPECT_OK(list->Dispatch(
        *executable, {.bindings = bindings, .parameters = parameters}));
    EMBER_EXPECT_OK(list->Barrier());
  }
  for (uint32_t run = 1; run <= 5; ++run) {
    // The host changes the first value between submissions, so each submission
    // of the same list must give other results.
    Integers(*buffer)[0] = run;
    EMBER_REQUIRE(fence, device().Submit(*list), "command lists");
    EMBER_EXPECT_OK(fence->Wait());
    uint32_t expected = run;
    for (int i = 0; i < kLength; ++i) {
      expected *= i % 2 == 0 ? 3 : 7;
      ASSERT_EQ(Integers(*buffer)[(i + 1) * step / 4], expected) << i;
    }
  }
}

TEST_F(Conformance, ListsGrowAfterASubmission) {
  EMBER_REQUIRE(executable, Load(Kernel::kScale), kFeature);
  EMBER_REQUIRE(buffer, device().Allocate(4, MemoryKind::kHostVisible),
                "host-visible memory");
  EMBER_REQUIRE(list, device().CreateCommandList(), "command lists");
  const BufferRange bindings[] = {{buffer.get(), 0, 4}, {buffer.get(), 0, 4}};
  const int64_t parameters[] = {2};
  uint32_t expected = 1;
  Integers(*buffer)[0] = 1;
  for (int length = 1; length < 5; ++length) {
    EMBER_EXPECT_OK(list->Barrier());
    EMBER_EXPECT_OK(list->Dispatch(
        *executable, {.bindings = bindings, .parameters = parameters}));
    EMBER_REQUIRE(fence, device().Submit(*list), "command lists");
    EMBER_EXPECT_OK(fence->Wait());
    expected <<= length;
    EXPECT_EQ(Integers(*buffer)[0], expected) << length;
  }
}

}  // namespace
}  // namespace ember::hal
