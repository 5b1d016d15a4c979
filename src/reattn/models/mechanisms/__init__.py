"""Attentions of one's own, found by name: see `reattn.models.mechanism`."""
