// Builds one function of a module from blocks and instructions. It folds
// constants and computes equal values once.
//
//   CodeBuilder code(module);
//   code.EnterScope();
//   const Value sum = code.Add(a, b);
//   code.If(code.Binary(spv::Op::OpULessThan, Scalar::kBool, sum, limit),
//           [&] { code.Store(pointer, sum); });
//   module.AddFunction(code.Finish(function_id));
//
// Scopes are nested parts of structured code: the function, the body of a loop,
// a branch. A scope may have a prologue, a block before its code, for values
// that depend on nothing further in (CodeBuilder::At). A value is reused in
// code that its block dominates.
//
// Knows SPIR-V's rules of structured control flow and nothing of kernels. Not
// thread-safe.
#ifndef EMBER_JIT_SPIRV_CODE_BUILDER_H_
#define EMBER_JIT_SPIRV_CODE_BUILDER_H_

#include <spirv/unified1/GLSL.std.450.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "jit/spirv/module_builder.h"

namespace ember::jit::spirv {

// The depth of values that must be computed at their statement.
inline constexpr int kHere = INT32_MAX;

class CodeBuilder {
 public:
  explicit CodeBuilder(ModuleBuilder& module);

  ModuleBuilder& module() { return module_; }
  // Returns the number of instructions that were emitted so far, as a measure
  // of the code's size.
  int64_t size() const { return size_; }

  // --- scopes ---

  void EnterScope(bool has_prologue = true);
  void LeaveScope();
  int depth() const { return static_cast<int>(scopes_.size()) - 1; }

  // While an object of this class exists, instructions are added to the
  // prologue of the scope at this depth (kHere: to the current block).
  class At {
   public:
    At(CodeBuilder& code, int depth);
    ~At();
    At(const At&) = delete;
    At& operator=(const At&) = delete;

   private:
    CodeBuilder& code_;
    // The builder's previous position, which the destructor restores if
    // `moved_` is true.
    bool moved_;
    size_t block_;
    int at_depth_;
  };

  // --- values ---

  // Emits an instruction without side effects; an equal one that was emitted
  // before is reused. rounds: true if drivers must not fuse the instruction
  // with another one (NoContraction).
  Value Pure(spv::Op op, Scalar type, std::initializer_list<uint32_t> operands,
             bool rounds = false);
  // Emits the conversion of a float to another float type. It is marked as
  // rounded, because newer drivers otherwise remove pairs such as f64(f32(x)).
  Value ConvertFloat(Scalar type, Value a) {
    return Pure(spv::Op::OpFConvert, type, {a.id}, true);
  }
  Value Unary(spv::Op op, Scalar type, Value a) {
    return Pure(op, type, {a.id});
  }
  Value Binary(spv::Op op, Scalar type, Value a, Value b) {
    return Pure(op, type, {a.id, b.id});
  }
  // Emits a call of a function of the instruction set GLSL.std.450. The result
  // has a's type.
  Value Call(GLSLstd450 function, Value a) {
    return Pure(spv::Op::OpExtInst, a.type,
                {module_.Library(), static_cast<uint32_t>(function), a.id});
  }
  Value Call(GLSLstd450 function, Value a, Value b) {
    return Pure(
        spv::Op::OpExtInst, a.type,
        {module_.Library(), static_cast<uint32_t>(function), a.id, b.id});
  }

  Value Constant(Scalar type, uint64_t bits) {
    return module_.Constant(type, bits);
  }
  Value Bool(bool value) { return Constant(Scalar::kBool, value); }
  Value Int(int64_t value) {
    return Constant(Scalar::kI32, static_cast<uint64_t>(value));
  }
  // Returns a constant of the type of `other`.
  Value Like(Value other, int64_t value) {
    return Constant(other.type, static_cast<uint64_t>(value));
  }
  std::optional<uint64_t> Known(Value value) const {
    return module_.BitsOfConstant(value);
  }
  // Returns the sign-extended number if the value is an integer constant;
  // otherwise nullopt.
  std::optional<int64_t> KnownInteger(Value value) const;
  bool IsKnown(Value value, int64_t what) const {
    return KnownInteger(value) == what;
  }

