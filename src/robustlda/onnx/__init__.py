"""Models as ONNX graphs: files that answer without Python.

`to_onnx` writes a model, or a preparation of tables and a model, as a graph of standard operators. `register` teaches
skl2onnx the estimators, so that `skl2onnx.to_onnx` converts pipelines that hold one.
"""

from robustlda.onnx.models import to_onnx
from robustlda.onnx.registration import register

__all__ = ["register", "to_onnx"]
