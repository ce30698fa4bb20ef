"""Writes an ONNX model of many dispatches, with names as a hostile model could have them, for pages of vm-report.

  report_models.py --dispatches=2000 -o many.onnx

Each step multiplies matrices of other weights, so that no two dispatches have one kernel; every fourth one adds the
result of an earlier step, and every hundredth one that of a much earlier step.
"""

import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTHS = (16, 24, 32, 40, 48)
HOSTILE = ("</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\u2028\"'`&lt;", "a" * 300)


def make(dispatches):
    """Returns a model that compiles to about this number of dispatches."""
    rng = np.random.default_rng(0)
    nodes, weights, value, width = [], [], "x", WIDTHS[0]
    earlier = {}
    for i in range(dispatches):
        name = "step_%d%s" % (i, HOSTILE[i // 7 % len(HOSTILE)] if i % 7 == 3 else "")
        wider = WIDTHS[(i + 1) % len(WIDTHS)]
        weights.append(numpy_helper.from_array(rng.standard_normal((width, wider), np.float32) / width, "w%d" % i))
        out = "v%d" % i
        nodes.append(helper.make_node("MatMul", [value, "w%d" % i], [out + "m"], name))
        back = 100 if i % 100 == 99 else 10 if i % 4 == 3 else 0
        other = earlier.get(i + 1 - back, (None, 0)) if back else (None, 0)
        if other[0] and other[1] == wider:
            nodes.append(helper.make_node("Add", [out + "m", other[0]], [out + "a"], name + "_add"))
        else:
            nodes.append(helper.make_node("Identity", [out + "m"], [out + "a"], name + "_same"))
        nodes.append(helper.make_node("Relu", [out + "a"], [out], name + "_relu"))
        value, width = out, wider
        earlier[i + 1] = (out, wider)
    graph = helper.make_graph(nodes, "many", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, WIDTHS[0]])],
                              [helper.make_tensor_value_info(value, TensorProto.FLOAT, [4, width])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dispatches", type=int, default=2000)
    parser.add_argument("-o", dest="out", required=True)
    options = parser.parse_args()
    onnx.save(make(options.dispatches), options.out)


if __name__ == "__main__":
    main()
