// Tests the installation of native sections: which section is used, which are
// refused and why, and that no section is used without permission. The kernels
// are hand-written text. They do almost nothing, so that the results show which
// kernels ran.
#include "vm/runtime/dispatch/native_kernels.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/target_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "hal/cpu/target.h"
#include "vm/format/kernel_image_text.h"
#include "vm/format/native_kernels.h"
#include "vm/format/native_section.h"
#include "vm/format/native_table.h"
#include "vm/format/overlay.h"
#include "vm/format/writer.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Machine code of three functions. kReturns0 returns 0 and kReturns1 returns 1.
// kCopies copies 16 bytes of buffer 3 to buffer 2 and returns 0; at its offset
// 32 is a function that returns 1.
#if defined(__x86_64__)
constexpr const char* kCopies =
    "488b4618488b56100f10000f110231c0c3909090909090909090909090909090"
    "b801000000c39090";
// a feature that every processor of this kind has
constexpr const char* kBaseline = "+v2";
constexpr const char* kReturns0 = "31c0c390";
constexpr const char* kReturns1 = "b801000000c39090";
#elif defined(__aarch64__)
constexpr const char* kCopies =
    "230c40f9240840f96000c03d8000803d00008052c0035fd60000000000000000"
    "20008052c0035fd6";
constexpr const char* kBaseline = "+neon";
constexpr const char* kReturns0 = "00008052c0035fd6";
constexpr const char* kReturns1 = "20008052c0035fd6";
#else
#error "a function that returns 0, in machine code, is missing here"
#endif

std::string Kind() { return std::string(TargetText(hal::HostTarget()).name()); }

// The text of a kernel for the dispatch @gemm of the sample "static".
constexpr const char* kGemm = R"(kernel "gemm" for "any" {
  tier 2
  %0: i64 = constant 2
  %1: i64 = constant 3
  input "x": f32[%0, %1] align 4
  input "w": f32[%1, %0] align 4
  output "y": f32[%0, %0] align 4
  phase tasks %0
  code machine-code align 16 entries 0 { "CODE" }
})";
// The text of a kernel for @bias_relu, whose buffers have other dims than the
// dispatch's.
constexpr const char* kBiasRelu = R"(kernel "bias_relu" for "any" {
  tier 2
  %0: i64 = constant 2
  %1: i64 = constant 4
  input "x": f32[%1] align 4 overwritten
  input "b": f32[%0] align 4
  output "y": f32[%1] align 4
  phase tasks %0
  code machine-code align 16 entries 0 { "CODE" }
})";