  // Integer operations, which wrap. Both operands have the same type.
  Value Add(Value a, Value b);
  Value Subtract(Value a, Value b);
  Value Multiply(Value a, Value b);
  Value BitAnd(Value a, Value b);
  Value BitOr(Value a, Value b);
  Value BitXor(Value a, Value b);
  // Shifts of integers. `b` must be less than the number of bits.
  Value ShiftLeft(Value a, Value b);
  // ShiftRight fills the upper bits with zeros.
  Value ShiftRight(Value a, Value b);
  Value Equal(Value a, Value b);
  // Less and LessEqual compare integers. A 64-bit integer (long) that was
  // sign-extended from a 32-bit integer (word) is compared as a word, which is
  // cheaper. It also avoids a bug: Mesa 22.3's compiler takes such a long for
  // 2^31 or more if it is compared with a constant.
  Value Less(Value a, Value b, bool is_signed);
  Value LessEqual(Value a, Value b, bool is_signed);
  // ToWord truncates an integer to kI32; ToLong extends one to kI64.
  Value ToWord(Value a);
  Value ToLong(Value a, bool is_signed);

  Value And(Value a, Value b);
  Value Or(Value a, Value b);
  Value Not(Value a);
  Value Select(Value condition, Value a, Value b);

  // PairOfHalves converts the two f16 in a word to a vector of two f32;
  // FromHalves converts such a vector back.
  Id PairOfHalves(Value word);
  Value FromHalves(Id pair) {
    return Pure(spv::Op::OpExtInst, Scalar::kI32,
                {module_.Library(),
                 static_cast<uint32_t>(GLSLstd450PackHalf2x16), pair});
  }

  // --- memory ---

  // Declares a variable of the function, and returns its id.
  Id Local(Id type, std::string_view name);
  Id Pointer(spv::StorageClass storage, Id type, Id base,
             std::initializer_list<Value> indices);
  // Emits a load. A load of the same pointer and version as an earlier one
  // reuses its value. `version`: a number that the caller changes when the
  // memory's contents change. `access`: memory operands, which are the same for
  // all accesses of a pointer.
  Value Load(Scalar type, Id pointer, uint32_t version, uint32_t access = 0) {
    return {LoadOf(module_.TypeOf(type), pointer, version, access), type};
  }
  Id LoadOf(Id type, Id pointer, uint32_t version, uint32_t access = 0);
  // Emits the load of a cooperative matrix. `version` and `access` are those of
  // Load.
  Id LoadMatrix(Id type, Id pointer, MatrixLayout layout, uint32_t stride,
                uint32_t version, uint32_t access);
  // Emits the load of texel `number` of a texel buffer, which is a vector of
  // four words.
  Id Fetch(Id variable, Id type, Value number, uint32_t version);
  // Vector makes a vector of values of one type; Component extracts one
  // component of a vector.
  Id Vector(std::span<const Value> values);
  Value Component(Scalar type, Id vector, uint32_t number) {
    return Pure(spv::Op::OpCompositeExtract, type, {vector, number});
  }
  void Store(Id pointer, Value value, uint32_t access = 0) {
    StoreOf(pointer, value.id, access);
  }
  void StoreOf(Id pointer, Id value, uint32_t access = 0);
  void Effect(spv::Op op, std::initializer_list<uint32_t> operands);
  Value Result(spv::Op op, Scalar type,
               std::initializer_list<uint32_t> operands);

  // --- control flow ---

