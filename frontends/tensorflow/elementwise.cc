// Imports elementwise arithmetic, activation functions, and complex numbers.
#include <algorithm>
#include <string>
#include <vector>

#include "frontends/tensorflow/data_types.h"
#include "frontends/tensorflow/operators.h"

namespace ember::tensorflow {
namespace {

Tensor ZerosLike(Tensor x) { return Broadcast(x.Like(0), x.shape()); }

// Returns a product that is 0 where `condition` says that one factor is 0, even
// if the other factor is infinite or NaN; `otherwise` elsewhere.
Tensor ZeroWhere(Tensor condition, Tensor otherwise) {
  return Select(condition, otherwise.Like(0), otherwise);
}

bool IsComplexOperand(OperatorContext& c, int index) {
  return c.InputValue(index).imaginary.present();
}

struct Complex {
  Tensor real, imaginary;
};
Complex ComplexInput(OperatorContext& c, int index) {
  const Value& value = c.InputValue(index);
  if (value.imaginary) return {value.tensor, value.imaginary};
  const Tensor real = c.Input(index);
  return {real, real.present() ? ZerosLike(real) : real};
}
void SetComplex(OperatorContext& c, Tensor real, Tensor imaginary) {
  Value value(real);
  value.imaginary = imaginary;
  c.SetValue(0, std::move(value));
}

}  // namespace

// Imports Add, also of complex numbers, as TensorFlow's kernels do.
void ImportAdd(OperatorContext& c) {
  if (!IsComplexOperand(c, 0) && !IsComplexOperand(c, 1))
    return c.SetOutput(0, c.Input(0) + c.Input(1));
  const Complex a = ComplexInput(c, 0), b = ComplexInput(c, 1);
  SetComplex(c, a.real + b.real, a.imaginary + b.imaginary);
}

void ImportSub(OperatorContext& c) {
  if (!IsComplexOperand(c, 0) && !IsComplexOperand(c, 1))
    return c.SetOutput(0, c.Input(0) - c.Input(1));
  const Complex a = ComplexInput(c, 0), b = ComplexInput(c, 1);
  SetComplex(c, a.real - b.real, a.imaginary - b.imaginary);
}

void ImportMul(OperatorContext& c) {
  if (!IsComplexOperand(c, 0) && !IsComplexOperand(c, 1))
    return c.SetOutput(0, c.Input(0) * c.Input(1));
  const Complex a = ComplexInput(c, 0), b = ComplexInput(c, 1);
  SetComplex(c, a.real * b.real - a.imaginary * b.imaginary,
             a.real * b.imaginary + a.imaginary * b.real);
}

void ImportComplex(OperatorContext& c) {
  const Tensor real = c.Input(0), imaginary = c.Input(1);
  const StatusOr<Shape> shape =
      graph::BroadcastShapes(real.shape(), imaginary.shape());
  if (!shape.ok()) return c.FailInvalid(std::string(shape.status().message()));
  SetComplex(c, Broadcast(real, *shape), Broadcast(imaginary, *shape));
}
void ImportReal(OperatorContext& c) { c.SetOutput(0, ComplexInput(c, 0).real); }
void ImportImag(OperatorContext& c) {
  c.SetOutput(0, ComplexInput(c, 0).imaginary);
}
void ImportConj(OperatorContext& c) {
  if (!IsComplexOperand(c, 0)) return c.SetOutput(0, c.Input(0));
  const Complex x = ComplexInput(c, 0);
  SetComplex(c, x.real, -x.imaginary);
}
void ImportComplexAbs(OperatorContext& c) {
  const Complex x = ComplexInput(c, 0);
  // The real and imaginary parts are scaled by the larger one, so that their
  // squares neither overflow nor vanish.
  const Tensor a = Absolute(x.real), b = Absolute(x.imaginary);
  const Tensor most = Maximum(a, b), least = Minimum(a, b);
  const Tensor ratio = least / Select(Equal(most, 0), most.Like(1), most);
  c.SetOutput(0, most * Sqrt(ratio * ratio + 1.0));
}
void ImportAngle(OperatorContext& c) {
  const Complex x = ComplexInput(c, 0);
  c.SetOutput(0, Binary(Opcode::kAtan2, x.imaginary, x.real));
}

void ImportOnesLike(OperatorContext& c) {
  const Tensor x = c.Input(0);
  c.SetOutput(0, Broadcast(x.Like(1), x.shape()));
}
void ImportZerosLike(OperatorContext& c) {
  if (const auto list = c.InputValue(0).list) {
    List zeros = *list;
    if (zeros.data) zeros.data = ZerosLike(zeros.data);
    return c.SetList(0, std::move(zeros));
  }
  c.SetOutput(0, ZerosLike(c.Input(0)));
}

void ImportGreater(OperatorContext& c) {
  c.SetOutput(0, Less(c.Input(1), c.Input(0)));
}
void ImportGreaterEqual(OperatorContext& c) {
  c.SetOutput(0, LessEqual(c.Input(1), c.Input(0)));
}
void ImportApproximateEqual(OperatorContext& c) {
  c.SetOutput(
      0, Less(Absolute(c.Input(0) - c.Input(1)), c.Number("tolerance", 1e-5)));
}

// Imports a division. The quotient of integers is rounded toward zero.
void ImportDivide(OperatorContext& c) {
  c.SetOutput(0, c.Input(0) / c.Input(1));
}
void ImportDivNoNan(OperatorContext& c) {
  const Tensor b = c.Input(1), none = Equal(b, 0);
  c.SetOutput(0, ZeroWhere(none, c.Input(0) / Select(none, b.Like(1), b)));
}
void ImportMulNoNan(OperatorContext& c) {
  c.SetOutput(0, ZeroWhere(Equal(c.Input(1), 0), c.Input(0) * c.Input(1)));
}
void ImportXdivy(OperatorContext& c) {
  c.SetOutput(0, ZeroWhere(Equal(c.Input(0), 0), c.Input(0) / c.Input(1)));
}
void ImportXlogy(OperatorContext& c) {
  c.SetOutput(0, ZeroWhere(Equal(c.Input(0), 0), c.Input(0) * Log(c.Input(1))));
}
void ImportXlog1py(OperatorContext& c) {
  c.SetOutput(0,
              ZeroWhere(Equal(c.Input(0), 0), c.Input(0) * Log1p(c.Input(1))));
}
void ImportFloorDiv(OperatorContext& c) {
  const Tensor a = c.Input(0), b = c.Input(1);
  c.SetOutput(0,
              a.is_float() ? Floor(a / b) : Binary(Opcode::kFloorDivide, a, b));
}
void ImportSquaredDifference(OperatorContext& c) {
  c.SetOutput(0, Square(c.Input(0) - c.Input(1)));
}
void ImportAddN(OperatorContext& c) {
  Tensor sum = c.Input(0);
  for (int i = 1; i < c.input_count(); ++i) sum = sum + c.Input(i);
  c.SetOutput(0, sum);
}
void ImportShift(OperatorContext& c, Opcode opcode) {
  // TensorFlow clamps shift counts to 0 … bits of the type - 1.
  const Tensor x = c.Input(0);
  const double most = 8 * DTypeByteSize(x.dtype()) - 1;
  c.SetOutput(0, Binary(opcode, x, Minimum(Maximum(c.Input(1), 0), most)));
}
void ImportLeftShift(OperatorContext& c) { ImportShift(c, Opcode::kShiftLeft); }
void ImportRightShift(OperatorContext& c) {
  ImportShift(c, Opcode::kShiftRight);
}

void ImportPopulationCount(OperatorContext& c) {
  const Tensor x = Cast(c.Input(0), DType::kI64);
  Tensor sum = x.Like(0);
  const int bits = 8 * DTypeByteSize(c.Input(0).dtype());
  for (int i = 0; i < bits; ++i)
    sum = sum + And(Binary(Opcode::kShiftRight, x, x.Like(i)), 1);
  c.SetOutput(0, Cast(sum, DType::kU8));
}

// Imports Select. A condition with one dim selects whole rows.
void ImportSelect(OperatorContext& c) {
  if (!c.CheckRank(0, 0) || !c.CheckRank(1, 0) || !c.CheckRank(2, 0)) return;
  Tensor condition = c.Input(0);
  if (condition.rank() == 1 && c.Input(1).rank() > 1)
    condition = AlongAxis(condition, 0, c.Input(1).rank());
  if (c.ok()) c.SetOutput(0, Select(condition, c.Input(1), c.Input(2)));
}
void ImportSelectV2(OperatorContext& c) {
  c.SetOutput(0, Select(c.Input(0), c.Input(1), c.Input(2)));
}
void ImportClipByValue(OperatorContext& c) {
  c.SetOutput(0, Minimum(Maximum(c.Input(0), c.Input(1)), c.Input(2)));
}

void ImportCast(OperatorContext& c) {
  const DataType to = c.FileType("DstT", DT_FLOAT);
  const DType type = c.Type("DstT", DType::kF32);
  const Value& value = c.InputValue(0);
  if (IsComplex(to)) {
    const Complex x = ComplexInput(c, 0);
    return SetComplex(c, Cast(x.real, type), Cast(x.imaginary, type));
  }
  c.SetOutput(0, Cast(value.imaginary ? value.tensor : c.Input(0), type));
}

void ImportBitcast(OperatorContext& c) {
  const DType from = c.Input(0).dtype(), to = c.Type("type", DType::kF32);
  if (DTypeByteSize(from) != DTypeByteSize(to)) {
    return c.FailUnsupported("expected types of one width, found " +
                             std::string(DTypeName(from)) + " and " +
                             std::string(DTypeName(to)));
  }
  c.SetOutput(0, Apply("bitcast", {c.Input(0)}, {{"dtype", to}}));
}

void ImportElu(OperatorContext& c) { c.SetOutput(0, Elu(c.Input(0), 1)); }
void ImportLeakyRelu(OperatorContext& c) {
  c.SetOutput(0, LeakyRelu(c.Input(0), c.Number("alpha", 0.2f)));
}
void ImportSoftmax(OperatorContext& c) {
  if (c.CheckRank(0, 1))
    c.SetOutput(0, Softmax(c.Input(0), c.Input(0).rank() - 1));
}
void ImportLogSoftmax(OperatorContext& c) {
  if (c.CheckRank(0, 1))
    c.SetOutput(0, ops::LogSoftmax(c.Input(0), c.Input(0).rank() - 1));
}

void ImportEnsureShape(OperatorContext& c) {
  const auto shape = c.ShapeAttribute("shape");
  const Tensor x = c.Input(0);
  if (!shape) return c.SetOutput(0, x);
  if (static_cast<int>(shape->size()) != x.rank()) {
    return c.FailInvalid("expected " + std::to_string(shape->size()) +
                         " dims, found " + graph::ShapeToString(x.shape()));
  }
  Tensor y = x;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t extent = (*shape)[static_cast<size_t>(i)];
    if (extent < 0) continue;
    if (x.dim(i).is_constant() && x.dim(i) != Dim(extent)) {
      return c.FailInvalid("expected an extent of " + std::to_string(extent) +
                           " along axis " + std::to_string(i) + ", found " +
                           graph::ShapeToString(x.shape()));
    }
    y = ops::WithDim(y, i, Dim(extent));
  }
  c.SetOutput(0, y);
}

// Imports operators that return their operand unchanged.
void ImportPass(OperatorContext& c) { c.SetValue(0, c.InputValue(0)); }

}  // namespace ember::tensorflow