std::string With(std::string text, const std::string& from,
                 const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

KernelImage ImageOf(const std::string& text, const char* code = kReturns0) {
  auto image = ParseKernelImage(With(text, "CODE", code));
  EXPECT_TRUE(image.ok()) << image.status().ToString();
  return *std::move(image);
}

NativeKernel Gemm(const std::string& text = kGemm,
                  const char* code = kReturns0) {
  return {0, {{-1, 0}, {0, 0}}, ImageOf(text, code), {}, nullptr};
}
NativeKernel BiasRelu(const std::string& text = kBiasRelu,
                      const char* code = kReturns0) {
  return {1, {{-1, 0}, {1, 0}}, ImageOf(text, code), {}, nullptr};
}

NativeSection SectionOf(const std::string& target, std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  NativeSection section;
  section.target = target;
  section.data = {reinterpret_cast<const uint8_t*>(owner->data()),
                  owner->size()};
  section.hash = HashBytes(HashedPart(section.data));
  section.owner = std::move(owner);
  return section;
}

std::shared_ptr<const Module> ModuleWith(std::vector<NativeSection> natives) {
  ModuleDefinition definition = SampleNamed("static");
  definition.natives = std::move(natives);
  // The module is written to the bytes of a file and read back, because
  // sections in a file have hashes.
  auto bytes = SerializeModule(definition);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  auto owner = std::make_shared<std::vector<uint8_t>>(*std::move(bytes));
  auto module = Module::Load(*owner, owner);
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return *std::move(module);
}

struct Outcome {
  NativeReport report;
  Status status;
  std::vector<float> result;
};

Outcome RunWith(std::vector<NativeSection> natives, bool is_allowed = true) {
  const auto module = ModuleWith(std::move(natives));
  Outcome outcome;
  SessionOptions options;
  options.device = *hal::CreateCpuDevice({.threads = 1});
  if (is_allowed) {
    options.tiering =
        std::make_shared<Tiering>(module, nullptr, Tiering::Options{});
    outcome.report = InstallNativeKernels(*options.tiering);
  }
  const auto session = *Session::Create(module, options);
  Tensor input = *Tensor::Allocate(DType::kF32, {2, 3});
  for (float& value : input.elements<float>()) value = 1;
  std::vector<Tensor> results;
  for (int run = 0; run < 3 && outcome.status.ok(); ++run)
    outcome.status = session->Run(std::span(&input, 1), &results);
  if (outcome.status.ok()) {
    const auto elements = results[0].elements<float>();
    outcome.result.assign(elements.begin(), elements.end());
  }
  return outcome;
}

NativeSection Section(std::vector<NativeKernel> kernels,
                      const std::string& target = Kind()) {
  return SectionOf(target,
                   JoinNativeSection(WriteNativeKernels(kernels).parts()));
}

const auto kRight = ElementsAre(0.625f, 1.75f, 0.625f, 1.75f);
const auto kNothing = ElementsAre(0, 0, 0, 0);

TEST(NativeKernelsTest, RunOnlyIfAsked) {
  const Outcome without = RunWith({Section({Gemm(), BiasRelu()})}, false);
  EXPECT_THAT(without.result, kRight);
  const Outcome with = RunWith({Section({Gemm(), BiasRelu()})});
  EXPECT_THAT(with.result, kNothing);
  EXPECT_EQ(with.report.Text(),
            "native kernels for 2 of 2 dispatches (" + Kind() + ")");
  EXPECT_THAT(with.report.refused, ElementsAre());
  // Tier 0 runs the second dispatch. It reads zeros, because the kernel of the
  // first dispatch writes nothing to its output.
  EXPECT_THAT(RunWith({Section({Gemm()})}).result,
              ElementsAre(0.125f, 0, 0.125f, 0));
}

TEST(NativeKernelsTest, FailedChecksAreErrorsOfTheRun) {
  const Outcome outcome = RunWith({Section({BiasRelu(kBiasRelu, kReturns1)})});
  EXPECT_THAT(outcome.status.ToString(),
              HasSubstr("dispatch @bias_relu: buffer %x: expected index 0"));
}

TEST(NativeKernelsTest, TheBestSectionForEachDispatch) {
  const std::string better = Kind() + kBaseline;
  const Outcome outcome = RunWith(
      {Section({Gemm(), BiasRelu(kBiasRelu, kReturns1)},
               Kind() + "+l1=32K+cores=4"),
       Section({Gemm()}, Kind() + "+warp=9"), Section({BiasRelu()}, better)});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.ToString();
  EXPECT_THAT(outcome.result, kNothing);
  EXPECT_THAT(outcome.report.targets,
              ElementsAre(better, Kind() + "+l1=32K+cores=4"));
  EXPECT_THAT(outcome.report.refused,
              ElementsAre("native section " + Kind() +
                          "+warp=9: this machine lacks warp=9"));
}

// Kernels that do not fit their dispatch must be refused; the model must run
// without them.
TEST(NativeKernelsTest, KernelsThatDoNotFitAreRefused) {
  const std::pair<NativeKernel, const char*> cases[] = {
      {Gemm(With(kGemm, "tier 2", "tier 2 parameters 1")),
       "expected the parameters of its dispatch"},
      {Gemm(With(kGemm, "tier 2", "tier 2 shape [3]")),
       "expected the parameters of its dispatch"},
      {Gemm(With(kGemm, "input \"w\"", "output \"w\"")),
       "expected the buffers of its dispatch"},
      {Gemm(With(kGemm, "\"y\": f32", "\"y\": i32")),
       "expected the buffers of its dispatch"},
      {Gemm(With(kGemm, "align 4", "align 64")),
       "expected the buffers of its dispatch"},
      {Gemm(With(kGemm, "constant 3", "constant 4")),
       "expected the extents of its dispatch"},
      {Gemm(kBiasRelu), "expected the extents of its dispatch"},
      {BiasRelu(With(kBiasRelu, " overwritten", "")),
       "expected operands that may share memory as those of its dispatch"},
  };
  for (const auto& [kernel, why] : cases) {
    const Outcome outcome = RunWith({Section({kernel})});
    EXPECT_THAT(outcome.result, kRight);
    EXPECT_EQ(outcome.report.kernels, 0);
    ASSERT_EQ(outcome.report.refused.size(), 1u) << why;
    EXPECT_THAT(outcome.report.refused[0], HasSubstr(why));
    EXPECT_EQ(outcome.report.Text(), "no native kernels for this machine");
  }
  NativeKernel none = Gemm();
  none.dispatch = 2;
  EXPECT_THAT(RunWith({Section({none})}).report.refused[0],
              HasSubstr("expected a dispatch below 2, found 2"));
  // A kernel that was made for other constants must not be used.
  NativeKernel other = Gemm();
  other.constants[1].offset = 4;
  EXPECT_THAT(RunWith({Section({other})}).result, kRight);
}

TEST(NativeKernelsTest, DamagedSectionsAreRefused) {
  NativeSection section = Section({Gemm()});
  section.hash ^= 1;
  const auto module = Module::FromDefinition([&] {
    ModuleDefinition definition = SampleNamed("static");
    definition.natives = {section};
    return definition;
  }());
  Tiering tiering(*module, nullptr, {});
  EXPECT_THAT(InstallNativeKernels(tiering).refused[0],
              HasSubstr("expected hash "));
  EXPECT_THAT(RunWith({SectionOf(Kind(), "what is this?")}).report.refused[0],
              HasSubstr("expected 'EMNK'"));
  const Ed25519Key key = {};
  EXPECT_THAT(InstallNativeKernels(tiering, {.key = &key}).refused,
              ElementsAre("native kernels: module: expected a signature, found "
                          "none (vm-sign makes one)"));
}

// The prologue of this kernel fails, so a successful run shows that the packed
// weights came from the file.
constexpr const char* kPackedGemm = R"(kernel "gemm" for "any" {
  tier 2
  %0: i64 = constant 2
  %1: i64 = constant 3
  %2: i64 = constant 1
  input "x": f32[%0, %1] align 4
  input "w": f32[%1, %0] align 4
  output "y": f32[%0, %0] align 4
  packed "p": f32[%0, %0]
  prologue tasks %2
  phase tasks %2
  code machine-code align 16 entries 32 0 { "CODE" }
})";

