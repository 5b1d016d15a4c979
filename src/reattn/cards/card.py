"""A card that computes, or that a test pretends."""

from dataclasses import dataclass

GIBIBYTE = 2**30


@dataclass(frozen=True)
class Card:
    """A GPU, or an instance of one that is split (MIG).

    Attributes:
        id: Its UUID, as CUDA_VISIBLE_DEVICES takes it; of a pretended card, its name.
        name: The model.
        memory: Bytes in all; None where they are not known.
        pretended: Whether it does not exist, and the CPU computes in its place.
    """

    id: str
    name: str
    memory: int | None
    pretended: bool = False

    def __str__(self) -> str:
        if self.pretended:
            return f"{self.id}: pretended, the CPU computes in its place"
        return f"{self.id}: {self.model}"

    @property
    def model(self) -> str:
        """Name and memory, as messages show them."""
        if self.memory is None:
            return self.name
        return f"{self.name}, {self.memory / GIBIBYTE:.1f} GiB"
