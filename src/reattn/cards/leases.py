"""The lease of this process on a card of its own."""

import logging
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

from reattn.cards.card import Card
from reattn.cards.locks import FOR_EVERYONE, Lock, TakenError, open_to_everyone
from reattn.cards.visible import VISIBLE, visible_cards
from reattn.errors import DeviceError

log = logging.getLogger(__name__)

FOLDER = "REATTN_LEASES"
PAUSE = (0.3, 1.2)  # seconds between two looks, by chance, so that waiters differ
REMINDER = 300  # seconds between two messages of one who waits


@dataclass(frozen=True)
class Lease:
    """A card that is held.

    Attributes:
        card: The card.
        eligible: All cards of which it was one.
        lock: What holds it.
    """

    card: Card
    eligible: list[Card]
    lock: Lock


_leases: list[Lease] = []  # at most one; held until the process ends, however it ends
_one_at_a_time = threading.Lock()


def hold_card() -> Card | None:
    """Take one of the visible cards until this process ends; wait while none is free.

    CUDA_VISIBLE_DEVICES then names that card alone, except in a Slurm job that has
    only one card: Slurm has chosen it. Repeated calls return the same card.

    Returns:
        The card, or None where none is visible.

    Raises:
        DeviceError: the folder of the leases cannot be used, or which cards are
            visible cannot be known.
    """
    with _one_at_a_time:
        if not _leases:
            cards = visible_cards()
            if not cards:
                return None
            _leases.append(_lease(cards))
            if not _chosen_by_slurm(cards):
                os.environ[VISIBLE] = held().id
    return held()


def held() -> Card | None:
    """The card that this process holds, if it holds one."""
    return _leases[0].card if _leases else None


def eligible_cards() -> list[Card]:
    """The cards of which this process holds one, or would be given one.

    Raises:
        DeviceError: which cards are visible cannot be known.
    """
    return _leases[0].eligible if _leases else visible_cards()


def _chosen_by_slurm(cards: list[Card]) -> bool:
    return "SLURM_JOB_ID" in os.environ and len(cards) == 1


def _lease(cards: list[Card]) -> Lease:
    take = _take_in_job if _chosen_by_slurm(cards) else partial(_take, _folder())
    looks = (_free_lease(cards, take) for _ in _looks(cards))
    return next(lease for lease in looks if lease)


def _free_lease(cards: list[Card], take: Callable[[Card], Lock]) -> Lease | None:
    for card in cards:
        with suppress(TakenError):
            return Lease(card, cards, take(card))
    return None


def _take(folder: Path, card: Card) -> Lock:
    try:
        return Lock.take(folder / f"{quote(card.id, safe='')}.lock")
    except OSError as fault:
        raise _unusable(folder, fault) from None


def _take_in_job(card: Card) -> Lock:
    """No other job has the card; the processes of this one may still be several."""
    return Lock.take_name(f"slurm-{os.environ['SLURM_JOB_ID']}-{card.id}")


def _looks(cards: list[Card]) -> Iterator[None]:
    """One look after another, with pauses; says that it waits."""
    ids = ", ".join(card.id for card in cards)
    started = time.monotonic()
    said = None
    while True:
        yield
        now = time.monotonic()
        if said is None:
            log.info("waiting for a card: all that are visible are held (%s)", ids)
        elif now - said > REMINDER:
            log.info("still waiting for a card, %d minutes", (now - started) // 60)
        if said is None or now - said > REMINDER:
            said = now
        time.sleep(random.uniform(*PAUSE))


def _folder() -> Path:
    """The folder of the leases, made where it is missing; every user may use it."""
    given = os.environ.get(FOLDER)
    folder = Path(given) if given else _temporary_folder() / "reattn-cards"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with open_to_everyone():
            folder.mkdir(mode=FOR_EVERYONE, exist_ok=True)
    except OSError as fault:
        raise _unusable(folder, fault) from None
    return folder


def _temporary_folder() -> Path:
    """The one that all users share: TMPDIR often names one of a user or a job."""
    shared = Path(os.sep, "tmp")
    return shared if shared.is_dir() else Path(tempfile.gettempdir())


def _unusable(folder: Path, fault: OSError) -> DeviceError:
    return DeviceError(
        f"The folder of card leases {folder} cannot be used: "
        f"{fault.strerror or fault}. Set {FOLDER} to a folder of this machine that all "
        "its users may write."
    )
