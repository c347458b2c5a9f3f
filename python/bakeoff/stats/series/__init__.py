"""Series of figures: steadiness, growth, curves, audits."""
