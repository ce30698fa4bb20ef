"""Runs Ember's CUDA kernels in PyTorch's process and on its stream, to compare them with PyTorch's.

    compiler = Compiler("bazel-bin", torch.device("cuda"))
    kernel = compiler.compile(dispatch_text)      # tensor/GRAMMAR.md; one dispatch of constant extents
                                                  # (schedule_text: under that schedule)
    kernel.run([x, w], [y])                       # tensors on the device, in the order of the dispatch

jit/ptx/compile_dispatches makes the code, under default schedules or a given one. It is called as
vm/format/device_abi.h defines, through the driver that PyTorch has loaded and on PyTorch's current
stream, so that PyTorch's events and graphs time both sides in the same way. Raises Declined, with the
reason, if Ember does not make the kernel.
"""

import ctypes
import json
import math
import os
import re
import subprocess
import tempfile

import torch

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "i8": torch.int8, "i32": torch.int32,
         "i64": torch.int64,
         "f8e4m3fn": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
# Numbers of CUdevice_attribute: the clock rate in kHz, and the largest number of bytes of shared
# memory that a block can opt into.
CLOCK_RATE, SHARED_OPTIN = 13, 97


class Declined(Exception):
    pass


_cuda = None


def driver():
    global _cuda
    if _cuda is None:
        torch.zeros(1, device="cuda")  # makes PyTorch create the device's CUDA context
        _cuda = ctypes.CDLL("libcuda.so.1")
    return _cuda


def check(what, code):
    if code != 0:
        text = ctypes.c_char_p()
        driver().cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError(f"{what}: {(text.value or b'?').decode()} ({code})")


def attribute(number):
    value = ctypes.c_int()
    check("cuDeviceGetAttribute", driver().cuDeviceGetAttribute(ctypes.byref(value), number, 0))
    return value.value


class Kernel:
    """The loaded phases of a dispatch. It owns the CUDA module and the temporaries."""

    def __init__(self, ptx, buffers, phases):
        self.buffers, self.phases, self.maps = buffers, [], {}
        for buffer in buffers:
            if None in buffer["extents"]:
                raise Declined(f"%{buffer['name']} has open extents")
            if buffer["scope"] == "packed":
                raise Declined(f"%{buffer['name']} is packed by a prologue, which this does not run")
        self.temporaries = {
            number: torch.empty(buffer["extents"], dtype=TYPES[buffer["type"]], device="cuda")
            for number, buffer in enumerate(buffers) if buffer["scope"] == "call"}
        self.record = torch.zeros(8, dtype=torch.int32, device="cuda")
        self.module = ctypes.c_void_p()
        check("cuModuleLoadData", driver().cuModuleLoadData(ctypes.byref(self.module), ptx.encode() + b"\0"))
        for phase in phases:
            if phase["slices"]:
                raise Declined(f"{phase['entry']} needs slices of device memory")
            function = ctypes.c_void_p()
            check("cuModuleGetFunction",
                  driver().cuModuleGetFunction(ctypes.byref(function), self.module, phase["entry"].encode()))
            check("cuFuncSetAttribute",
                  driver().cuFuncSetAttribute(function, MAX_DYNAMIC_SHARED, phase["shared"]))
            self.phases.append((function, phase))

    def tensor_map(self, tensors, number, box):
        """Makes a CUtensorMap of the whole buffer, once for each address. Returns its owner and its address."""
        tensor = tensors[number]
        key = (tensor.data_ptr(), number, tuple(box["box"]), tuple(box["order"]), box["swizzled"])
        if key not in self.maps:
            owner = ctypes.create_string_buffer(128 + 64)
            place = (ctypes.addressof(owner) + 63) // 64 * 64
            extents, order = self.buffers[number]["extents"], box["order"][::-1]
            rank = len(extents)
            strides, distance = [0] * rank, tensor.element_size()
            for dim in reversed(range(rank)):
                strides[dim] = distance
                distance *= extents[dim]
            ordered = lambda values: [values[dim] for dim in order]
            check("cuTensorMapEncodeTiled", driver().cuTensorMapEncodeTiled(
                ctypes.c_void_p(place), {1: 0, 2: 1, 4: 2, 8: 4}[tensor.element_size()], rank,
                ctypes.c_void_p(tensor.data_ptr()), (ctypes.c_uint64 * rank)(*ordered(extents)),
                (ctypes.c_uint64 * max(rank - 1, 1))(*ordered(strides)[1:]), (ctypes.c_uint32 * rank)(*ordered(box["box"])),
                (ctypes.c_uint32 * rank)(*[1] * rank), 0, 3 if box["swizzled"] else 0, 2, 0))
            self.maps[key] = owner, place
        return self.maps[key]

    def run(self, inputs, outputs):
        tensors, given, made = {}, iter(inputs), iter(outputs)
        for number, buffer in enumerate(self.buffers):
            if buffer["scope"] in ("input", "output"):
                tensor = next(given if buffer["scope"] == "input" else made)
                # Only the number of elements is compared, not the shape, because Ember's compiler
                # may have merged adjacent dims.
                if tensor.numel() != math.prod(buffer["extents"]) or tensor.dtype != TYPES[buffer["type"]] \
                        or not tensor.is_contiguous():
                    raise ValueError(f"%{buffer['name']}: expected contiguous {buffer['type']}{buffer['extents']}, "
                                     f"found {tensor.dtype}{list(tensor.shape)}")
                tensors[number] = tensor
        tensors.update(self.temporaries)
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        for function, phase in self.phases:
            values = [tensors[number].data_ptr() for number in phase["bindings"]]
            values += [self.record.data_ptr()] if phase["checks"] else []
            values.append(0)  # The kernel's last argument is the number of its first task.
            words = (ctypes.c_uint64 * len(values))(*values)
            places = [ctypes.addressof(words) + 8 * i for i in range(len(values))]
            maps = [self.tensor_map(tensors, phase["bindings"][box["binding"]], box) for box in phase["boxes"]]
            pointers = (ctypes.c_void_p * (len(places) + len(maps)))(*places, *(place for _, place in maps))
            check("cuLaunchKernel", driver().cuLaunchKernel(
                function, phase["blocks"], 1, 1, phase["threads"], 1, 1, phase["shared"], stream, pointers, None))


