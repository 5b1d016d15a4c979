"""How many trainings may run at once, and how many cards there are for them."""

from reattn.cards.visible import visible_cards


def slots_message(asked: int) -> str | None:
    """A sentence where more jobs are to run at once than cards are visible.

    Args:
        asked: The N of `--resources gpu=N`.

    Returns:
        The sentence; None where there are cards enough, or none at all.

    Raises:
        DeviceError: which cards are visible cannot be known.
    """
    visible = len(visible_cards())
    if not visible or asked <= visible:
        return None
    cards = "1 card" if visible == 1 else f"{visible} cards"
    trainings = "1 training" if visible == 1 else f"{visible} trainings"
    return (
        f"gpu={asked} asked, {cards} visible: {trainings} at a time, the others wait "
        "for a card."
    )