  // Emits a branch whose body is emitted by then(). Values that the body
  // computes must not be reused after it, so they are not recorded in the
  // current scope; a body that needs values of its own enters a scope.
  template <typename Then>
  void If(Value condition, Then&& then) {
    const Id body = module_.NewId(), after = module_.NewId();
    BranchIf(condition, body, after, after);
    Begin(body);
    ++conditional_;
    then();
    --conditional_;
    Branch(after);
    Begin(after);
  }
  template <typename Then, typename Else>
  void IfElse(Value condition, Then&& then, Else&& otherwise) {
    const Id body = module_.NewId(), other = module_.NewId(),
             after = module_.NewId();
    BranchIf(condition, body, other, after);
    ++conditional_;
    Begin(body);
    then();
    Branch(after);
    Begin(other);
    otherwise();
    Branch(after);
    Begin(after);
    --conditional_;
  }
  // Emits a branch, and returns a value that is make()'s if the condition holds
  // and `otherwise` if not.
  template <typename Make>
  Value ValueIf(Value condition, Value otherwise, Make&& make) {
    const Id body = module_.NewId(), after = module_.NewId();
    const Id before = current_label();
    BranchIf(condition, body, after, after);
    Begin(body);
    ++conditional_;
    const Value made = make();
    const Id end = current_label();
    --conditional_;
    Branch(after);
    Begin(after);
    return Result(spv::Op::OpPhi, made.type,
                  {made.id, end, otherwise.id, before});
  }
  // Emits a loop with the body body(value), where `value` runs from 0 to end -
  // 1.
  template <typename Body>
  void Loop(Value end, Body&& body) {
    const Id before = current_label(), header = module_.NewId(),
             inside = module_.NewId(), next = module_.NewId(),
             after = module_.NewId();
    Branch(header);
    Begin(header);
    const Value following = {module_.NewId(), end.type};
    const Value value = Result(spv::Op::OpPhi, end.type,
                               {Like(end, 0).id, before, following.id, next});
    const Value goes_on =
        Result(spv::Op::OpSLessThan, Scalar::kBool, {value.id, end.id});
    LoopBranch(goes_on, inside, next, after);
    Begin(inside);
    ++conditional_;
    body(value);
    --conditional_;
    Branch(next);
    Begin(next);
    Effect(spv::Op::OpIAdd,
           {module_.TypeOf(end.type), following.id, value.id, Like(end, 1).id});
    Branch(header);
    Begin(after);
  }

  // Returns the words of the complete function, whose id is `function`. The
  // builder is then empty.
  Words Finish(Id function);

 private:
  struct Block {
    Id label = 0;
    Words words;
    Words end;
  };
  using Key = std::pair<spv::Op, Words>;
  struct Scope {
    size_t prologue = 0;  // number of the prologue's block in blocks_
    bool has_prologue = false;
    int conditional = 0;
    // Values that can be reused, by instruction: those computed in the
    // prologue, and those computed in the scope's code after it.
    std::map<Key, Id> prologue_values, values;
  };

  Id current_label() const { return blocks_[current_].label; }
  void Begin(Id label);
  void Branch(Id target);
  void BranchIf(Value condition, Id then, Id otherwise, Id after);
  void LoopBranch(Value condition, Id inside, Id next, Id after);
  const Id* Find(const Key& key) const;
  void Remember(Key key, Id id);
  // Returns the word from which a long was sign-extended; nullopt if none is
  // known.
  std::optional<Value> WordOf(Value a) const;
  // Compares two signed longs as words if both were sign-extended from words,
  // or if one was and the other is a constant; otherwise returns nullopt. The
  // result may be a constant.
  std::optional<Value> OrderOfWords(spv::Op op, Value a, Value b);

  ModuleBuilder& module_;
  std::vector<Block> blocks_;
  size_t current_ = 0;
  int at_depth_ = kHere;
  std::vector<Scope> scopes_;
  // Number of bodies of If, IfElse, ValueIf and Loop around the current
  // position, within the last scope. If it is not 0, values are not recorded
  // for reuse.
  int conditional_ = 0;
  // The words from which longs were sign-extended. Key: the long's id.
  std::map<Id, Value> widened_;
  Words locals_;
  int64_t size_ = 0;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_CODE_BUILDER_H_
