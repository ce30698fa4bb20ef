// Builds a dispatch. Equal instructions are made once (hash-consing), constants
// fold, and integer index arithmetic is simplified as it is built, so
// definitions can be written naively.
//
//   DispatchBuilder b("scale_rows");
//   Scalar n = b.Parameter("N");
//   int x = b.AddBuffer("x", DType::kF32, BufferKind::kInput,
//                       {n, b.Index(64)});
//   int y = b.AddBuffer("y", DType::kF32, BufferKind::kOutput,
//                       {n, b.Index(64)});
//   StageBuilder& s = b.AddStage();
//   Scalar i = s.SpatialAxis("i", n), j = s.SpatialAxis("j", b.Index(64));
//   s.Yield(s.Load(x, {i, j}) * s.Float(2.0, DType::kF32), y, {i, j});
//   Dispatch dispatch = b.Finish();   // verified by a check: a wrong dispatch
//                                     // is our bug
//
// Buffers may be added in any order; Finish() sorts them into inputs, outputs,
// temporaries (stable) and drops unused instructions and unused parameters
// (find parameters by name afterwards). A value that depends on parameters and
// constants only is computed in the header, wherever it was written. Names are
// made unique identifiers: other characters become '_'. Only names of
// parameters must be identifiers from the start (IsPlainName of
// tensor/names.h). Not thread-safe.
#ifndef EMBER_TENSOR_BUILDER_BUILDER_H_
#define EMBER_TENSOR_BUILDER_BUILDER_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dispatch.h"

namespace ember::tensor {

class DispatchBuilder;
class StageBuilder;

// A scalar value of the dispatch that is being built. It holds its stage (or
// the header), so that operators need no builder argument. Header scalars may
// be used in any stage. A default-constructed Scalar holds no value.
class Scalar {
 public:
  Scalar() = default;
  DType type() const { return type_; }
  bool valid() const { return builder_ != nullptr; }
  // Returns the constant's value if the scalar is an integer or bool constant,
  // else nullopt.
  std::optional<int64_t> IntegerConstant() const;

  // Arithmetic on scalars. All operands must have one type; a C++ integer
  // literal becomes a constant of the other operand's type.
  friend Scalar operator+(Scalar a, Scalar b);
  friend Scalar operator-(Scalar a, Scalar b);
  friend Scalar operator*(Scalar a, Scalar b);
  friend Scalar operator/(Scalar a, Scalar b);
  friend Scalar operator+(Scalar a, int64_t b);
  friend Scalar operator-(Scalar a, int64_t b);
  friend Scalar operator*(Scalar a, int64_t b);
  friend Scalar operator-(Scalar a);
  // Compare two scalars of one type. The result is a bool scalar.
  friend Scalar operator<(Scalar a, Scalar b);
  friend Scalar operator<=(Scalar a, Scalar b);
  friend Scalar operator>(Scalar a, Scalar b) { return b < a; }
  friend Scalar operator>=(Scalar a, Scalar b) { return b <= a; }
  friend Scalar operator==(Scalar a, Scalar b);
  friend Scalar operator!=(Scalar a, Scalar b);

 private:
  friend class DispatchBuilder;
  friend class StageBuilder;
  friend Scalar ConstantLike(Scalar, int64_t);
  Scalar(DispatchBuilder* builder, int scope, uint32_t id, DType type)
      : builder_(builder), scope_(scope), id_(id), type_(type) {}
  DispatchBuilder* builder_ = nullptr;
  // scope of the value: 0 for the header, k for the stage with the index k - 1
  int scope_ = 0;
  uint32_t id_ = 0;
  DType type_ = DType::kI64;
};

// Returns a constant of the type of `a` with this integer value.
Scalar ConstantLike(Scalar a, int64_t value);
// These functions add an instruction with one operand (arithmetic or
// classification) or two (arithmetic or comparison), and return its result.
Scalar Unary(Opcode opcode, Scalar a);
Scalar Binary(Opcode opcode, Scalar a, Scalar b);
Scalar Select(Scalar condition, Scalar if_true, Scalar if_false);
Scalar Cast(Scalar a, DType type);
Scalar Bitcast(Scalar a, DType type);
Scalar FloorDivide(Scalar a, Scalar b);
Scalar FloorDivide(Scalar a, int64_t b);
Scalar Modulo(Scalar a, Scalar b);
Scalar Modulo(Scalar a, int64_t b);
Scalar Minimum(Scalar a, Scalar b);
Scalar Maximum(Scalar a, Scalar b);
Scalar And(Scalar a, Scalar b);
Scalar Or(Scalar a, Scalar b);
Scalar Not(Scalar a);
Scalar Exp(Scalar a);
Scalar Sqrt(Scalar a);

class StageBuilder {
 public:
  // Declares the next axis of the stage and returns its value. All spatial axes
  // must be declared before all reduction axes.
  Scalar SpatialAxis(std::string_view name, Scalar extent);
  Scalar ReductionAxis(std::string_view name, Scalar extent);

