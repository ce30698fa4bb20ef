"""llvm_beside: libember_llvm.so in the folder of programs that link the JIT themselves.

A program finds it beside itself, as where it is installed (jit/llvm/library/llvm_library.h).
Tools need nothing: they load libember_jit.so, which finds it in the build's own folders.
"""

def llvm_beside():
    """Makes :libember_llvm.so, which the package's programs and tests take as data."""
    native.genrule(
        name = "llvm_beside",
        srcs = ["//jit/llvm/library:libember_llvm.so"],
        outs = ["libember_llvm.so"],
        cmd = "cp $< $@",
        visibility = ["//visibility:private"],
    )
