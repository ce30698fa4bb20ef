#!/usr/bin/env python3
"""Compares Ember with PyTorch on a GPU: kernels, or models. Needs PyTorch with CUDA.

    bazel build //jit/ptx:compile_dispatches //tools:vm-compile //tools:vm-bench
    tools/compare_torch.py kernels [--only=REGEX] [--sizes=1024,2048,4096,8192] [-o json]
    tools/compare_torch.py models  [--only=REGEX] [--batches=1,32] [--types=f32,f16] [--torch-compile=MODE] [-o json]

kernels  Products (f16, bf16, f8e4m3fn, f32, tf32) of each size, plain and with bias
         and GELU, a convolution, attention, layer norm, softmax, sums, element-wise:
         kernels by default schedules, compared with those that PyTorch calls (cuBLAS,
         cuDNN, FlashAttention). Both are timed by events around a graph of ten calls,
         in turns; then results are compared. rel: |ours - theirs| / |theirs|. ratio:
         PyTorch's time divided by ours; above 1 Ember is faster. peak: share of the tensor
         cores' peak for the type (f16's for f32), from processors and their highest
         clock. Another process runs them. If a kernel hangs for --most-seconds, or
         fails, its row says so, and a new process runs the rest.
models   ResNet-50, BERT-base and a step of GPT-2 with a cache, random weights, exported
         to ONNX and compiled: vm-bench (inputs and results copied to and from the
         device) compared with eager and torch.compile, which copy the same. Only times
         are compared; vm-diff MODEL -b device:cuda compares results.

Exits 1 if a kernel's results differ, or something is declined or fails; 2 if there is
no PyTorch or no GPU.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

try:
    import torch
except ImportError:
    print("compare_torch: expected PyTorch in this python3 (" + sys.executable + "), found none", file=sys.stderr)
    sys.exit(2)
if not torch.cuda.is_available():
    print("compare_torch: expected a GPU, PyTorch finds none", file=sys.stderr)
    sys.exit(2)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch"))
import cuda_kernel  # noqa: E402
import models as torch_models  # noqa: E402

F = torch.nn.functional
# Peak of one multiprocessor's tensor cores: dense f16 operations per clock, by the
# major compute capability.
OPS_PER_CLOCK = {7: 1024, 8: 2048, 9: 4096}


def gemm(kind, n, epilogue=False):
    """Multiplies by b[k, n]. PyTorch adds the bias in cuBLAS's epilogue, as torch.nn.Linear does."""
    load = (lambda t: t) if kind == "f32" else (lambda t: f"f32({t})")
    bias = f", %bias: f32[{n}]" if epilogue else ""
    value = "%sum[i, j]"
    if epilogue:
        value = "(%sum[i, j] + %bias[j]) * (erf((%sum[i, j] + %bias[j]) * 0.70710677) + 1.0) * 0.5"
    product = f"sum(k < {n}) {load('%a[i, k]')} * {load('%b[k, j]')}"
    body = f"  %y[i, j] = {product}\n" if kind == "f32" else \
        f"  temp %sum: f32[{n}, {n}]\n  %sum[i, j] = {product}\n  %y[i, j] = {kind}({value})\n"
    text = (f"dispatch @gemm(%a: {kind}[{n}, {n}], %b: {kind}[{n}, {n}]{bias}) -> (%y: {kind}[{n}, {n}]) {{\n"
            f"{body}}}\n")
    dtype = cuda_kernel.TYPES[kind]
    a, b = (torch.randn(n, n, device="cuda").to(dtype) for _ in range(2))
    inputs = [a, b] + ([torch.randn(n, device="cuda")] if epilogue else [])
    if epilogue:
        rounded_bias = inputs[2].to(dtype)
        def theirs(): return F.gelu(torch.addmm(rounded_bias, a, b))
    else:
        def theirs(): return a @ b
    return text, inputs, theirs, 2 * n**3


def gemm_transposed(kind, n):
    """Multiplies by b[n, k], the only layout for which the hardware multiplies bytes and, by wgmma, f32 as tf32."""
    is_f8 = kind == "f8e4m3fn"
    load = (lambda t: f"f32({t})") if is_f8 else (lambda t: t)
    product = f"sum(k < {n}) {load('%a[i, k]')} * {load('%b[j, k]')}"
    body = f"  temp %sum: f32[{n}, {n}]\n  %sum[i, j] = {product}\n  %y[i, j] = f16(%sum[i, j])\n" if is_f8 else \
        f"  %y[i, j] = {product}\n"
    text = (f"dispatch @gemm(%a: {kind}[{n}, {n}], %b: {kind}[{n}, {n}]) -> (%y: {'f16' if is_f8 else kind}[{n}, {n}]) "
            f"{{\n{body}}}\n")
    a, b = (torch.randn(n, n, device="cuda").to(cuda_kernel.TYPES[kind]) for _ in range(2))
    one = torch.ones((), device="cuda")

    def theirs():
        if is_f8:
            return torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.float16, use_fast_accum=True)
        torch.backends.cuda.matmul.allow_tf32 = True
        result = a @ b.t()
        torch.backends.cuda.matmul.allow_tf32 = False
        return result
    return text, [a, b], theirs, 2 * n**3


