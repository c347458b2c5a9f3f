"""Contenders before, between and after trials: prepared, reset, quiesced, alive."""