TEST(NativeKernelsTest, WeightsPackedBeforeAreUsedAsTheyAre) {
  NativeKernel kernel = Gemm(kPackedGemm, kCopies);
  EXPECT_THAT(RunWith({Section({kernel, BiasRelu()})}).report.refused[0],
              HasSubstr("buffer %x: expected index 0"));
  const float weights[] = {1, -2, 3, 4};
  const auto bytes_of = [&](size_t size) {
    return std::span(reinterpret_cast<const uint8_t*>(weights), size);
  };
  kernel.packed = {bytes_of(sizeof weights)};
  const Outcome outcome = RunWith({Section({kernel})});
  EXPECT_THAT(outcome.report.refused, ElementsAre());
  EXPECT_EQ(outcome.report.dispatches, 1u);
  // The result contains the bias, because tier 0 ran @bias_relu; the module has
  // a kernel only for the other dispatch.
  EXPECT_THAT(outcome.result, ElementsAre(1.125f, 0, 3.125f, 3.5f));
  // Packed weights must have exactly the number of bytes that the image
  // declares.
  for (const size_t size : {size_t{0}, size_t{8}, size_t{15}}) {
    kernel.packed = {bytes_of(size)};
    const Outcome refused = RunWith({Section({kernel})});
    EXPECT_THAT(refused.report.refused[0],
                HasSubstr("buffer %p: expected 16 packed bytes"));
    EXPECT_THAT(refused.result, kRight);
  }
}

