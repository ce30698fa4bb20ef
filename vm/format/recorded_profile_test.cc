// Tests profiles as text and in module files, and the errors of both forms.
#include "vm/format/recorded_profile.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vm/format/module_identity.h"
#include "vm/format/reader.h"
#include "vm/format/verifier.h"
#include "vm/format/writer.h"
#include "vm/isa/testing/sample_modules.h"

namespace ember::vm {
namespace {

using ::testing::HasSubstr;

// Returns a module for tests of profiles, whose first dispatch has two
// parameters. The module has only the parts that profiles depend on.
const ModuleDefinition& Module() {
  static const ModuleDefinition* const module = [] {
    auto* made = new ModuleDefinition(SampleNamed("static"));
    made->dispatches[0].parameters = {"N", "M"};
    return made;
  }();
  return *module;
}

std::string Name(size_t dispatch) { return Module().dispatches[dispatch].name; }

std::string Text(const std::string& body) {
  return "profile 1 of \"" + IdentityText(IdentityOf(Module())) + "\" {\n" +
         body + "}\n";
}

std::vector<DispatchProfile> SomeProfile() {
  return {{0, {{{16, -3}, 12, 4567890}, {{1, 1}, 1, 100}}}, {1, {{{}, 13, 9}}}};
}

TEST(RecordedProfileTest, PrintsAndParsesBack) {
  const std::string text = PrintRecordedProfile(Module(), SomeProfile());
  EXPECT_EQ(text, Text("  dispatch @" + Name(0) +
                       " {\n    [16, -3]: 12 calls, 4567890 ns\n"
                       "    [1, 1]: 1 calls, 100 ns\n  }\n  dispatch @" +
                       Name(1) + " {\n    []: 13 calls, 9 ns\n  }\n"));
  const auto parsed = ParseRecordedProfile(text, Module());
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(*parsed, SomeProfile());
  EXPECT_TRUE(ParseRecordedProfile(Text(""), Module())->empty());
}

TEST(RecordedProfileTest, ParsedIsSortedByTime) {
  const auto parsed = ParseRecordedProfile(
      "// by hand\n" + Text("dispatch @" + Name(1) + " { []: 1 calls, 5 ns } " +
                            "dispatch @" + Name(0) +
                            " { [1, 2]: 1 calls, 4 ns [3, 4]: 2 calls, 6 ns }"),
      Module());
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ((*parsed)[0].dispatch, 0u);
  EXPECT_EQ((*parsed)[0].shapes[0].ns, 6);
  // A total time that would overflow must be limited to a year.
  DispatchProfile large = {0, {{{}, 1, INT64_MAX}, {{}, 1, INT64_MAX}}};
  EXPECT_EQ(large.total_ns(), int64_t{1} << 55);
}

TEST(RecordedProfileTest, MalformedTextsAreOneLine) {
  const std::string first = "dispatch @" + Name(0);
  std::string many = first + " {";
  for (int i = 0; i < 65; ++i) many += " [0, 0]: 1 calls, 1 ns";
  const std::pair<std::string, const char*> cases[] = {
      {"", "1:1: expected 'profile', found"},
      {"profile 2 of \"x\" {}", "expected a profile of version 1, found 2"},
      {"profile 1 of \"x\" {}", "expected a profile of this module ("},
      {Text("") + "x", "3:1: expected the end, found 'x'"},
      {Text("dispatch @none { []: 1 calls, 1 ns }"),
       "2:10: expected a dispatch of the module that was not yet there"},
      {Text(first + " { [1, 2]: 1 calls, 1 ns } " + first + " {}"),
       "expected a dispatch of the module that was not yet there"},
      {Text(first + " {}"), "expected '['"},
      {Text(first + " { [1]: 1 calls, 1 ns }"), "expected ','"},
      {Text(first + " { [1, 2, 3]: 1 calls, 1 ns }"), "expected ']'"},
      {Text(first + " { [1, 2]: -1 calls, 1 ns }"),
       "expected a number of calls from 0 up"},
      {Text(first + " { [1, 2]: 1 calls, 1 s }"), "expected 'ns', found 's'"},
      {Text(first + " { [1, 2]: 1 calls, 99999999999999999999 ns }"),
       "the number does not fit 64 bits"},
      {Text(many + " }"), "expected '}' after 64 shapes"},
      {Text(first + " { [1, 2]: 1 calls, 1 ns"), "expected"},
  };
  for (const auto& [text, message] : cases) {
    const auto parsed = ParseRecordedProfile(text, Module());
    ASSERT_FALSE(parsed.ok()) << text;
    const std::string found(parsed.status().message());
    EXPECT_THAT(found, HasSubstr(message)) << text;
    EXPECT_EQ(found.find('\n'), std::string::npos);
  }
  // The parser must refuse texts that are truncated at any position.
  const std::string whole = PrintRecordedProfile(Module(), SomeProfile());
  for (size_t size = 0; size + 1 < whole.size(); ++size) {
    EXPECT_FALSE(ParseRecordedProfile(whole.substr(0, size), Module()).ok())
        << size;
  }
}

TEST(RecordedProfileTest, TravelsInModules) {
  ModuleDefinition module = SampleNamed("static");
  module.profile = {{1, {{{}, 3, 400}}}, {0, {{{}, 3, 100}}}};
  const auto bytes = SerializeModule(module);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const auto read = ReadModule(*bytes, nullptr);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->profile, module.profile);
  EXPECT_EQ(IdentityOf(*read), IdentityOf(module));
}

TEST(RecordedProfileTest, ModulesWithWrongProfilesAreRefused) {
  const std::pair<std::vector<DispatchProfile>, const char*> cases[] = {
      {{{2, {{{}, 1, 1}}}}, "expected different dispatches below 2, found 2"},
      {{{1, {{{}, 1, 1}}}, {1, {{{}, 1, 1}}}},
       "expected different dispatches below 2, found 1"},
      {{{0, {}}}, "expected 1 to 64 shapes, found 0"},
      {{{0, std::vector<DispatchProfile::Shape>(65)}},
       "expected 1 to 64 shapes, found 65"},
      {{{0, {{{5}, 1, 1}}}}, "expected 0 parameters, found 1"},
      {{{0, {{{}, -1, 1}}}}, "expected calls and times from 0 up"},
      {{{0, {{{}, 1, -1}}}}, "expected calls and times from 0 up"},
  };
  for (const auto& [profile, message] : cases) {
    ModuleDefinition module = SampleNamed("static");
    module.profile = profile;
    EXPECT_THAT(std::string(VerifyModule(module).message()),
                HasSubstr(message));
  }
}

}  // namespace
}  // namespace ember::vm