def conv(batch, size, channels):
    x = torch.randn(batch, size, size, channels, device="cuda").half()
    w = (torch.randn(3, 3, channels, channels, device="cuda") * 0.05).half()
    shape = f"{batch}, {size}, {size}, {channels}"
    text = (f"dispatch @conv(%x: f16[{shape}], %w: f16[3, 3, {channels}, {channels}]) -> (%y: f16[{shape}]) {{\n"
            f"  temp %sum: f32[{shape}]\n  %sum[n, h, w, o] = sum(dh < 3, dw < 3, c < {channels}) "
            "f32(pad(%x[n, h + dh - 1, w + dw - 1, c], 0.0)) * f32(%w[dh, dw, c, o])\n"
            "  %y[n, h, w, o] = f16(%sum[n, h, w, o])\n}\n")
    nchw, oihw = x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    return text, [x, w], lambda: F.conv2d(nchw, oihw, padding=1).permute(0, 2, 3, 1), \
        2 * 9 * batch * size**2 * channels**2


def attention(heads, length, depth, causal=False, rows=0, group=1, block=0):
    """Attention. rows: number of queries, if it is not that of keys. group: number of query heads that share a head of keys.
    block: keys and values are in blocks of this many rows, in an order that a table gives."""
    rows = rows or length
    shared = heads // group
    q = torch.randn(heads, rows, depth, device="cuda").half()
    k, v = (torch.randn(shared, length, depth, device="cuda").half() for _ in range(2))
    scale = depth**-0.5
    score = f"%raw[b, i, j] * {scale:.8f}"
    # The causal mask is -inf, not a large negative number, because only a score of -inf certainly
    # hides a key. So the kernel may skip whole blocks of masked keys.
    score = f"select(j <= i, {score}, -inf)" if causal else score
    head = "b" if group == 1 else f"floordiv(b, {group})"
    all_scores = f"f32[{heads}, {rows}, {length}]"
    inputs = [q, k, v]
    arguments = f"%k: f16[{shared}, {length}, {depth}], %v: f16[{shared}, {length}, {depth}]"
    gathered, key = "", f"[{head}, j, d]"
    if block:
        blocks = length // block
        table = torch.randperm(blocks, device="cuda")
        inputs = [q, table, *(x.view(shared, blocks, block, depth).transpose(0, 1).contiguous() for x in (k, v))]
        of_blocks = f"f16[{blocks}, {shared}, {block}, {depth}]"
        arguments = f"%table: i64[{blocks}], %keys: {of_blocks}, %values: {of_blocks}"
        gathered = "".join(f"  temp %{name}: {of_blocks}\n" for name in "kv") + "".join(
            f"  %{name}[n, h, m, d] = %{whole}[%table[n], h, m, d]\n" for name, whole in (("k", "keys"), ("v", "values")))
        key = f"[floordiv(j, {block}), {head}, mod(j, {block}), d]"
    text = (f"dispatch @attention(%q: f16[{heads}, {rows}, {depth}], {arguments}) "
            f"-> (%y: f16[{heads}, {rows}, {depth}]) {{\n"
            f"  temp %raw: {all_scores}\n  temp %score: {all_scores}\n"
            f"  temp %top: f32[{heads}, {rows}]\n  temp %power: {all_scores}\n"
            f"  temp %total: f32[{heads}, {rows}]\n  temp %weight: f16[{heads}, {rows}, {length}]\n"
            f"  temp %sum: f32[{heads}, {rows}, {depth}]\n{gathered}"
            f"  %raw[b, i, j] = sum(d < {depth}) f32(%q[b, i, d]) * f32(%k{key})\n"
            f"  %score[b, i, j] = {score}\n"
            f"  %top[b, i] = maximum(j < {length}) %score[b, i, j]\n"
            f"  %power[b, i, j] = exp(%score[b, i, j] - %top[b, i])\n"
            f"  %total[b, i] = sum(j < {length}) %power[b, i, j]\n"
            f"  %weight[b, i, j] = f16(%power[b, i, j] / %total[b, i])\n"
            f"  %sum[b, i, d] = sum(j < {length}) f32(%weight[b, i, j]) * f32(%v{key})\n"
            "  %y[b, i, d] = f16(%sum[b, i, d])\n}\n")

    def theirs():
        keys, values = k, v
        if block:  # PyTorch has no attention that reads keys through a table of blocks, so the
                   # blocks are gathered first
            keys, values = (x[table].transpose(0, 1).reshape(shared, length, depth) for x in inputs[2:])
        if group > 1:
            keys, values = (x.repeat_interleave(group, 0) for x in (keys, values))
        return F.scaled_dot_product_attention(q[None], keys[None], values[None], is_causal=causal)[0]
    return text, inputs, theirs, 4 * heads * rows * length * depth // (2 if causal else 1)


