"""Speed against the plain algorithm and scikit-learn: `python -m benchmarks --data-dir FOLDER`."""
