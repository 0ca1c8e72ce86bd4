"""Pure functions: samples and a loss go in, a projection and the record of how it was found come out."""
