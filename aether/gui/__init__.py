"""The window. The only place that knows Qt; it shows records and passes on wishes."""
