"""Decision rules: what turns a projection into predictions, and labels into beliefs about them."""

from robustlda.decision.centroid import CentroidRule
from robustlda.decision.committee import Committee
from robustlda.decision.rule import FittedDecision, Rule, Training

__all__ = ["RULES", "FittedDecision", "Rule", "Training"]

RULES: dict[str, type[Rule]] = {"noise_aware": Committee, "centroid": CentroidRule}
"""Every rule by the name that estimators know it by."""
