"""Small models for the tests, in StableHLO's text form."""

DOUBLE = b"""
module @double {
  func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %0 = stablehlo.add %x, %x : tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
}
"""

# a model with two results: the sum and the difference of two matrices
TWO_RESULTS = b"""
module @two {
  func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
    %0 = stablehlo.add %a, %b : tensor<2x2xf32>
    %1 = stablehlo.subtract %a, %b : tensor<2x2xf32>
    return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
  }
}
"""

WRONG = b"""
module @wrong {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.frobnicate %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""


def identity(element_type: str, shape: str = "2x3") -> bytes:
    """Returns a model whose result is its input, of this type: "bf16", "i64"."""
    tensor = f"tensor<{shape}x{element_type}>" if shape else f"tensor<{element_type}>"
    return f"module @identity {{ func.func @main(%x: {tensor}) -> {tensor} {{ return %x : {tensor} }} }}".encode()


def negate(element_type: str, count: int) -> bytes:
    """Returns a model whose result is the negative of its input, a vector."""
    tensor = f"tensor<{count}x{element_type}>"
    return (
        f"module @negate {{ func.func @main(%x: {tensor}) -> {tensor} {{ "
        f"%0 = stablehlo.negate %x : {tensor} return %0 : {tensor} }} }}"
    ).encode()


def slow(extent: int = 1200, count: int = 12) -> bytes:
    """Returns a model of `count` products of square matrices, whose run takes seconds on the interpreter."""
    tensor = f"tensor<{extent}x{extent}xf32>"
    lines, last = [], "%x"
    for i in range(count):
        lines.append(
            f"%{i} = stablehlo.dot_general {last}, %x, contracting_dims = [1] x [0] : ({tensor}, {tensor}) -> {tensor}"
        )
        last = f"%{i}"
    body = "\n".join(lines)
    return (
        f"module @slow {{ func.func @main(%x: {tensor}) -> {tensor} {{\n{body}\nreturn {last} : {tensor} }} }}".encode()
    )
