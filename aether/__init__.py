"""Aether: thirteen infrastructure experts that share one local language model."""

__version__ = "0.1.0"
