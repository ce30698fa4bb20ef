#!/usr/bin/env python3
"""Runs torchvision's models with Ember and compares them with PyTorch.

    apt-get install python3-torch python3-torchvision
    bazel build //tools:vm-run
    /usr/bin/python3 tools/torchvision_models.py [--only=REGEX] [--kinds=classification,detection] [--ways=scripted,traced] [-o table.md]

Every model of torchvision is made with random weights (nothing is downloaded), scripted, traced and, where this PyTorch
has torch.export, exported; vm-run imports the file and runs it on inputs of a seed, and its results are compared with
those that PyTorch computes from the same file. The table has a row for each model:

    right    all results within --rtol and --atol, or 1e-5 of the largest one (of quantized models: within --steps steps of the largest result)
    REFUSED  vm-run does not import it, with the first line of its message
    WRONG    results differ, with vm-run's message
    absent   PyTorch itself cannot script, trace or run it, with its message

Detectors find nothing with random weights; --least-score=0 (the default here) lets boxes through, so that there is
something to compare. Images are as small as each architecture allows. One thread.

Exits 1 where a model is wrong, 2 where the command line is, or where there is no torchvision.
"""

import argparse
import inspect
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
try:
    import numpy
    import torch
    import torchvision
except ImportError as error:
    print(f"torchvision_models: expected PyTorch and torchvision in this python3 ({sys.executable}), found none: {error}",
          file=sys.stderr)
    sys.exit(2)

models = torchvision.models
KINDS = ("classification", "segmentation", "video", "detection", "optical_flow", "quantization")
WAYS = ("scripted", "traced", "exported")
# For these architectures: the smallest width and height of images that they accept. All others get
# images of 64 x 64.
SIZES = {"inception_v3": 96, "alexnet": 64, "vit_h_14": 56, "squeezenet1_0": 64, "densenet": 64, "maxvit_t": 224}
# Architectures that accept images of one size only, because their position embeddings are made for
# that size.
FIXED_IMAGES = re.compile(r"^(vit_|maxvit)")


def builders(kind):
    """Functions that make the models of a kind, by their names."""
    module = {"classification": models}.get(kind) or getattr(models, kind)
    found = {}
    for name in sorted(dir(module)):
        make = getattr(module, name)
        if not inspect.isfunction(make) or name.startswith(("_", "get_", "list_")):
            continue
        parameters = inspect.signature(make).parameters
        if "progress" in parameters and "weights" in parameters:
            found[name] = make
    return found


def build(kind, name, make, least_score):
    torch.manual_seed(0)
    arguments = {"weights": None}
    parameters = inspect.signature(make).parameters
    if "weights_backbone" in parameters:
        arguments["weights_backbone"] = None
    if kind == "quantization":
        arguments["quantize"] = True
        # The results of quantized operators depend on how PyTorch's engine rounds. QNNPACK is used,
        # because Ember rounds in the same way. oneDNN, PyTorch's default on x86, differs by one step in
        # 0.3% of the results of two convolutions and a sum. Most model builders then ask for FBGEMM; they
        # get QNNPACK if this PyTorch lacks FBGEMM.
        torch.backends.quantized.engine = "qnnpack"
        owner = sys.modules[make.__module__]
        own = models.quantization.utils.quantize_model
        engines = torch.backends.quantized.supported_engines
        owner.quantize_model = lambda model, backend: own(model, backend if backend in engines else "qnnpack")
    if FIXED_IMAGES.match(name) and name.startswith("vit_"):
        arguments["image_size"] = 56 if name.endswith("14") else 64
    if name in ("googlenet", "inception_v3"):
        arguments["init_weights"] = False
    model = make(**arguments)
    if kind == "detection":
        for attribute in ("score_thresh",):
            if hasattr(model, attribute):
                setattr(model, attribute, least_score)
        if hasattr(model, "roi_heads"):
            model.roi_heads.score_thresh = least_score
        model.transform.min_size, model.transform.max_size = (64,), 96
        if name.startswith("ssd"):
            model.transform.min_size, model.transform.max_size = model.transform.fixed_size[:1], model.transform.fixed_size[0]
    model.eval()
    # Statistics of batch norms and biases get random values, so that these layers have an effect.
    with torch.no_grad():
        for part in model.modules():
            if isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.running_mean is not None:
                part.running_mean.normal_(0, 0.1)
                part.running_var.uniform_(*((0.01, 0.1) if name.startswith("ssdlite") else (0.8, 1.2)))
        # The default weights make the scores of all boxes nearly equal. Then rounding decides which 300 boxes
        # are kept: PyTorch in f64 keeps only 3 of those that it keeps in f32. With these weights it keeps the
        # same 300.
        if name.startswith("ssdlite"):
            for parameter in model.head.parameters():
                parameter.normal_(0, 0.1)
    return model


