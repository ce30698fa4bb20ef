// Tests that overlay files in a module's folder are found, and that damaged
// ones are reported.
#include "vm/runtime/kernels/overlays.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/ed25519.h"
#include "base/file.h"
#include "base/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vm/format/module_identity.h"
#include "vm/isa/testing/sample_modules.h"

namespace ember::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string MakeFile(const std::string& target) {
  static const std::string* const data = new std::string(300, 'd');
  Overlay overlay;
  overlay.module = IdentityOf(SampleNamed("static"));
  overlay.section.target = target;
  overlay.section.data = {reinterpret_cast<const uint8_t*>(data->data()),
                          data->size()};
  return SerializeOverlay(overlay);
}

std::string FolderFor(const std::string& name) {
  const std::string folder = ::testing::TempDir() + "/" + name;
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(OverlaysTest, FindsThoseBesideTheModule) {
  const std::string folder = FolderFor("beside");
  for (const char* name :
       {"model.b.vmfb-overlay", "model.a+x.vmfb-overlay", "model.vmfb-overlay",
        "model2.a.vmfb-overlay", "model.a.vmfb", "model..vmfb-overlay"})
    ASSERT_TRUE(WriteFileAtomically(folder + "/" + name, MakeFile(name)).ok());
  EXPECT_THAT(FindOverlayFiles(folder + "/model.vmfb"),
              ElementsAre(folder + "/model.a+x.vmfb-overlay",
                          folder + "/model.b.vmfb-overlay"));
  std::vector<std::string> problems;
  ASSERT_TRUE(
      WriteFileAtomically(folder + "/model.b.vmfb-overlay", "no overlay").ok());
  const std::vector<Overlay> found =
      FindOverlays(folder + "/model.vmfb", &problems);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].section.target, "model.a+x.vmfb-overlay");
  EXPECT_EQ(found[0].module, IdentityOf(SampleNamed("static")));
  EXPECT_EQ(found[0].section.data.size(), 300u);
  EXPECT_THAT(problems, ElementsAre(HasSubstr("model.b.vmfb-overlay: overlay: "
                                              "size in bytes: expected 128, "
                                              "found 10")));
  EXPECT_THAT(FindOverlayFiles(folder + "/none/model.vmfb"), ElementsAre());
}

class InMemory {
 public:
  explicit InMemory(const std::string& bytes)
      : size_(bytes.size()),
        memory_(static_cast<uint8_t*>(
                    std::aligned_alloc(64, (bytes.size() + 64) / 64 * 64)),
                std::free) {
    std::copy(bytes.begin(), bytes.end(), memory_.get());
  }
  StatusOr<Overlay> Read() const {
    return ReadOverlay({memory_.get(), size_}, memory_);
  }

 private:
  size_t size_;
  std::shared_ptr<uint8_t> memory_;
};

TEST(OverlaysTest, EveryChangedByteOfTheHeadIsFound) {
  const std::string target = "x86_64-linux+v4";
  const std::string good = MakeFile(target);
  ASSERT_TRUE(InMemory(good).Read().ok());
  for (size_t i = 0; i < sizeof(OverlayHeader) + target.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    EXPECT_FALSE(InMemory(bad).Read().ok()) << i;
  }
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(InMemory(good.substr(0, size)).Read().ok()) << size;
}

TEST(OverlaysTest, SignaturesAreOfHeaderTargetAndSection) {
  const std::string target = "x86_64-linux+v4";
  auto room = MakeRoomForSignature(MakeFile(target));
  ASSERT_TRUE(room.ok()) << room.status().ToString();
  // If the file has room for a signature already, MakeRoomForSignature must
  // return it unchanged.
  EXPECT_EQ(*MakeRoomForSignature(*room), *room);
  const Overlay overlay = *InMemory(*room).Read();
  const Ed25519Key key = {};
  EXPECT_THAT(std::string(VerifySignature(overlay, key).message()),
              HasSubstr("overlay: expected the signed bytes, found changed"));
  Ed25519Key other = {};
  other[0] = 1;
  EXPECT_THAT(std::string(VerifySignature(overlay, other).message()),
              HasSubstr("found another's"));
  const Sha512Digest digest = SignedDigest(overlay);
  std::string changed = *room;
  // The changed byte is in the overlay's native section, on which the digest
  // that is signed must depend.
  changed[sizeof(OverlayHeader) + 100] ^= 1;
  EXPECT_NE(SignedDigest(*InMemory(changed).Read()), digest);
  changed = *MakeRoomForSignature(MakeFile("x86_64-linux+v3"));
  EXPECT_NE(SignedDigest(*InMemory(changed).Read()), digest);
}

// The identity must depend on everything on which a module's results depend,
// because it decides which kernels may run.
TEST(ModuleIdentityTest, IsOfAllThatAModuleComputesBy) {
  const ModuleDefinition module = SampleNamed("static");
  const ModuleIdentity identity = IdentityOf(module);
  const auto changed = [&](auto&& change) {
    ModuleDefinition other = module;
    change(other);
    return IdentityOf(other) != identity;
  };
  EXPECT_FALSE(changed([](ModuleDefinition& m) { m.producer = "another"; }));
  EXPECT_FALSE(changed([](ModuleDefinition& m) {
    m.natives.emplace_back().target = "a";
    m.profile.emplace_back();
    m.dispatch_origins.clear();
  }));
  EXPECT_FALSE(changed([](ModuleDefinition& m) {
    // The hashes are set to those that a reader of a file computes, so that
    // nothing changes.
    for (Constant& c : m.constants) c.hash = HashBytes(c.data);
  }));
  EXPECT_TRUE(changed([](ModuleDefinition& m) { m.constants[0].hash = 7; }));
  EXPECT_TRUE(
      changed([](ModuleDefinition& m) { m.constants[0].dims = {1, 6}; }));
  EXPECT_TRUE(changed([](ModuleDefinition& m) {
    m.dispatches[0].instructions.back().immediate ^= 1;
  }));
  EXPECT_TRUE(
      changed([](ModuleDefinition& m) { m.dispatches[0].stages[0].end += 1; }));
  EXPECT_TRUE(
      changed([](ModuleDefinition& m) { m.programs[0].operands[0] += 1; }));
  EXPECT_TRUE(changed([](ModuleDefinition& m) { m.strings = {"s"}; }));
  EXPECT_TRUE(changed(
      [](ModuleDefinition& m) { m.programs[0].inputs[0].name += "x"; }));
}

}  // namespace
}  // namespace ember::vm
