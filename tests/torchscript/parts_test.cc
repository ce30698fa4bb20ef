// Tests the parts of archives: pickles and code.
#include <gtest/gtest.h>

#include <string>

#include "frontends/torchscript/pickle.h"
#include "frontends/torchscript/syntax.h"

namespace ember::torchscript {
namespace {

StatusOr<Pickle> Read(const std::string& text) {
  return Pickle::Read(
      {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}
std::string PickleError(const std::string& text) {
  const StatusOr<Pickle> pickle = Read(text);
  return pickle.ok() ? "" : std::string(pickle.status().message());
}
std::string SourceError(const std::string& text) {
  const StatusOr<SourceFile> file = ParseSource(text);
  return file.ok() ? "" : std::string(file.status().message());
}

TEST(Pickle, PlainData) {
  // The pickle of {"a": [1, -2, 2.5, None, True], "b": (300,)}.
  const std::string text = std::string("\x80\x02}q\x00", 5) + "(X\x01" +
                           std::string(3, '\0') + "a](K\x01J\xfe\xff\xff\xffG" +
                           std::string("\x40\x04\0\0\0\0\0\0", 8) +
                           "N\x88"
                           "eX\x01" +
                           std::string(3, '\0') + "bM\x2c\x01\x85u.";
  const StatusOr<Pickle> pickle = Read(text);
  ASSERT_TRUE(pickle.ok()) << pickle.status().message();
  const PickleValue* list = pickle->root().Find("a");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 5u);
  EXPECT_EQ(list->items[0]->integer, 1);
  EXPECT_EQ(list->items[1]->integer, -2);
  EXPECT_EQ(list->items[2]->number, 2.5);
  EXPECT_EQ(list->items[3]->kind, PickleValue::Kind::kNone);
  EXPECT_EQ(list->items[4]->kind, PickleValue::Kind::kBool);
  EXPECT_EQ(pickle->root().Find("b")->items[0]->integer, 300);
}

TEST(Pickle, CallsAreNotCalled) {
  const StatusOr<Pickle> pickle =
      Read("cos\nsystem\n(X\x02" + std::string(3, '\0') + "lstR.");
  ASSERT_TRUE(pickle.ok()) << pickle.status().message();
  EXPECT_EQ(pickle->root().kind, PickleValue::Kind::kCall);
  EXPECT_EQ(pickle->root().callee->text, "os.system");
  EXPECT_EQ(pickle->root().items[0]->text, "ls");
}

TEST(Pickle, Malformed) {
  EXPECT_EQ(PickleError(""),
            "pickle, offset 0: expected an instruction or its operand, found "
            "the end");
  EXPECT_EQ(PickleError("."),
            "pickle, offset 0: expected a value on the stack, found none");
  EXPECT_EQ(PickleError("h\x05."),
            "pickle, offset 0: expected a memoized value of number 5, found "
            "none");
  EXPECT_EQ(PickleError("t."),
            "pickle, offset 0: expected a mark on the stack, found none");
  EXPECT_EQ(PickleError("X\xff\xff\xff\xff"),
            "pickle, offset 0: expected 4294967295 bytes of text, found 0");
  EXPECT_EQ(PickleError("Na."),
            "pickle, offset 1: expected a value on the stack, found none");
  EXPECT_EQ(PickleError("\x7f."),
            "pickle, offset 0: expected an instruction of plain data, found "
            "0x7f");
}

// In the pickle one tuple of 2048 values is the argument list of 4096 calls.
// The reader must count the values for each call.
TEST(Pickle, ArgumentsAreCounted) {
  std::string text =
      "(" + std::string(2048, 'N') + "tq\x01" + "0cos\nsystem\nq\x02" + "0]";
  for (int i = 0; i < 4096; ++i) text += "h\x02h\x01Ra";
  EXPECT_EQ(
      PickleError(text + "."),
      "pickle, offset 14360: expected at most 4194304 arguments of calls, "
      "found more");
}

TEST(Syntax, ClassesAndFunctions) {
  const StatusOr<SourceFile> file = ParseSource(R"(op_version_set = 1
import __torch__.layers
class Net(Module):
  __parameters__ = ["weight", ]
  weight : Tensor
  __annotations__["0"] = __torch__.layers.Linear
  size : Final[int] = 3
  def forward(self: __torch__.Net,
    x: Tensor,
    scale: float=-1.5) -> Tensor:
    # a comment
    a, b, = (self).parts(x, scale=2, )
    if torch.eq(a, 1):
      pass
    elif torch.eq(a, 2):
      y : Optional[int] = 3
    else:
      y = -4
    for i in range(3):
      self.total = torch.add(self.total, i)
    while True:
      _0 = x[1:]
    return (a)[0]
def free(x: int) -> int:
  return x
)");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->functions.size(), 1u);
  EXPECT_EQ(file->classes.at("Net").methods.at("forward").body.size(), 5u);
  const StatusOr<SourceFile> good = ParseSource(
      "class Net(Module):\n"
      "  size : Final[int] = 3\n"
      "  __annotations__[\"0\"] = __torch__.layers.Linear\n"
      "  def f(self, x: Tensor, scale: float=-1.5) -> Tensor:\n"
      "    a, b, = (self).parts(x, scale=2, )\n"
      "    return (a)[0]\n");
  ASSERT_TRUE(good.ok()) << good.status().message();
  const Class& net = good->classes.at("Net");
  EXPECT_EQ(net.base, "Module");
  ASSERT_EQ(net.attributes.size(), 2u);
  EXPECT_EQ(net.attributes[0].value->integer, 3);
  EXPECT_EQ(net.attributes[1].name, "0");
  const Function& f = net.methods.at("f");
  ASSERT_EQ(f.parameters.size(), 3u);
  EXPECT_EQ(f.parameters[2].standard->number, -1.5);
  ASSERT_EQ(f.body.size(), 2u);
  EXPECT_EQ(f.body[0].targets[0].parts.size(), 2u);
  EXPECT_EQ(f.body[0].value.keywords, std::vector<std::string>{"scale"});
  EXPECT_EQ(f.body[1].value.kind, Expression::Kind::kSubscript);
}

TEST(Syntax, Malformed) {
  EXPECT_EQ(SourceError("def f(:\n"), "line 1: expected a name, found ':'");
  EXPECT_EQ(SourceError("def f():\n  return \"abc\n"),
            "line 2: expected the end of a text on its line, found none");
  EXPECT_EQ(SourceError("def f():\n  x = 99999999999999999999\n"),
            "line 2: expected a number of at most 64 bits, found "
            "'99999999999999999999'");
  EXPECT_EQ(SourceError("def f():\n    x = 1\n  y = 2\n"),
            "line 3: expected the indentation of a block around it, found 2 "
            "spaces");
  EXPECT_EQ(SourceError("def f():\n  x = $\n"),
            "line 2: expected Python, found '$'");
  for (const std::string_view part : {"(", "[", "-", "x[", "f("}) {
    std::string text = "def f():\n  x = ";
    for (int i = 0; i < 100000; ++i) text += part;
    EXPECT_NE(SourceError(text).find("levels of nesting"), std::string::npos)
        << part;
  }
  std::string chain = "def f():\n  x = x";
  for (int i = 0; i < 100000; ++i) chain += ".y";
  EXPECT_NE(SourceError(chain + "\n").find("levels of nesting"),
            std::string::npos);
}

}  // namespace
}  // namespace ember::torchscript