// A table of kernels in the form in which a linker leaves it in memory.
class Table {
 public:
  Table(const ModuleDefinition& module, const std::string& target,
        const std::vector<NativeKernel>& kernels)
      : target_(target), bytes_(WriteNativeKernels(kernels)) {
    std::copy_n(kNativeTableMagic, 8, table_.header.magic);
    table_.header.version = kNativeTableVersion;
    table_.header.header_size = sizeof(NativeTableHeader);
    table_.header.row_size = sizeof(NativeTableRow);
    table_.header.row_count = 1;
    table_.header.module = IdentityOf(module);
    const auto code = LoadPage(bytes_.code);
    const NativeParts parts = bytes_.parts();
    NativeTableRow& row = table_.row;
    Place(target_.data(), target_.size(), row.target, row.target_size);
    Place(parts.head.data(), parts.head.size(), row.head, row.head_size);
    Place(code, parts.code.size(), row.code, row.code_size);
    row.hash = HashOfParts(parts);
  }
  ~Table() { munmap(page_, kPage); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  NativeTableHeader& header() { return table_.header; }
  NativeTableRow& row() { return table_.row; }
  const void* symbol() const { return &table_; }

 private:
  static constexpr size_t kPage = 65536;
  static void Place(const void* at, size_t size, int64_t& field,
                    uint64_t& field_size) {
    field = static_cast<int64_t>(reinterpret_cast<intptr_t>(at) -
                                 reinterpret_cast<intptr_t>(&field));
    field_size = size;
  }
  const void* LoadPage(const std::string& code) {
    page_ = mmap(nullptr, kPage, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::copy(code.begin(), code.end(), static_cast<char*>(page_));
    mprotect(page_, kPage, PROT_READ | PROT_EXEC);
    __builtin___clear_cache(static_cast<char*>(page_),
                            static_cast<char*>(page_) + kPage);
    return page_;
  }

  const std::string target_;
  const NativeBytes bytes_;
  void* page_ = nullptr;
  struct {
    NativeTableHeader header;
    NativeTableRow row;
  } table_;
};

NativeReport InstallTable(const void* symbol) {
  const auto module = ModuleWith({Section({Gemm(), BiasRelu()})});
  Tiering tiering(module, nullptr, {});
  return InstallNativeKernels(tiering,
                              {.uses_module = false, .tables = {symbol}});
}

TEST(NativeKernelsTest, LinkedKernelsRunWhereTheyAre) {
  const auto module = ModuleWith({});
  const Table table(SampleNamed("static"), Kind(), {Gemm(), BiasRelu()});
  EXPECT_TRUE(CheckNativeTable(*module, table.symbol()).ok());
  SessionOptions options;
  options.device = *hal::CreateCpuDevice({.threads = 1});
  options.tiering =
      std::make_shared<Tiering>(module, nullptr, Tiering::Options{});
  const NativeReport report = InstallNativeKernels(
      *options.tiering, {.uses_module = false, .tables = {table.symbol()}});
  EXPECT_EQ(report.Text(),
            "native kernels for 2 of 2 dispatches (" + Kind() + ")");
  const auto session = *Session::Create(module, options);
  Tensor input = *Tensor::Allocate(DType::kF32, {2, 3});
  std::vector<Tensor> results;
  ASSERT_TRUE(session->Run(std::span(&input, 1), &results).ok());
  EXPECT_THAT(results[0].elements<float>(), kNothing);
  // Dispatches that have a kernel already must keep it.
  EXPECT_EQ(InstallNativeKernels(*options.tiering, {.uses_module = false,
                                                    .tables = {table.symbol()}})
                .kernels,
            0);
}

TEST(NativeKernelsTest, TablesThatDoNotFitAreRefused) {
  const ModuleDefinition module = SampleNamed("static");
  EXPECT_THAT(InstallTable(nullptr).refused[0], HasSubstr("found NULL"));
  const char other[] = "no table at all";
  EXPECT_THAT(InstallTable(other).refused[0],
              HasSubstr("expected a table that vm-prejit made"));
  ModuleDefinition changed = module;
  changed.dispatches[0].name = "another";
  const Table of_another(changed, Kind(), {Gemm()});
  EXPECT_THAT(InstallTable(of_another.symbol()).refused[0],
              AllOf(HasSubstr("expected kernels of this module ("),
                    HasSubstr("), found those of another one (")));
  const auto loaded = ModuleWith({});
  EXPECT_THAT(
      std::string(CheckNativeTable(*loaded, of_another.symbol()).message()),
      HasSubstr("found those of another one"));
  const Table elsewhere(module, "m68k-linux+fpu", {Gemm()});
  EXPECT_THAT(InstallTable(elsewhere.symbol()).refused[0],
              HasSubstr("linked kernels m68k-linux+fpu: this machine lacks"));
  EXPECT_EQ(CheckNativeTable(*loaded, elsewhere.symbol()).code(),
            StatusCode::kUnimplemented);
  Table table(module, Kind(), {Gemm()});
  EXPECT_EQ(InstallTable(table.symbol()).kernels, 1);
  table.row().hash ^= 1;
  EXPECT_THAT(InstallTable(table.symbol()).refused[0],
              HasSubstr("expected hash "));
  table.row().hash ^= 1;
  table.header().version = 3;
  EXPECT_THAT(InstallTable(table.symbol()).refused[0],
              HasSubstr("expected a table of version 1 or 2, found 3"));
  table.header().version = 1;
  table.header().row_size = 8;
  EXPECT_THAT(InstallTable(table.symbol()).refused[0],
              HasSubstr("expected a table with its sizes"));
}

// A table of kernels in the form in which a C compiler leaves it in memory
// (vm-prejit --emit=c).
class PointerTable {
 public:
  PointerTable(const ModuleDefinition& module,
               std::vector<NativeFunction> functions,
               const std::vector<NativeKernel>& kernels)
      : functions_(std::move(functions)), bytes_(WriteNativeKernels(kernels)) {
    std::copy_n(kNativeTableMagic, 8, table_.header.magic);
    table_.header.version = kPointerTableVersion;
    table_.header.header_size = sizeof(NativeTableHeader);
    table_.header.row_size = sizeof(PointerTableRow);
    table_.header.row_count = 1;
    table_.header.module = IdentityOf(module);
    const NativeParts parts = bytes_.parts();
    table_.row = {.target = "c11",
                  .head = parts.head.data(),
                  .functions = functions_.data(),
                  .head_size = parts.head.size(),
                  .function_count = functions_.size(),
                  .hash = HashOfParts(parts)};
  }
  PointerTable(const PointerTable&) = delete;
  PointerTable& operator=(const PointerTable&) = delete;

  const void* symbol() const { return &table_; }

 private:
  const std::vector<NativeFunction> functions_;
  const NativeBytes bytes_;
  struct {
    NativeTableHeader header;
    PointerTableRow row;
  } table_;
};

// A phase's function that sets all elements of its tasks' rows to 9.
int32_t FillRows(const int64_t*, void* const* buffers, int64_t begin,
                 int64_t end, IndexFailure*) {
  float* const y = static_cast<float*>(buffers[2]);
  for (int64_t i = begin * 2; i < end * 2; ++i) y[i] = 9;
  return 0;
}

NativeKernel NamedGemm() {
  return Gemm(With(kGemm, "code machine-code align 16 entries 0 { \"CODE\" }",
                   "code c-source align 1 entries {\n"
                   "device \"gemm_phase0\" workgroup 1 tasks 1\n"
                   "\"CODE\" }"),
              "");
}

TEST(NativeKernelsTest, FunctionsOfTheProgramAreCalled) {
  const auto module = ModuleWith({});
  const PointerTable table(SampleNamed("static"),
                           {{"another", nullptr}, {"gemm_phase0", FillRows}},
                           {NamedGemm()});
  EXPECT_TRUE(CheckNativeTable(*module, table.symbol()).ok());
  SessionOptions options;
  options.device = *hal::CreateCpuDevice({.threads = 1});
  options.tiering =
      std::make_shared<Tiering>(module, nullptr, Tiering::Options{});
  const NativeReport report = InstallNativeKernels(
      *options.tiering, {.uses_module = false, .tables = {table.symbol()}});
  EXPECT_EQ(report.Text(), "native kernels for 1 of 2 dispatches (c11)");
  const auto session = *Session::Create(module, options);
  Tensor input = *Tensor::Allocate(DType::kF32, {2, 3});
  std::vector<Tensor> results;
  ASSERT_TRUE(session->Run(std::span(&input, 1), &results).ok());
  // The result contains the bias, because tier 0 ran @bias_relu; the table has
  // a kernel only for the other dispatch.
  EXPECT_THAT(results[0].elements<float>(),
              ElementsAre(9.125f, 8.5f, 9.125f, 8.5f));
}

TEST(NativeKernelsTest, FunctionsThatAreMissingAreRefused) {
  const ModuleDefinition module = SampleNamed("static");
  const PointerTable other(module, {{"another", FillRows}}, {NamedGemm()});
  EXPECT_THAT(InstallTable(other.symbol()).refused,
              ElementsAre(HasSubstr("expected a function gemm_phase0")));
  // Code of other formats must not name functions of a table, and code that
  // consists of names must not come from a section.
  NativeKernel shader = NamedGemm();
  shader.image.code.format = KernelFormat::kSpirv;
  const PointerTable code(module, {{"gemm_phase0", FillRows}}, {shader});
  EXPECT_THAT(InstallTable(code.symbol()).refused,
              ElementsAre(HasSubstr("expected names of functions")));
  const Table names(module, Kind(), {NamedGemm()});
  EXPECT_THAT(InstallTable(names.symbol()).refused[0],
              HasSubstr("expected code of a CPU"));
}

Overlay OverlayOf(const ModuleDefinition& module, NativeSection section) {
  // The overlay is written to the bytes of a file and read back.
  Overlay overlay;
  overlay.module = IdentityOf(module);
  overlay.section = std::move(section);
  const std::string file = SerializeOverlay(overlay);
  std::shared_ptr<uint8_t> memory(static_cast<uint8_t*>(std::aligned_alloc(
                                      64, (file.size() + 63) / 64 * 64)),
                                  std::free);
  std::copy(file.begin(), file.end(), memory.get());
  auto read = ReadOverlay({memory.get(), file.size()}, memory);
  EXPECT_TRUE(read.ok()) << read.status().ToString();
  return *std::move(read);
}

TEST(NativeKernelsTest, OverlaysAreSectionsOfTheirOwn) {
  const auto module = ModuleWith({Section({Gemm()})});
  const ModuleDefinition& base = SampleNamed("static");
  Tiering tiering(module, nullptr, {});
  const std::string better = Kind() + kBaseline;
  NativeOptions options;
  options.overlays = {OverlayOf(base, Section({BiasRelu()}, better))};
  const NativeReport report = InstallNativeKernels(tiering, options);
  EXPECT_EQ(report.sections, 2);
  EXPECT_THAT(report.targets, ElementsAre(better, Kind()));
  ModuleDefinition other = base;
  other.constants[0].dims.push_back(1);
  options.overlays = {OverlayOf(other, Section({BiasRelu()}))};
  Tiering again(module, nullptr, {});
  EXPECT_THAT(InstallNativeKernels(again, options).refused,
              ElementsAre(HasSubstr("found those of another one (")));
  const Ed25519Key key = {};
  options.key = &key;
  options.uses_module = false;
  options.overlays = {OverlayOf(base, Section({BiasRelu()}))};
  Tiering third(module, nullptr, {});
  EXPECT_THAT(InstallNativeKernels(third, options).refused,
              ElementsAre("overlay " + Kind() +
                          ": overlay: expected a signature, found none "
                          "(vm-sign makes one)"));
}

// Eight threads run sessions of one module, which share its kernels, and
// sessions of modules of their own. ThreadSanitizer checks for data races.
TEST(NativeKernelsTest, EightThreads) {
  const auto shared = ModuleWith({Section({Gemm(), BiasRelu()})});
  const auto tiering =
      std::make_shared<Tiering>(shared, nullptr, Tiering::Options{});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        InstallNativeKernels(*tiering);
        SessionOptions options;
        options.device = *hal::CreateCpuDevice({.threads = 1});
        options.tiering = tiering;
        const auto session = *Session::Create(shared, options);
        Tensor input = *Tensor::Allocate(DType::kF32, {2, 3});
        for (float& value : input.elements<float>()) value = 1;
        std::vector<Tensor> results;
        EXPECT_TRUE(session->Run(std::span(&input, 1), &results).ok());
        EXPECT_EQ(session->Profile()[0].tier_calls[2], 1);
        EXPECT_THAT(RunWith({Section({Gemm(), BiasRelu()})}).result, kNothing);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Changes every byte of a section and updates its hash. The section must be
// refused or installed; none of its code is run. (The kernel has no prologue.
// Only permission, not a check, prevents tampered code from running.)
TEST(NativeKernelsTest, EveryByteOfASectionChanged) {
  const std::string good = JoinNativeSection(
      WriteNativeKernels(std::vector<NativeKernel>{Gemm(), BiasRelu()})
          .parts());
  int installed = 0, refused = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      const auto module = ModuleWith({SectionOf(Kind(), std::move(bad))});
      Tiering tiering(module, nullptr, {});
      const NativeReport report = InstallNativeKernels(tiering);
      ++(report.kernels > 0 ? installed : refused);
    }
  }
  EXPECT_GT(installed, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace ember::vm
