#include "tests/stablehlo/operator_cases.h"

namespace ember::tests {
namespace {

std::string Replaced(std::string text, const std::string& from,
                     const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

std::string ProgramOf(const OperatorCase& row) {
  std::string body = row.body;
  for (size_t i = 0; i < row.inputs.size(); ++i)
    body = Replaced(body, std::string("%") + static_cast<char>('A' + i),
                    TypeText(row.inputs[i]));
  body = Replaced(body, "%T", TypeText(row.results[0]));
  std::string text = ProgramOf(row.inputs, row.results, body);
  if (body.find("@helper") != std::string::npos) {
    text += R"(
func.func private @helper(%x: tensor<2xi32>) -> tensor<2xi32> {
  %y = stablehlo.add %x, %x : tensor<2xi32>
  return %y : tensor<2xi32>
}
)";
  }
  return text;
}

}  // namespace ember::tests
