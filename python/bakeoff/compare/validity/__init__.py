"""What speaks against a verdict or a trial: gates, audits, steadiness, disturbances."""
