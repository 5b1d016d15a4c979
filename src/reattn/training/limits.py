"""How much memory a training step may take."""

from reattn.cards import Card
from reattn.costs.memory import CPU_BYTES

CARD_SHARE = 0.8  # of a card's memory; the rest is the framework's and fragments


def card_bytes(cards: list[Card]) -> int | None:
    """Memory that a step may take, whichever of these cards its run is given.

    The smallest decides, so that the micro-batch does not depend on which card is
    free.

    Args:
        cards: The visible cards; in place of pretended ones the CPU computes.

    Returns:
        Bytes; None where there is no card, or the memory of one is not known.
    """
    if any(card.pretended for card in cards):
        return CPU_BYTES
    sizes = [card.memory for card in cards]
    return None if not sizes or None in sizes else share_of(min(sizes))


def share_of(memory: int) -> int:
    """What a step may take of a card's memory, in bytes."""
    return int(CARD_SHARE * memory)
