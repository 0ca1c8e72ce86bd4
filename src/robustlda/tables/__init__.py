"""Tables: reading them, understanding their columns, and turning them into features."""

from robustlda.tables.preparation import TablePreparation

__all__ = ["TablePreparation"]
