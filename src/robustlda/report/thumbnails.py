"""Small pictures as PNG in data URLs."""

import base64
from io import BytesIO
from typing import Any

import numpy as np

from robustlda.linalg import Array

MAX_SIDE = 64


def thumbnail(image: Any) -> str:
    """A picture of gray values or colors from 0 to 1: height × width (× 3), or flat if it is a square."""
    from PIL import Image

    pixels = (255 * np.clip(np.nan_to_num(np.asarray(image, float)), 0, 1)).astype(np.uint8)
    if pixels.ndim == 1:
        pixels = pixels.reshape(_side(pixels), -1)
    picture = Image.fromarray(pixels)
    if max(picture.size) > MAX_SIDE:
        picture.thumbnail((MAX_SIDE, MAX_SIDE))
    content = BytesIO()
    picture.save(content, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()


def _side(pixels: Array) -> int:
    side = round(len(pixels) ** 0.5)
    if side * side != len(pixels):
        raise ValueError(
            f"A picture of {len(pixels)} gray values is not a square; give pictures as an array of height × width."
        )
    return side
