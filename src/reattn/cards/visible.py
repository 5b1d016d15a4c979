"""Which of the machine's cards CUDA_VISIBLE_DEVICES leaves to this process."""

import os
import re
from collections.abc import Sequence

from reattn.cards.card import Card
from reattn.cards.driver import driver_cards
from reattn.errors import DeviceError

VISIBLE = "CUDA_VISIBLE_DEVICES"
PRETENDED = "REATTN_PRETENDED_CARDS"
NUMBER = re.compile(r"[+-]?\d+")  # CUDA reads the number that an entry begins with
UUIDS = ("GPU-", "MIG-")


def machine_cards() -> list[Card]:
    """The cards of this machine, or those that REATTN_PRETENDED_CARDS names.

    Raises:
        DeviceError: the pretended cards are not told apart.
    """
    names = os.environ.get(PRETENDED)
    if not names:
        return driver_cards()
    ids = [name.strip() for name in names.split(",")]
    if len(set(ids)) < len(ids) or not all(name[:1].isalpha() for name in ids):
        raise DeviceError(
            f"{PRETENDED}={names!r} must hold different names that begin with a "
            'letter, for example "card-a,card-b".'
        )
    return [Card(name, "pretended card", None, pretended=True) for name in ids]


def visible_cards() -> list[Card]:
    """The cards that CUDA would show to this process, in the order it is told.

    Raises:
        DeviceError: CUDA_VISIBLE_DEVICES holds numbers, and which cards they mean
            cannot be known; or the pretended cards are not told apart.
    """
    cards = machine_cards()
    value = os.environ.get(VISIBLE)
    return cards if value is None else _chosen(value, cards)


def _chosen(value: str, cards: list[Card]) -> list[Card]:
    """The cards of a list of numbers or UUIDs, read as CUDA reads it.

    The first entry that names no card hides itself and all after it, and a list
    that repeats a card hides every card.
    """
    entries = [entry.strip() for entry in value.split(",")]
    numbered = NUMBER.match(entries[0]) is not None
    places = []
    for entry in entries:
        place = _number(entry, cards) if numbered else _uuid(entry, cards)
        if place is None:
            break
        places.append(place)
    if len(set(places)) < len(places):
        return []
    if numbered:
        _require_known_order(value, places, cards)
    return [cards[place] for place in places]


def _number(entry: str, cards: list[Card]) -> int | None:
    found = NUMBER.match(entry)
    number = int(found.group()) if found else -1
    return number if 0 <= number < len(cards) else None


def _uuid(entry: str, cards: list[Card]) -> int | None:
    """The place of the one card whose id begins so; a whole id wins."""
    ids = [card.id for card in cards]
    if entry in ids:
        return ids.index(entry)
    pretended = any(card.pretended for card in cards)
    if not entry or not (pretended or entry.startswith(UUIDS)):
        return None
    places = [place for place, name in enumerate(ids) if name.startswith(entry)]
    return places[0] if len(places) == 1 else None


def _require_known_order(
    value: str, places: Sequence[int], cards: Sequence[Card]
) -> None:
    """Numbers follow CUDA's order, which the driver's library does not tell."""
    if len(places) in (0, len(cards)):
        return
    named = ",".join(card.id for card in cards)
    if any(card.id.startswith("MIG-") for card in cards):
        raise DeviceError(
            f"{VISIBLE}={value} gives numbers, which do not tell the instances of a "
            f"card in MIG mode apart. Name those to use, of {named}."
        )
    by_address = os.environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    if len({card.name for card in cards}) > 1 and not by_address:
        raise DeviceError(
            f"{VISIBLE}={value} gives numbers, and this machine has cards of different "
            "models, which CUDA sorts by its own guess of their speed. Set "
            "CUDA_DEVICE_ORDER=PCI_BUS_ID, so that the numbers are those of "
            f"nvidia-smi, or name those to use, of {named}."
        )
