"""PyTorch: torch.compile(model, backend="ember"), exported programs, and TorchScript.

    fast = torch.compile(model.eval(), backend="ember")          # PyTorch 2.6; inference only
    with torch.no_grad():
        fast(x)

    module = ember.from_torch(torch.export.export(model, (x,)))  # PyTorch 2.3 and later
    module = ember.compile(torch.jit.trace(model, (x,)))         # TorchScript, PyTorch 1.13 and later
    module = ember.compile(model, inputs=(x,))                   # the better one of the two that this PyTorch has
    module.save("model.vmfb")

All of them hand a model's bytes to the compiler, in the formats of torch.export.save and torch.jit.save: the importers
of these formats, which are C++, are the only ones.

torch.compile finds `backend` by an entry point of the package. It compiles each graph once, when the graph runs for the
first time. The options are those of `Options`:

    torch.compile(model, backend="ember", options={"tier": "auto", "threads": 4})

- Operators that Ember lacks stay in eager, with one line in the log "ember.pytorch" that names them. The other parts of
  the graph are compiled.
- A graph that records gradients is refused with ember.Unimplemented, which names the tensors.
- Symbolic sizes are open dims: a graph with them is compiled once for all sizes.
- Parameters and buffers become constants. If one of them is changed, the graph is compiled again with the new values.
  If that happens repeatedly, the tensor becomes an input.
"""

from __future__ import annotations

from .backend import Options, backend
from .programs import from_torch, is_torch_model, to_bytes

__all__ = ["Options", "backend", "from_torch", "is_torch_model", "to_bytes"]

