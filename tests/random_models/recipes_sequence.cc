#include <algorithm>

#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

// Makes, changes and takes apart a sequence within one recipe, as recipes only
// pass tensors to each other.
bool Sequence(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("ffdil", 1, 3);
  std::string sequence;
  int64_t length = 0;
  Dims element = x.dims();
  if (b.random().Chance(0.3) && x.dims()[0] > 0) {
    sequence = b.Node("SplitToSequence", {x.name}, {{"axis", 0}});
    length = x.dims()[0];
    element[0] = 1;
  } else if (b.random().Chance(0.2)) {
    sequence =
        b.Node("SequenceEmpty", {}, {{"dtype", static_cast<int>(x.type)}});
  } else {
    Names parts = {x.name};
    for (int64_t i = b.random().Between(0, 2); i > 0; --i)
      parts.push_back(b.Operand(x.type, x.dims()).name);
    sequence = b.Node("SequenceConstruct", parts);
    length = static_cast<int64_t>(parts.size());
  }
  b.Hide(sequence);
  for (int64_t i = b.random().Between(length == 0 ? 1 : 0, 2); i > 0; --i) {
    if (length > 1 && b.random().Chance(0.4)) {
      sequence = b.Node(
          "SequenceErase",
          {sequence, b.Integer(b.random().Between(-length, length - 1))});
      --length;
    } else {
      Names inputs = {sequence, b.New(x.type, element).name};
      if (b.random().Chance(0.5))
        inputs.push_back(b.Integer(b.random().Between(-length, length)));
      sequence = b.Node("SequenceInsert", inputs);
      ++length;
    }
    b.Hide(sequence);
  }
  switch (b.random().Between(0, 3)) {
    case 0:
      b.Node("SequenceAt",
             {sequence, b.Integer(b.random().Between(-length, length - 1))});
      break;
    case 1:
      b.Node("SequenceLength", {sequence});
      break;
    default:
      b.Node("ConcatFromSequence", {sequence},
             {{"axis", 0}, {"new_axis", b.random().Chance(0.4) ? 1 : 0}});
  }
  return true;
}

bool Optional(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fdil", 0, 3);
  const std::string optional = b.Node("Optional", {x.name});
  b.Hide(optional);
  if (b.random().Chance(0.4)) b.Node("OptionalHasElement", {optional});
  b.Node("OptionalGetElement", {optional});
  return true;
}

bool SequenceMap(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("f", 1, 3);
  Names parts = {x.name};
  for (int64_t i = b.random().Between(0, 2); i > 0; --i)
    parts.push_back(b.Operand(x.type, x.dims()).name);
  const std::string sequence = b.Node("SequenceConstruct", parts);
  b.Hide(sequence);
  const std::string mapped = b.Node("SequenceMap", {sequence});
  b.Hide(mapped);
  onnx::AttributeProto& attribute = *b.last().add_attribute();
  attribute.set_name("body");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto& body = *attribute.mutable_g();
  body.set_name(b.NewName("g"));
  const std::string in = b.NewName("b"), out = b.NewName("v");
  for (auto* info : {body.add_input(), body.add_output()})
    info->mutable_type()->mutable_tensor_type()->set_elem_type(x.type);
  body.mutable_input(0)->set_name(in);
  body.mutable_output(0)->set_name(out);
  onnx::NodeProto& node = *body.add_node();
  node.set_op_type(b.random().Chance(0.5) ? "Tanh" : "Abs");
  node.add_input(in);
  node.add_output(out);
  b.Node("ConcatFromSequence", {mapped}, {{"axis", 0}});
  return true;
}

// --- strings
// -------------------------------------------------------------------

bool StringConcat(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("t", 0, 3);
  b.Node("StringConcat",
         {x.name, b.Operand(TensorProto::STRING, x.dims()).name});
  return true;
}

bool StringNormalizer(Builder& b, const Recipe& recipe) {
  const Value x = b.Operand(TensorProto::STRING, {b.random().Between(1, 6)});
  b.Node("StringNormalizer", {x.name},
         {{"case_change_action",
           b.random()
               .Pick(std::vector<std::string>{"LOWER", "UPPER", "NONE"})
               .c_str()},
          {"is_case_sensitive", 1}});
  if (b.random().Chance(0.5)) {
    onnx::AttributeProto& attribute = *b.last().add_attribute();
    attribute.set_name("stopwords");
    attribute.set_type(onnx::AttributeProto::STRINGS);
    attribute.add_strings("ab");
  }
  return true;
}

bool StringSplit(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("t", 0, 2);
  Attributes attributes;
  // Empty strings are left out, because splitting one gives one part in ONNX's
  // reference and none in ONNX Runtime.
  bool has_empty = false;
  for (const std::string& text : *x.tensor.strings)
    has_empty = has_empty || text.empty();
  if (!has_empty && b.random().Chance(0.7))
    attributes.emplace_back("delimiter", " ");
  if (b.random().Chance(0.4)) attributes.emplace_back("maxsplit", 1);
  b.Nodes("StringSplit", {x.name}, 2, attributes);
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"", "ConcatFromSequence", Sequence, 11},
    {"", "Optional", Optional, 15},
    {"", "OptionalGetElement", Optional, 15},
    {"", "OptionalHasElement", Optional, 15},
    {"", "SequenceAt", Sequence, 11},
    {"", "SequenceConstruct", Sequence, 11},
    {"", "SequenceEmpty", Sequence, 11},
    {"", "SequenceErase", Sequence, 11},
    {"", "SequenceInsert", Sequence, 11},
    {"", "SequenceLength", Sequence, 11},
    {"", "SequenceMap", SequenceMap, 17},
    {"", "SplitToSequence", Sequence, 11},
};

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kStringRows[] = {
    {"", "RegexFullMatch", "t", "T[*] pattern:a.*|[a-z]+|.*b"},
    {"", "StringConcat", StringConcat, 20},
    {"", "StringNormalizer", StringNormalizer},
    {"", "StringSplit", StringSplit, 20},
};

}  // namespace

std::span<const Recipe> SequenceRecipes() { return kRows; }
std::span<const Recipe> StringRecipes() { return kStringRows; }

}  // namespace ember::tests