def inputs_of(kind, name):
    torch.manual_seed(1)
    if kind == "video":
        extent = 224 if name.startswith("mvit") or name == "s3d" else 64
        frames = {"mvit_v1_b": 16, "mvit_v2_s": 16, "s3d": 16}.get(name, 4)
        return [torch.randn(1, 3, frames, extent, extent)]
    if kind == "optical_flow":
        return [torch.rand(1, 3, 128, 128) * 2 - 1 for _ in range(2)]
    if kind == "detection":
        return [[torch.rand(3, 64, 80)]]
    extent = SIZES.get(name, 64)
    if name.startswith("vit_"):
        extent = 56 if name.endswith("14") else 64
    return [torch.randn(1, 3, extent, extent)]


def flat(value, name="output"):
    """All tensors of a result, in the order in which Ember gives them."""
    if isinstance(value, torch.Tensor):
        return [value.dequantize() if value.is_quantized else value]
    if isinstance(value, dict):
        return [part for item in value.values() for part in flat(item)]
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in flat(item)]
    return []


class Plain(torch.nn.Module):
    """A detector for tracing: one image in, tensors out."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        found = self.model([image])
        return tuple(found[0].values())


class Failure(Exception):
    pass


def compare_detections(expected, found, tolerance):
    """Boxes that are alike, whatever their order: sums that are rounded otherwise swap boxes of nearly equal scores."""
    def parts(tensors):
        boxes = next(t for t in tensors if t.ndim == 2 and t.shape[-1] == 4)
        labels = next(t for t in tensors if t.ndim == 1 and t.dtype.kind == "i")
        scores = next(t for t in tensors if t.ndim == 1 and t.dtype.kind == "f")
        return boxes, labels, scores
    try:
        boxes, labels, scores = parts(expected)
        own_boxes, own_labels, own_scores = parts(found)
    except StopIteration:
        return "WRONG", "results of other shapes and types"
    same = 0
    for i in range(len(boxes)):
        near = (numpy.abs(own_boxes - boxes[i]).max(axis=1) < 0.5) & (own_labels == labels[i]) \
            & (numpy.abs(own_scores - scores[i]) < tolerance) if len(own_boxes) else numpy.zeros(1, bool)
        same += bool(near.any())
    text = f"{same} of {len(boxes)} boxes, found {len(own_boxes)}"
    return ("right" if same >= 0.97 * len(boxes) and abs(len(own_boxes) - len(boxes)) <= 0.03 * len(boxes) else "WRONG"), text


def save(way, kind, model, inputs, path):
    """Writes the file; what PyTorch computes from it."""
    if way == "exported":
        if not hasattr(torch, "export") or not hasattr(torch.export, "save"):
            raise Failure(f"PyTorch {torch.__version__.split('+')[0]} has no torch.export")
        program = torch.export.export(model, tuple(inputs))
        torch.export.save(program, path)
        return program.module()(*inputs)
    if way == "scripted":
        module = torch.jit.script(model)
    else:
        traced = Plain(model) if kind == "detection" else model
        given = inputs[0] if kind == "detection" else inputs
        module = torch.jit.trace(traced, tuple(given), check_trace=False, strict=False)
    module.save(path)
    module = torch.jit.load(path)
    given = inputs[0] if kind == "detection" and way == "traced" else inputs
    expected = module(*given)
    # A scripted detection model returns a pair, (losses, detections).
    return expected


def message_of(error):
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__).strip()[:160]


def run(options, way, kind, name, model, inputs):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + (".pt2" if way == "exported" else ".pt"))
        try:
            with torch.no_grad():
                expected = flat(save(way, kind, model, inputs, path))
        except Failure as error:
            return "absent", str(error), 0
        except Exception as error:  # noqa: BLE001 (whatever PyTorch raises)
            return "absent", message_of(error), 0
        command = [options.vm_run, path, f"--tier={options.tier}", "--threads=1", "--print=none", "--no-kernel-cache"]
        given = inputs[0] if kind == "detection" else inputs
        for i, tensor in enumerate(given):
            file = os.path.join(folder, f"input_{i}.npy")
            numpy.save(file, tensor.numpy())
            is_list = kind == "detection" and way == "scripted"
            command.append(f"--input=images_{i}=@{file}" if is_list else f"--input=@{file}")
        # Random weights make some results large, and both engines round at that size. So the
        # absolute tolerance is relative to the largest result.
        atol = max([options.atol] + [1e-5 * float(part.abs().max()) for part in expected if part.numel() and part.is_floating_point()])
        if kind == "quantization":
            atol = options.steps * max(float(part.abs().max()) for part in expected) / 128
        arrays = [numpy.asarray(tensor.detach().numpy(), order="C") for tensor in expected]
        for i in range(len(expected) if kind == "detection" else 0):
            command.append(f"--output=@{folder}/output_{i}.npy")
        for i, tensor in enumerate(expected if kind != "detection" else ()):
            file = os.path.join(folder, f"expected_{i}.npy")
            numpy.save(file, numpy.asarray(tensor.detach().numpy(), order="C"))
            command.append(f"--expected=@{file}")
        command += [f"--rtol={options.rtol}", f"--atol={atol}"]
        start = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.most_seconds)
        except subprocess.TimeoutExpired:
            return "WRONG", f"not done after {options.most_seconds} s", options.most_seconds
        seconds = time.monotonic() - start
        if done.returncode == 0 and kind == "detection":
            found = [numpy.load(f"{folder}/output_{i}.npy") for i in range(len(arrays))]
            return (*compare_detections(arrays, found, options.rtol), seconds)
        if done.returncode == 0:
            return "right", "", seconds
        lines = (done.stderr + done.stdout).strip().splitlines() or ["no message"]
        text = lines[0].replace(folder + "/", "")
        wrong = re.search(r"differ|expected_\d+|want ", done.stderr + done.stdout) and "expected a" not in lines[0]
        if done.returncode not in (0, 1, 2):
            return "WRONG", f"exit {done.returncode}: {text}", seconds
        return ("WRONG" if wrong else "REFUSED"), (lines[-1] if wrong else text)[:300].replace(folder + "/", ""), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vm-run", default="bazel-bin/tools/vm-run", help="the program (default: %(default)s)")
    parser.add_argument("--only", default="", help="runs only models whose names this regular expression finds")
    parser.add_argument("--kinds", default=",".join(KINDS), help="kinds of models (default: %(default)s)")
    parser.add_argument("--ways", default=",".join(WAYS), help="ways to export (default: %(default)s)")
    parser.add_argument("--tier", default="0", help="the tier of vm-run (default: %(default)s)")
    parser.add_argument("--rtol", type=float, default=1e-3)
    parser.add_argument("--atol", type=float, default=1e-3)
    parser.add_argument("--steps", type=float, default=0.5, help="permits quantized results to differ by so many steps (default: %(default)s)")
    parser.add_argument("--least-score", type=float, default=0, help="detectors give boxes with at least this score (default: %(default)s)")
    parser.add_argument("--most-seconds", type=int, default=600, help="limits the time of one run (default: %(default)s)")
    parser.add_argument("-o", "--output", help="writes the table to this file, as Markdown")
    options = parser.parse_args()
    for given, known in ((options.kinds, KINDS), (options.ways, WAYS)):
        for one in given.split(","):
            if one not in known:
                parser.error(f"expected {', '.join(known)}, found '{one}'")
    if not os.path.exists(options.vm_run):
        parser.error(f"--vm-run: expected a program, found none at {options.vm_run}")
    torch.set_num_threads(1)
    ways = options.ways.split(",")
    rows = [f"torchvision {torchvision.__version__} with PyTorch {torch.__version__}, tier {options.tier}", "",
            "| kind | model | " + " | ".join(ways) + " |", "| --- | --- |" + " --- |" * len(ways)]
    counts = {}
    for kind in options.kinds.split(","):
        for name, make in builders(kind).items():
            if not re.search(options.only, name):
                continue
            cells = []
            try:
                model = build(kind, name, make, options.least_score)
                inputs = inputs_of(kind, name)
            except Exception as error:  # noqa: BLE001
                cells = [f"absent: {message_of(error)}"] * len(ways)
                counts["absent"] = counts.get("absent", 0) + len(ways)
                model = None
            for way in ways if model is not None else ():
                verdict, why, seconds = run(options, way, kind, name, model, inputs)
                counts[verdict] = counts.get(verdict, 0) + 1
                cells.append(verdict + (f": {why}" if why else ""))
                print(f"{kind} {name} {way}: {cells[-1]} ({seconds:.1f} s)", flush=True)
            rows.append(f"| {kind} | {name} | " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    rows += ["", ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))]
    if options.output:
        with open(options.output, "w") as file:
            file.write("\n".join(rows) + "\n")
    print(rows[-1])
    if not counts:
        print("torchvision_models: expected a model that --only finds, found none", file=sys.stderr)
        return 2
    return 1 if counts.get("WRONG") else 0


if __name__ == "__main__":
    sys.exit(main())
