"""Gates, audits, failures and advice in words."""