  // Make constants. Index makes an i64. Value and IntegerValue convert to
  // `type` as the Cast instruction does.
  Scalar Index(int64_t value);
  Scalar Value(double value, DType type);
  Scalar IntegerValue(int64_t value, DType type);

  Scalar Load(int buffer, std::span<const Scalar> indices);
  Scalar Load(int buffer, std::initializer_list<Scalar> indices);
  Scalar Pad(int buffer, std::span<const Scalar> indices, Scalar otherwise);

  // Ends the stage: stores the value, combined over the reduction axes by the
  // combiner, to the element with these indices. Without reduction axes the
  // combiner has no effect.
  void Yield(Scalar value, int buffer, std::span<const Scalar> indices,
             Combiner combiner = Combiner::kNone,
             Update update = Update::kAssign);
  // Stores a further result of a stage. It is called after Yield, and only if
  // the stage has no reduction (Combiner::kNone).
  void YieldMore(Scalar value, int buffer, std::span<const Scalar> indices,
                 Update update = Update::kAssign);
  // A result of a fold, for YieldFold. The function combine(accumulators,
  // elements) returns the next accumulators. It may use only its arguments,
  // constants and header values; pass any other value, such as an axis, as an
  // element. Result i stores the final value of accumulator i. A negative
  // buffer number means that the result is not stored; only the last results
  // may have one.
  struct FoldResult {
    Scalar value;
    Scalar initial;
    int buffer;
    std::vector<Scalar> indices;
  };
  using Combine = std::function<std::vector<Scalar>(
      std::span<const Scalar> accumulators, std::span<const Scalar> elements)>;
  void YieldFold(std::span<const FoldResult> results, const Combine& combine);

  int index() const { return scope_ - 1; }

 private:
  friend class DispatchBuilder;
  StageBuilder(DispatchBuilder* builder, int scope)
      : builder_(builder), scope_(scope) {}
  DispatchBuilder* builder_;
  int scope_;
};

class DispatchBuilder {
 public:
  // Makes an empty dispatch. With simplify = false instructions are not
  // simplified (though equal ones are still made once), so that tests can
  // compare both dispatches.
  explicit DispatchBuilder(std::string_view name, bool simplify = true);
  ~DispatchBuilder();
  DispatchBuilder(const DispatchBuilder&) = delete;
  DispatchBuilder& operator=(const DispatchBuilder&) = delete;

  // Returns the value of a parameter. Calls with the same name return the same
  // parameter.
  Scalar Parameter(std::string_view name);
  Scalar Index(int64_t value);
  // Adds a buffer and returns its number, which is valid for calls of this
  // builder: Finish may give the buffer another number in the dispatch.
  int AddBuffer(std::string_view name, DType type, BufferKind kind,
                std::vector<Scalar> extents);
  DType BufferType(int buffer) const;
  std::span<const Scalar> BufferExtents(int buffer) const;
  // Adds a stage behind all earlier ones, which is also the order of execution.
  // The reference stays valid until Finish.
  StageBuilder& AddStage();

  // Returns the finished, verified dispatch. Instructions are in canonical
  // order: those of the extents first, then for each stage those of its store
  // indices, its values and its fold, each in post-order.
  Dispatch Finish();

 private:
  friend class Scalar;
  friend class StageBuilder;
  friend Scalar ConstantLike(Scalar, int64_t);
  friend Scalar Unary(Opcode, Scalar);
  friend Scalar Binary(Opcode, Scalar, Scalar);
  friend Scalar Select(Scalar, Scalar, Scalar);
  friend Scalar Cast(Scalar, DType);
  friend Scalar Bitcast(Scalar, DType);
  struct Implementation;
  static Scalar Apply(Opcode opcode, DType type,
                      std::initializer_list<Scalar> operands);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_BUILDER_BUILDER_H_