def layer_norm(rows, width):
    x = torch.randn(rows, width, device="cuda")
    scale, shift = (torch.randn(width, device="cuda") for _ in range(2))
    part = f"{1 / width:.10f}"
    text = (f"dispatch @layer_norm(%x: f32[{rows}, {width}], %scale: f32[{width}], %shift: f32[{width}]) "
            f"-> (%y: f32[{rows}, {width}]) {{\n  temp %sum: f32[{rows}]\n  temp %squares: f32[{rows}]\n"
            f"  %sum[i] = sum(k < {width}) %x[i, k]\n"
            f"  %squares[i] = sum(k < {width}) (%x[i, k] - %sum[i] * {part}) * (%x[i, k] - %sum[i] * {part})\n"
            f"  %y[i, j] = (%x[i, j] - %sum[i] * {part}) / sqrt(%squares[i] * {part} + 0.00001) * %scale[j] "
            "+ %shift[j]\n}\n")
    return text, [x, scale, shift], lambda: F.layer_norm(x, (width,), scale, shift), 8 * rows * width


def softmax(rows, width):
    x = torch.randn(rows, width, device="cuda")
    text = (f"dispatch @softmax(%x: f32[{rows}, {width}]) -> (%y: f32[{rows}, {width}]) {{\n"
            f"  temp %top: f32[{rows}]\n  temp %power: f32[{rows}, {width}]\n  temp %total: f32[{rows}]\n"
            f"  %top[i] = maximum(j < {width}) %x[i, j]\n  %power[i, j] = exp(%x[i, j] - %top[i])\n"
            f"  %total[i] = sum(j < {width}) %power[i, j]\n  %y[i, j] = %power[i, j] / %total[i]\n}}\n")
    return text, [x], lambda: torch.softmax(x, -1), 8 * rows * width


def sum_rows(rows, width):
    x = torch.randn(rows, width, device="cuda")
    text = (f"dispatch @sums(%x: f32[{rows}, {width}]) -> (%y: f32[{rows}]) {{\n"
            f"  %y[i] = sum(k < {width}) %x[i, k]\n}}\n")
    return text, [x], lambda: x.sum(-1), 4 * rows * width


def gelu(n):
    x = torch.randn(n, n, device="cuda").half()
    bias = torch.randn(n, device="cuda").half()
    text = (f"dispatch @gelu(%x: f16[{n}, {n}], %bias: f16[{n}]) -> (%y: f16[{n}, {n}]) {{\n"
            f"  temp %sum: f32[{n}, {n}]\n  %sum[i, k] = f32(%x[i, k]) + f32(%bias[k])\n"
            "  %y[i, k] = f16(%sum[i, k] * (erf(%sum[i, k] * 0.70710677) + 1.0) * 0.5)\n}\n")
    return text, [x, bias], lambda: F.gelu(x + bias), 4 * n * n


def transpose(n):
    x = torch.randn(n, n, device="cuda").half()
    text = f"dispatch @transpose(%x: f16[{n}, {n}]) -> (%y: f16[{n}, {n}]) {{\n  %y[i, j] = %x[j, i]\n}}\n"
    return text, [x], lambda: x.t().contiguous(), 4 * n * n


