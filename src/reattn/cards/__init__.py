"""Cards: which this process may use, and the lease on the one that it uses."""

from reattn.cards.card import Card
from reattn.cards.leases import eligible_cards, held, hold_card
from reattn.cards.slots import slots_message
from reattn.cards.visible import machine_cards, visible_cards

__all__ = [
    "Card",
    "eligible_cards",
    "held",
    "hold_card",
    "machine_cards",
    "slots_message",
    "visible_cards",
]
