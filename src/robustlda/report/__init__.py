"""Results for a reader: files, tables, figures, pages."""
