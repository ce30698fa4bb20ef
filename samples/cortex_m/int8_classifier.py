#!/usr/bin/python3
"""Writes a small int8 network as a module's text: a convolution, a depthwise one, a layer of 10 classes.

usage: int8_classifier.py > int8_classifier.txt

Its weights are pseudo-random and the same each time, so it classifies nothing; it has the arithmetic of
quantized networks (sums in i32, scaled by a number of 31 bits with rounding, clamped to i8), which has one
right result, bit by bit. It needs no package. vm-compile, vm-run and vm-prejit read the text (vm/isa/GRAMMAR.md).
"""


class Random:
    """A linear congruential generator, whose upper bits are used."""

    def __init__(self, seed):
        self.state = seed

    def below(self, end):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % end

    def numbers(self, count, low, high):
        return [low + self.below(high - low + 1) for _ in range(count)]


def constant(name, kind, dims, numbers):
    return "constant %s: %s[%s] = [%s]" % (name, kind, ", ".join(map(str, dims)), ", ".join(map(str, numbers)))


# The scale of channel c is mult[c] / 2^31 / 2^SHIFT.
SCALED = "i8(min(max(shr(i32(shr(i64({sum} + %bias[{channel}]) * %scale[{channel}] + 1073741824, 31)), {shift}), {low}), 127))"


def main():
    random = Random(62)

    def layer(name, dims, channels):
        count = 1
        for dim in dims:
            count *= dim
        return [
            constant(name + "_weights", "i8", dims, random.numbers(count, -127, 127)),
            constant(name + "_bias", "i32", [channels], random.numbers(channels, -2000, 2000)),
            constant(name + "_scale", "i64", [channels], random.numbers(channels, 2**30, 2**31 - 1)),
        ]

    lines = ['module "int8_classifier.py" from "random numbers"', ""]
    lines += layer("conv", [8, 3, 3], 8) + layer("depthwise", [3, 3, 8], 8) + layer("classes", [10, 288], 10)
    lines += [
        "",
        'origin "convolution, stride 2"',
        "dispatch @conv(%x: i8[12, 12], %w: i8[8, 3, 3], %bias: i32[8], %scale: i64[8]) -> (%y: i8[6, 6, 8]) {",
        "  temp %sum: i32[6, 6, 8]",
        "  %sum[i, j, c] = sum(k < 3, l < 3) i32(pad(%x[i * 2 + k - 1, j * 2 + l - 1], 0)) * i32(%w[c, k, l])",
        "  %y[i, j, c] = " + SCALED.format(sum="%sum[i, j, c]", channel="c", shift=8, low=0),
        "}",
        "",
        'origin "depthwise convolution"',
        "dispatch @depthwise(%x: i8[6, 6, 8], %w: i8[3, 3, 8], %bias: i32[8], %scale: i64[8]) -> (%y: i8[6, 6, 8]) {",
        "  temp %sum: i32[6, 6, 8]",
        "  %sum[i, j, c] = sum(k < 3, l < 3) i32(pad(%x[i + k - 1, j + l - 1, c], 0)) * i32(%w[k, l, c])",
        "  %y[i, j, c] = " + SCALED.format(sum="%sum[i, j, c]", channel="c", shift=8, low=-128),
        "}",
        "",
        'origin "fully connected"',
        "dispatch @classes(%x: i8[288], %w: i8[10, 288], %bias: i32[10], %scale: i64[10]) -> (%y: i8[10]) {",
        "  temp %sum: i32[10]",
        "  %sum[n] = sum(k < 288) i32(%x[k]) * i32(%w[n, k])",
        "  %y[n] = " + SCALED.format(sum="%sum[n]", channel="n", shift=10, low=-128),
        "}",
        "",
        "program main(image: i8[12, 12]) -> (scores: i8[10]) {",
        "  i0 = integer 288",
        "  i1 = integer 10",
        "  b0 = input image",
        "  b1 = arena 640",
        "  b2 = view b1, i0, 0",
        "  b3 = view b1, i0, 320",
    ]
    number = 0
    for name, source, result in (("conv", "b0", "b2"), ("depthwise", "b2", "b3"), ("classes", "b3", "b4")):
        registers = ["b%d" % (5 + number + k) for k in range(3)]
        lines += ["  %s = constant %d" % (register, number + k) for k, register in enumerate(registers)]
        if name == "classes":
            lines.append("  b4 = allocate i1")
        lines.append("  dispatch @%s(%s, %s -> %s)" % (name, source, ", ".join(registers), result))
        number += 3
    lines += ["  result scores = b4 [i1]", "  return", "}"]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
