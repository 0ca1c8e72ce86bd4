"""`python -m robustlda` where the command is not on the path."""

from robustlda.cli import main

main()
