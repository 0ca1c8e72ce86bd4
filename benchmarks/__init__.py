"""Speed compared with the plain algorithm and scikit-learn: `python -m benchmarks --data-dir FOLDER`."""
