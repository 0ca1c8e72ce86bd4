"""Class models in the projected space: what turns a projection into predictions."""