class Compiler:
    def __init__(self, bin_folder, has_boxes=True, allow_tf32=False):
        self.tool = os.path.join(bin_folder, "jit/ptx/compile_dispatches")
        major, minor = torch.cuda.get_device_capability()
        properties = torch.cuda.get_device_properties(0)
        self.target = (f"sm_{major}{minor}{'a' if (major, minor) == (9, 0) else ''}+subgroup32"
                       f"+shared{attribute(SHARED_OPTIN)}+invocations1024"
                       f"+processors{properties.multi_processor_count}"
                       f"{'+tensor_maps' if major == 9 and has_boxes else ''}{'+tf32' if allow_tf32 else ''}")

    def compile(self, text, schedule=None):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "dispatch.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            command = [self.tool, f"--target={self.target}", "-o", folder, path]
            if schedule is not None:
                name = re.search(r"dispatch @([\w.]+)", text)[1]
                with open(os.path.join(folder, name + ".schedule"), "w", encoding="utf-8") as file:
                    file.write(schedule)
                command.append("--schedules=" + folder)
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Declined(done.stderr.strip())
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            with open(os.path.join(folder, rows[0]["dispatch"] + ".ptx"), encoding="utf-8") as file:
                ptx = file.read()
        return Kernel(ptx, rows[0]["buffers"], rows[1:])


def milliseconds(sides, rounds=7, repeats=10):
    """Returns the median time of each side's call over rounds, in which the sides take turns with a graph of `repeats` calls."""
    graphs = []
    for call in sides:
        call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(repeats):
                call()
        graphs.append(graph)
    times = [[] for _ in sides]
    for turn in range(rounds + 1):
        for i, graph in enumerate(graphs):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            if turn > 0:
                times[i].append(begin.elapsed_time(end) / repeats)
    return [sorted(of_side)[len(of_side) // 2] for of_side in times]