def kernel_cases(sizes):
    """Maps names to (peak relative to that of f16, or None if it is measured in bytes; function that makes the case)."""
    cases = {}
    for n in sizes:
        for kind in ("f16", "bf16"):
            cases[f"gemm_{kind}_{n}"] = (1, lambda n=n, kind=kind: gemm(kind, n))
        cases[f"gemm_f16_bias_gelu_{n}"] = (1, lambda n=n: gemm("f16", n, True))
        cases[f"gemm_f8e4m3fn_{n}"] = (2, lambda n=n: gemm_transposed("f8e4m3fn", n))
    for n in sizes[:3]:
        cases[f"gemm_f32_{n}"] = (1, lambda n=n: gemm("f32", n))
        cases[f"gemm_tf32_{n}"] = (0.5, lambda n=n: gemm_transposed("f32", n))
    for batch, size, channels in ((8, 56, 64), (32, 14, 256)):
        cases[f"conv3x3_f16_{batch}x{size}x{size}x{channels}"] = \
            (1, lambda b=batch, s=size, c=channels: conv(b, s, c))
    for length in (1024, 2048, 4096, 8192, 16384):
        cases[f"attention_f16_16x{length}x64"] = (1, lambda n=length: attention(16, n, 64))
    cases["attention_f16_causal_16x2048x64"] = (1, lambda: attention(16, 2048, 64, True))
    cases["attention_f16_grouped_16x2048x64"] = (1, lambda: attention(16, 2048, 64, group=4))
    cases["attention_f16_paged_16x2048x64"] = (1, lambda: attention(16, 2048, 64, block=64))
    cases["attention_f16_few_rows_16x16x8192x64"] = (1, lambda: attention(16, 8192, 64, rows=16))
    cases["layer_norm_4096x1024"] = (None, lambda: layer_norm(4096, 1024))
    cases["softmax_4096x4096"] = (None, lambda: softmax(4096, 4096))
    cases["sum_rows_8192x8192"] = (None, lambda: sum_rows(8192, 8192))
    cases["gelu_8192"] = (None, lambda: gelu(8192))
    cases["transpose_8192"] = (None, lambda: transpose(8192))
    return cases


def compare_kernel(compiler, share, make, peak):
    text, inputs, theirs, work = make()
    kernel = compiler.compile(text)
    expected = theirs()
    ours = torch.full_like(expected, float("nan"), memory_format=torch.contiguous_format)
    kernel.run(inputs, [ours])
    torch.cuda.synchronize()
    mine, other = cuda_kernel.milliseconds([lambda: kernel.run(inputs, [ours]), theirs])
    row = {"ours_ms": round(mine, 4), "torch_ms": round(other, 4), "ratio": round(other / mine, 3)}
    if share is None:
        row["ours_GB/s"], row["torch_GB/s"] = (round(work / ms / 1e6) for ms in (mine, other))
    else:
        row["ours_TFLOP/s"], row["torch_TFLOP/s"] = (round(work / ms / 1e9, 1) for ms in (mine, other))
        row["peak"] = round(work / mine / 1e9 / (peak * share), 3)
    # The results are compared after the timed calls, not before them. So a call that corrupts
    # the result of a later call is found.
    wanted, found = expected.float(), ours.float()
    difference = float((found - wanted).norm() / wanted.norm())
    row["rel"] = float(f"{difference:.2g}")
    # The comparison is written so that a NaN makes it false.
    row["ok"] = difference < 5e-3
    return row


def serve_kernels(options):
    """Writes a description of the device, then reads names of kernels and writes a row for each."""
    properties = torch.cuda.get_device_properties(0)
    clock = cuda_kernel.attribute(cuda_kernel.CLOCK_RATE) * 1e3
    peak = properties.multi_processor_count * OPS_PER_CLOCK.get(properties.major, 4096) * clock / 1e12
    compilers = {tf32: cuda_kernel.Compiler(options.bin, not options.no_boxes, tf32) for tf32 in (False, True)}
    # PyTorch measures cuDNN's algorithms for each convolution, and uses the
    # fastest one.
    torch.backends.cudnn.benchmark = True
    print(f"{properties.name}, {compilers[False].target}, {clock / 1e6:.0f} MHz: peak of f16 {peak:.0f} TFLOP/s",
          flush=True)
    cases = kernel_cases(sizes_of(options))
    for name in map(str.strip, sys.stdin):
        share, make = cases[name]
        row = {"kernel": name}
        try:
            row.update(compare_kernel(compilers["tf32" in name], share, make, peak))
        except cuda_kernel.Declined as reason:
            row.update({"declined": str(reason), "ok": False})
        except Exception as error:
            row.update({"error": str(error), "ok": False})
        print(json.dumps(row), flush=True)
        if "error" in row:
            # After an error the device may be in any state, so this process ends and a new process
            # runs the next kernel.
            os._exit(3)
        torch.cuda.empty_cache()


def sizes_of(options):
    return [int(size) for size in options.sizes.split(",")]


