#include "frontends/torchscript/unsupported.h"

#include <vector>

#include "frontends/torchscript/operator_caller.h"

namespace ember::torchscript {
namespace {

class Walker {
 public:
  Walker(const Heap& heap, CodeLibrary& code) : code_(code) {
    for (const Object& object : heap.objects)
      if (object.type != nullptr) classes_.insert(object.type);
  }

  void Run(const Function& method) {
    open_.push_back(&method);
    while (!open_.empty()) {
      const Function* function = open_.back();
      open_.pop_back();
      if (seen_.insert(function).second) Visit(function->body);
    }
  }

  std::set<std::string> missing_;

 private:
  void Visit(const std::vector<Statement>& block) {
    for (const Statement& statement : block) {
      Visit(statement.value);
      for (const Expression& target : statement.targets) Visit(target);
      Visit(statement.body);
      Visit(statement.otherwise);
    }
  }

  void Visit(const Expression& expression) {
    for (const Expression& part : expression.parts) Visit(part);
    if (expression.kind != Expression::Kind::kAttribute) return;
    const std::string name = TypeText(expression);
    if (name.starts_with("__torch__.")) {
      const StatusOr<const Function*> function = code_.FindFunction(name);
      if (function.ok() && *function != nullptr) open_.push_back(*function);
    }
    for (const Class* one : classes_) {
      const auto method = one->methods.find(expression.text);
      if (method != one->methods.end()) open_.push_back(&method->second);
    }
    std::string op;
    if (name.starts_with("torch.") && name.find('.', 6) == std::string::npos)
      op = "aten::" + name.substr(6);
    if (name.starts_with("ops.") && name.find('?') == std::string::npos) {
      const size_t dot = name.rfind('.');
      if (dot > 4) op = name.substr(4, dot - 4) + "::" + name.substr(dot + 1);
    }
    if (op.empty() || op == "prim::RaiseException" || op == "aten::device")
      return;
    if (!IsSupportedOperator(op)) missing_.insert(op);
  }

  CodeLibrary& code_;
  std::set<const Class*> classes_;
  std::set<const Function*> seen_;
  std::vector<const Function*> open_;
};

}  // namespace

std::set<std::string> UnsupportedOperators(const Heap& heap, CodeLibrary& code,
                                           const Function& method) {
  Walker walker(heap, code);
  walker.Run(method);
  return walker.missing_;
}

}  // namespace ember::torchscript
