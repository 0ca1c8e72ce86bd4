"""Results on their way to a reader: files, tables, figures, pages."""
