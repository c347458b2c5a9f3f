"""Agents drive the engine on a load-generating machine; the driver knows only the protocol in `base`."""