class Server:
    """A process that runs serve_kernels."""

    def __init__(self, options):
        self.limit = options.most_seconds
        command = [sys.executable, os.path.abspath(__file__), "kernels", "--serve", f"--bin={options.bin}",
                   f"--sizes={options.sizes}"] + (["--no-boxes"] if options.no_boxes else [])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.device = self.line()

    def line(self):
        """Returns the next line of the process; "" if it has ended, or writes none within the limit."""
        timer = threading.Timer(self.limit, self.process.kill)
        timer.start()
        found = self.process.stdout.readline()
        timer.cancel()
        return found.strip()

    def row(self, name):
        try:
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self.line()
        return json.loads(line) if line else None

    def end(self):
        """Ends the process and returns its exit status."""
        self.process.kill()
        return self.process.wait()


def run_kernels(options):
    rows, server = [], None
    for name in kernel_cases(sizes_of(options)):
        if not re.search(options.only, name):
            continue
        if server is None:
            server = Server(options)
            if not server.device:
                print(f"compare_torch: the process that runs kernels did not begin ({server.end()})", file=sys.stderr)
                sys.exit(1)
            if not rows and options.form == "md":
                print(server.device, flush=True)
        row = server.row(name)
        if row is None:
            row = {"kernel": name, "ok": False,
                   "error": f"no result in {options.most_seconds:g} s, or the process ended ({server.end()})"}
        if "error" in row:
            server.end()
            server = None
        rows.append(row)
        if options.form == "md":
            print("  " + ", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    if server is not None:
        server.end()
    return rows


def run_tool(options, command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=options.most_seconds)
    if done.returncode != 0:
        raise RuntimeError(f"{os.path.basename(command[0])}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout


def compare_model(options, name, batch, kind, folder):
    module, inputs = torch_models.make(name, batch, torch.float16 if kind == "f16" else torch.float32)
    path = os.path.join(folder, f"{name}_{batch}_{kind}.onnx")
    torch_models.export(module, inputs, path)
    compiled = path[:-5] + ".vmfb"
    run_tool(options, [os.path.join(options.bin, "tools/vm-compile"), path, "-o", compiled])
    measured = json.loads(run_tool(options, [os.path.join(options.bin, "tools/vm-bench"), compiled, "--device=cuda",
                                             "--seconds=2", "-o", "json"]))
    ours = measured[0] if isinstance(measured, list) else measured
    row = {"ours_ms": round(ours["median_ms"], 3), "host_ms": round(ours.get("host_ms", 0), 4),
           "on_cpu": ours.get("on_cpu", "")}
    module = module.cuda()
    with torch.inference_mode():
        def call(run):
            return lambda: [result.cpu() for result in run(*[value.cuda() for value in inputs])]
        row["eager_ms"] = round(torch_models.median_milliseconds(call(module), 1.0), 3)
        if options.torch_compile != "none":
            fast = torch.compile(module, mode=options.torch_compile)
            row["compile_ms"] = round(torch_models.median_milliseconds(call(fast), 1.0), 3)
            row["ratio"] = round(row["compile_ms"] / row["ours_ms"], 3)
    return row


def run_models(options):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in torch_models.NAMES:
            for batch in map(int, options.batches.split(",")):
                for kind in options.types.split(","):
                    title = f"{name}_{kind}_batch{batch}"
                    if not re.search(options.only, title):
                        continue
                    row = {"model": title}
                    try:
                        row.update(compare_model(options, name, batch, kind, folder))
                    except Exception as error:  # a failure of one model must not end the comparison
                                                # of the others
                        row["error"] = str(error)[-600:]
                    rows.append(row)
                    if options.form == "md":
                        print("  " + ", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kernels", "models"])
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--sizes", default="1024,2048,4096,8192")
    parser.add_argument("--batches", default="1,32")
    parser.add_argument("--types", default="f32,f16")
    parser.add_argument("--torch-compile", default="max-autotune", metavar="MODE", help="the mode of torch.compile, or none")
    parser.add_argument("--bin", default="bazel-bin")
    parser.add_argument("--no-boxes", action="store_true", help="copies by threads, not by boxes of tensors")
    parser.add_argument("--most-seconds", type=float, default=120, metavar="S",
                        help="counts a kernel, or a run of a model, as hanging after so many seconds (default: %(default)g)")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("-o", choices=["md", "json"], default="md", dest="form")
    options = parser.parse_args()
    if options.serve:
        serve_kernels(options)
        return
    rows = run_kernels(options) if options.what == "kernels" else run_models(options)
    if options.form == "json":
        print(json.dumps(rows, indent=1))
    if not rows:
        print(f"compare_torch: --only: nothing matches '{options.only}'", file=sys.stderr)
        sys.exit(2)
    sys.exit(1 if any("error" in row or not row.get("ok", True) for row in rows) else 0)


if __name__ == "__main__":
    main()
