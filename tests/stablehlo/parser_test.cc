// Tests the parser of MLIR's text: the forms that it reads, that printed text
// parses back, and its error messages.
#include "frontends/stablehlo/parser.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "frontends/stablehlo/testing/sample_models.h"
#include "tests/stablehlo/operator_cases.h"

namespace ember::tests {
namespace {

using stablehlo::Attribute;
using stablehlo::Module;
using stablehlo::ParseModule;

// Parses a text, prints it, parses that and prints again; both printed texts
// must be equal.
void ExpectPrintsAndParsesBack(const std::string& text) {
  SCOPED_TRACE(text);
  const auto module = ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  const std::string printed = PrintModule(*module);
  const auto again = ParseModule(printed);
  ASSERT_TRUE(again.ok()) << again.status().ToString() << "\n" << printed;
  EXPECT_EQ(PrintModule(*again), printed);
}

TEST(Parser, WhatIsPrintedParsesBack) {
  for (const auto& cases :
       {ElementwiseCases(), MovementCases(), RegionCases(), AlgebraCases()})
    for (const OperatorCase& row : cases)
      ExpectPrintsAndParsesBack(ProgramOf(row));
  for (const std::string_view name : stablehlo::SampleModelNames())
    if (name != "sorted")
      ExpectPrintsAndParsesBack(stablehlo::SampleModel(name));
}

// The generic form of an operation gives the same module as its pretty form.
TEST(Parser, FormsAreOneModule) {
  const auto text = [](const std::string& body) {
    return "func.func @main(%a: tensor<2x3xf32>, %z: tensor<f32>) -> () {\n" +
           body + "\nreturn\n}";
  };
  const std::pair<std::string, std::string> forms[] = {
      {"%0 = stablehlo.add %a, %a : tensor<2x3xf32>",
       "%0 = \"stablehlo.add\"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
       "tensor<2x3xf32>"},
      {"%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> "
       "tensor<3x2xf32>",
       "%0 = \"stablehlo.transpose\"(%a) <{permutation = array<i64: 1, 0>}> : "
       "(tensor<2x3xf32>) -> tensor<3x2xf32>"},
      {"%0 = stablehlo.slice %a [0:1, 2:3:4] : (tensor<2x3xf32>) -> "
       "tensor<1x1xf32>",
       "%0 = \"stablehlo.slice\"(%a) {start_indices = array<i64: 0, 2>, "
       "limit_indices = array<i64: 1, 3>, strides = array<i64: 1, 4>} : "
       "(tensor<2x3xf32>) -> tensor<1x1xf32>"},
      {"%0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across "
       "dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>",
       "%0 = \"stablehlo.reduce\"(%a, %z) <{dimensions = array<i64: 1>}> ({\n"
       "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
       "%2 = mhlo.add %x, %y : tensor<f32>\n"
       "\"stablehlo.return\"(%2) : (tensor<f32>) -> ()\n"
       "}) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>"},
      {"%0 = stablehlo.compare LT, %a, %a, FLOAT : (tensor<2x3xf32>, "
       "tensor<2x3xf32>) -> tensor<2x3xi1>",
       "%0 = \"stablehlo.compare\"(%a, %a) <{comparison_direction = "
       "#stablehlo<comparison_direction LT>, compare_type = "
       "#stablehlo<comparison_type FLOAT>}> : (tensor<2x3xf32>, "
       "tensor<2x3xf32>) -> tensor<2x3xi1>"},
  };
  for (const auto& [pretty, generic] : forms) {
    const auto a = ParseModule(text(pretty)), b = ParseModule(text(generic));
    ASSERT_TRUE(a.ok()) << pretty << "\n" << a.status().ToString();
    ASSERT_TRUE(b.ok()) << generic << "\n" << b.status().ToString();
    std::string printed_a = PrintModule(*a), printed_b = PrintModule(*b);
    // Names of arguments are made equal before the texts are compared, because
    // the two forms may differ in names.
    for (const auto& [name, number] : {std::pair("%x", "%2"), {"%y", "%3"}}) {
      for (size_t at; (at = printed_b.find(name)) != std::string::npos;)
        printed_b.replace(at, 2, number);
    }
    EXPECT_EQ(printed_a, printed_b);
  }
}

const Attribute& ConstantOf(const Module& module) {
  return module.functions[0].body.operations[0].attributes[0].value;
}

TEST(Parser, Constants) {
  const auto bytes = [](const std::string& value) -> std::string {
    const auto module = ParseModule(
        "func.func @f() {\n%0 = stablehlo.constant " + value + "\nreturn\n}");
    if (!module.ok()) return std::string(module.status().message());
    const auto& elements = *ConstantOf(*module).elements;
    std::string text = elements.splat ? "all" : "";
    for (const uint8_t byte : elements.bytes)
      text += (text.empty() ? "" : " ") + std::to_string(byte);
    return text;
  };
  EXPECT_EQ(bytes("dense<[[1, -1]]> : tensor<1x2xi8>"), "1 255");
  EXPECT_EQ(bytes("dense<255> : tensor<4xi8>"), "all 255");
  EXPECT_EQ(bytes("dense<[true, false]> : tensor<2xi1>"), "1 0");
  EXPECT_EQ(bytes("dense<\"0x0502\"> : tensor<10xi1>"), "1 0 1 0 0 0 0 0 0 1");
  EXPECT_EQ(bytes("dense<1.0> : tensor<2xbf16>"), "all 128 63");
  EXPECT_EQ(bytes("dense<0x7E00> : tensor<f16>"), "all 0 126");
  EXPECT_EQ(bytes("dense<\"0x0000C03F\"> : tensor<5xf32>"), "all 0 0 192 63");
  EXPECT_EQ(bytes("dense<> : tensor<0x3xf32>"), "");
  EXPECT_EQ(bytes("dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>>"),
            "0 0 128 63 0 0 0 64");
  EXPECT_EQ(bytes("dense<256> : tensor<i8>"),
            "2:31: expected a number that i8 holds, found '256'");
  EXPECT_EQ(bytes("dense<-1> : tensor<ui8>"),
            "2:32: expected a number that ui8 holds, found '-1'");
  EXPECT_EQ(bytes("dense<[1, 2, 3]> : tensor<2xi8>"),
            "2:38: expected lists as tensor<2xi8> has them");
  EXPECT_EQ(bytes("dense<[[1], [2, 3]]> : tensor<2x1xi8>"),
            "2:41: expected lists as tensor<2x1xi8> has them");
  EXPECT_EQ(bytes("dense<\"0x00\"> : tensor<2xf32>"),
            "2:31: expected 8 bytes for tensor<2xf32>, found 1");
  EXPECT_EQ(bytes("dense<1.0> : tensor<2xi8>"),
            "2:31: expected an integer, found '1.0'");
  EXPECT_EQ(bytes("dense<1> : tensor<9999999999x9999999999xi8>"),
            "2:31: expected a constant within 64 bits, found "
            "tensor<9999999999x9999999999xi8>");
}

TEST(Parser, HexDigits) {
  const auto parse = [](const std::string& digits) {
    return ParseModule("func.func @f() {\n%0 = stablehlo.constant dense<\"0x" +
                       digits + "\"> : tensor<256xi8>\nreturn\n}");
  };
  for (const std::string_view alphabet :
       {"0123456789abcdef", "0123456789ABCDEF"}) {
    std::string digits;
    for (int i = 0; i < 256; ++i) {
      digits += alphabet[static_cast<size_t>(i / 16)];
      digits += alphabet[static_cast<size_t>(i % 16)];
    }
    const auto module = parse(digits);
    ASSERT_TRUE(module.ok()) << module.status().ToString();
    const auto& bytes = ConstantOf(*module).elements->bytes;
    ASSERT_EQ(bytes.size(), 256u);
    for (size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(bytes[i], i);
    digits[511] = 'g';
    EXPECT_EQ(parse(digits).status().message(),
              "2:31: expected hex digits, found '" + digits.substr(510) + "'");
  }
}

// The parser scans strings in blocks of bytes, so strings of all lengths and
// escapes at all positions are tried.
TEST(Parser, StringsOfAllLengths) {
  for (size_t length = 0; length < 100; ++length) {
    for (size_t escape = 0; escape <= length; ++escape) {
      const std::string front(escape, 'a'), rest(length - escape, 'b');
      const auto module =
          ParseModule("module attributes {k = \"" + front + "\\\"" + rest +
                      "\"} { func.func @f() { return } }");
      ASSERT_TRUE(module.ok()) << module.status().ToString();
      ASSERT_EQ(module->attributes.size(), 1u);
      ASSERT_EQ(module->attributes[0].value.text, front + '"' + rest);
    }
    const auto open = ParseModule("module attributes {k = \"" +
                                  std::string(length, 'a') + "\n\"} {}");
    EXPECT_EQ(open.status().message(),
              "1:24: expected a string that ends on its line");
    EXPECT_FALSE(
        ParseModule("module attributes {k = \"" + std::string(length, 'a'))
            .ok());
  }
}

TEST(Parser, Errors) {
  const auto error = [](const std::string& body) {
    const auto module =
        ParseModule("func.func @f(%a: tensor<2xf32>) {\n" + body + "\n}");
    return module.ok() ? "parsed" : std::string(module.status().message());
  };
  EXPECT_EQ(error("return %b : tensor<2xf32>"),
            "2:8: expected a value that is defined before, found '%b'");
  EXPECT_EQ(error("%a = stablehlo.abs %a : tensor<2xf32>"),
            "2:1: expected a name that is not defined yet, found '%a'");
  EXPECT_EQ(error("%0 = stablehlo.abs %a : tensor<3xf32>"),
            "2:6: operand 0: expected tensor<3xf32>, found tensor<2xf32>");
  EXPECT_EQ(error("%0:2 = stablehlo.abs %a : tensor<2xf32>"),
            "2:1: expected names for 1 results, found 2");
  EXPECT_EQ(error("%0 = \"stablehlo.abs\"(%a) : () -> tensor<2xf32>"),
            "2:6: expected types of 1 operands, found 0");
  EXPECT_EQ(error("return %a#1 : tensor<2xf32>"),
            "2:8: expected one of the 1 results of '%a'");
  EXPECT_EQ(error("%0 = stablehlo.abs %a ; tensor<2xf32>"),
            "2:23: expected an operand, an attribute or ':', found ';'");
  EXPECT_EQ(error("^bb0: return\n^bb1: return"),
            "2:1: expected one block in a region, found another");
  EXPECT_EQ(error("return"), "parsed");
  EXPECT_EQ(ParseModule("func.func @f() {").status().message(),
            "1:17: expected '}', found the end");
  EXPECT_EQ(ParseModule("hello").status().message(),
            "1:1: expected a module or a function, found 'hello'");
  EXPECT_EQ(ParseModule("func.func @f() { return }\nfunc.func @f() { return }")
                .status()
                .message(),
            "2:1: expected one function 'f', found two");
}

// The depth of nesting is limited, except in locations. A deeper text gives an
// error message.
TEST(Parser, Depth) {
  const auto nested = [](const std::string& open, const std::string& close,
                         const std::string& inside) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += open;
    text += inside;
    for (int i = 0; i < 100'000; ++i) text += close;
    return text;
  };
  const std::string texts[] = {
      nested("module {\n", "}\n", ""),
      "#a = " + nested("[", "]", "1"),
      "!a = " + nested("tuple<", ">", "tensor<f32>"),
      "!a = " + nested("(", ") -> ()", ""),
      "#a = loc(" + nested("fused[", "]", "unknown") + ")",
      "func.func @f() {\n" +
          nested("\"a.b\"() ({\n", "}) : () -> ()\n", "\"a.c\"() : () -> ()") +
          "}",
  };
  for (const std::string& text : texts) {
    const auto module = ParseModule(text);
    // A location is skipped at any depth of nesting, so that text is accepted.
    if (module.ok()) continue;
    EXPECT_EQ(module.status().message().find('\n'), std::string_view::npos);
    EXPECT_FALSE(module.status().message().empty());
  }
  EXPECT_FALSE(ParseModule(texts[0]).ok());
  EXPECT_FALSE(ParseModule(texts[1]).ok());
  EXPECT_FALSE(ParseModule(texts[5]).ok());
}

// Chains of aliases that refer to aliases are limited, too. A chain that is too
// long or grows too large gives an error message.
TEST(Parser, Aliases) {
  const auto chain = [](int links, int times, const std::string& first,
                        const std::string& open, const std::string& close,
                        const std::string& sign) {
    std::string text = sign + "a0 = " + first + "\n";
    for (int i = 1; i < links; ++i) {
      text += sign + "a" + std::to_string(i) + " = " + open;
      for (int k = 0; k < times; ++k)
        text += (k == 0 ? "" : ", ") + sign + "a" + std::to_string(i - 1);
      text += close + "\n";
    }
    return text;
  };
  EXPECT_TRUE(ParseModule(chain(10, 2, "1", "[", "]", "#")).ok());
  for (const std::string& text :
       {chain(1000, 1, "1", "[", "]", "#"), chain(10, 100, "1", "[", "]", "#"),
        chain(1000, 1, "tensor<f32>", "tuple<", ">", "!"),
        chain(10, 100, "tensor<f32>", "tuple<", ">", "!")}) {
    const auto module = ParseModule(text);
    ASSERT_FALSE(module.ok());
    EXPECT_NE(module.status().message().find("aliases"), std::string_view::npos)
        << module.status().ToString();
  }
}

// The type of a value with very many operands is stored only once. Passing
// values of a large type on counts towards the limit on text that aliases
// expand to.
TEST(Parser, LargeTypesOfManyOperands) {
  std::string type = "!t = tuple<tensor<f32>", operands = "%x", arguments;
  for (int i = 0; i < 10'000; ++i) {
    type += ", tensor<f32>";
    operands += ", %x";
  }
  for (int i = 0; i < 2'000; ++i) {
    arguments += (i == 0 ? "%a" : ", %a") + std::to_string(i) + " = %x";
  }
  const auto error = [&](const std::string& body) {
    const auto module = ParseModule(type + ">\nfunc.func @f(%x: !t) {\n" +
                                    body + "\nreturn\n}");
    return module.ok() ? "parsed" : std::string(module.status().message());
  };
  EXPECT_EQ(error("%r = stablehlo.add " + operands + " : !t"), "parsed");
  EXPECT_NE(error("stablehlo.while(" + arguments +
                  ") cond { return } do { "
                  "return }")
                .find("aliases"),
            std::string::npos);
}

// The element type of a tensor is stored as text. If tuples of such tensors are
// nested by aliases, the text grows, and it counts towards the same limit.
TEST(Parser, AliasesOfTexts) {
  std::string growing = "!a0 = tensor<1xf32>\n";
  for (int i = 0; i < 12; ++i) {
    const std::string before = "!a" + std::to_string(i);
    const std::string tuple = "!b" + std::to_string(i);
    growing += tuple + " = tuple<" + before;
    for (int k = 1; k < 10; ++k) growing += ", " + before;
    growing += ">\n!a" + std::to_string(i + 1) + " = tensor<1x" + tuple + ">\n";
  }
  const auto named_often = [](const std::string& value, const std::string& open,
                              const std::string& close,
                              const std::string& sign) {
    std::string text = sign + "a = " + value + "\n" + sign + "b = " + open;
    for (int i = 0; i < 20'000; ++i) text += (i == 0 ? "" : ", ") + sign + "a";
    return text + close + "\n";
  };
  const std::string long_text(1 << 18, 'e');
  for (const std::string& text :
       {growing, named_often("\"" + long_text + "\"", "[", "]", "#"),
        named_often("tensor<1xf32, #e<\"" + long_text + "\">>", "tuple<", ">",
                    "!")}) {
    const auto module = ParseModule(text);
    ASSERT_FALSE(module.ok());
    EXPECT_NE(module.status().message().find("aliases"), std::string_view::npos)
        << module.status().ToString();
  }
  EXPECT_TRUE(ParseModule(named_often("\"text\"", "[", "]", "#")).ok());
}

}  // namespace
}  // namespace ember::tests
