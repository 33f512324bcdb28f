"""How sessions of the ONNX Runtime are set up, for all models that run on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # 40 MB that are not needed before the first text
    import onnxruntime as ort

PROVIDERS = ["CPUExecutionProvider"]


def one_thread() -> ort.SessionOptions:
    """A session computes in the thread that calls it. Two threads that share one text wait for each
    other: that takes half as much work again, and twice as much on a busy machine."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    # Patterns are kept for every length of text.
    options.enable_mem_pattern = False
    return options


def release_memory() -> ort.RunOptions:
    """Gives a session's working memory back after a run: it would be kept for ever, and in the
    memory that all others share each text would leave holes."""
    import onnxruntime as ort

    options = ort.RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return options
